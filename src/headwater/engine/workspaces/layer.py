"""A workspace as what it is: a layer over the commit that it was begun on.

An object in it is what is at its path. A tombstone hides what is committed at its path, unless there is an object. What
was committed of the workspace before is no change any more: it is known by lying where a commit says that it lies.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from headwater.blob import BadName, BlobError, BlobStore, LimitExceeded, Stat
from headwater.blob.limits import MAX_PAGE
from headwater.blob.names import check_bound
from headwater.blob.namespace import workspace_gone_name, workspace_gone_prefix, workspace_name, workspace_prefix
from headwater.drive import together
from headwater.engine.errors import BadRequest
from headwater.engine.limits import IMPORT_STEP, MAX_IMPORT
from headwater.engine.paths import FILES, path_of
from headwater.engine.workspaces.listing import listed, without_markers
from headwater.index import TOMBSTONE, Block, Edit, Entry, Index, Kind
from headwater.index.schema import EDITS


class WorkspaceLayer:
    """The workspace *id* on top of the newest of *landed*, the indexes of what was committed of it, if any."""

    def __init__(self, blobs: BlobStore, id: str, landed: Sequence[Index] = ()) -> None:  # noqa: A002  (it is one)
        self.passed = 0  # it is never compacted
        self.id = id
        self._blobs = blobs
        self.landed = landed

    async def get(self, key: str) -> Edit | None:
        """What it says of *key*: two requests, side by side."""
        path = path_of(key)
        try:
            found, gone = await together(
                [
                    partial(self._blobs.stat, workspace_name(self.id, path)),
                    partial(self._blobs.stat, workspace_gone_name(self.id, path)),
                ]
            )
        except (BadName, LimitExceeded):
            return None  # no object can be there
        if found is not None:
            entry = entry_of(key, found)
            if await self.committed(entry) is None:
                return entry
        return None if gone is None else TOMBSTONE

    async def committed(self, entry: Entry) -> Index | None:
        """The index that has *entry* as it lies here, if one was committed: then its object is not to be touched."""
        for index in self.landed:
            there = await index.get(entry.key)
            if there is not None and (there.blocks, there.checksum) == (entry.blocks, entry.checksum):
                return index
        return None

    async def refers(self, key: str) -> bool:
        """Whether a commit refers to the object at *key*, whatever it holds by now."""
        name = workspace_name(self.id, path_of(key))
        for index in self.landed:
            there = await index.get(key)
            if there is not None and any(block.address == name for block in there.blocks):
                return True
        return False

    async def read(self, start: str, amount: int) -> list[tuple[str, Edit]]:
        """See `Layer`: a listing of the objects, and one of the tombstones."""
        found: dict[str, Edit] = {}
        data, gone = workspace_prefix(self.id), workspace_gone_prefix(self.id)
        stats, hidden = await together(
            [partial(self._from, data, start, amount), partial(self._from, gone, start, amount)]
        )
        for stat in hidden:
            key = FILES + stat.name.removeprefix(gone)
            found[key] = TOMBSTONE
        for stat in stats:
            key = FILES + stat.name.removeprefix(data)
            entry = entry_of(key, stat)
            if await self.committed(entry) is None:
                found[key] = entry
        full = [
            side[-1].name.removeprefix(prefix)
            for side, prefix in ((stats, data), (hidden, gone))
            if len(side) >= amount
        ]
        reached = FILES + min(full) if full else None
        edits = [(key, found[key]) for key in sorted(found) if reached is None or key <= reached]
        if reached is not None and len(edits) < amount:  # some were committed: go on behind them
            edits += await self.read(f"{reached}\0", amount - len(edits))
        return edits

    async def edits(self) -> pa.Table:
        """All that it changes, in the order of keys, as `EDITS`; it may be what is committed already."""
        data, gone = workspace_prefix(self.id), workspace_gone_prefix(self.id)
        objects, tombstones = await together([partial(listed, self._blobs, data), partial(listed, self._blobs, gone)])
        objects = await without_markers(objects, self._blobs.stat, "name")
        if len(objects) + len(tombstones) > MAX_IMPORT:
            raise BadRequest(f"workspace {self.id} has more than {MAX_IMPORT} objects: commit it in several parts")
        pieces = [await self._changed(step) for step in steps(_objects(objects, data))]
        added = pa.Table.from_batches(pieces, EDITS)
        if not len(tombstones):
            return added
        removed = _tombstones(tombstones, gone)
        removed = removed.filter(pc.invert(pc.is_in(removed.column("key"), value_set=added.column("key"))))
        if not len(removed):
            return added
        both = pa.concat_tables([added, removed])
        return both.take(pc.sort_indices(both.column("key")))

    async def _changed(self, step: pa.RecordBatch) -> pa.RecordBatch:
        """Those rows of *step* that no commit has as they lie here."""
        for index in self.landed:
            there = await index.rows(step.column("key"))
            same = pc.and_(
                pc.equal(there.column("address"), step.column("address")),
                pc.equal(there.column("checksum"), step.column("checksum")),
            )
            step = step.filter(pc.invert(pc.fill_null(same, fill_value=False)))
        return step

    async def _from(self, prefix: str, start: str, amount: int) -> list[Stat]:
        """The first *amount* objects below *prefix* whose keys are *start* or greater."""
        if start > FILES and not start.startswith(FILES):
            return []
        found: list[Stat] = []
        async for stat in _at_and_after(self._blobs, prefix, start[len(FILES) :], amount):
            found.append(stat)
            if len(found) == amount:
                break
        return found


def entry_of(key: str, found: Stat) -> Entry:
    """The entry of an object where it lies. What only its store knows of it, as a content type, is not in it."""
    return Entry(
        key,
        blocks=(Block(found.name, 0, found.size),),
        size=found.size,
        checksum=found.etag.strip('"'),
        modified=found.modified,
    )


def steps(edits: pa.Table) -> Iterator[pa.RecordBatch]:
    """*edits* in parts that can be applied at once."""
    for start in range(0, len(edits), IMPORT_STEP):
        part = edits.slice(start, IMPORT_STEP).combine_chunks()
        yield from part.to_batches()


async def _at_and_after(blobs: BlobStore, prefix: str, start: str, amount: int) -> AsyncIterator[Stat]:
    """What lies below *prefix* at *start* or behind it. *start* is any text: not every one can begin a listing."""
    itself = not start.endswith(("\0", "/"))
    start = bound = start.removesuffix("\0")
    while bound and not _is_bound(prefix + bound):
        bound = bound[:-1]
    if itself and start and bound == start and (exact := await blobs.stat(prefix + start)) is not None:
        yield exact
    async for page in blobs.list(prefix, start_after=prefix + bound if bound else "", page=min(amount, MAX_PAGE)):
        for each in page:
            if not isinstance(each, Stat) or each.name.removeprefix(prefix) <= start:
                continue
            if prefix.endswith(".gone/") or each.size or await blobs.stat(each.name) is not None:
                yield each  # else it is what Hadoop leaves where a directory would be


def _is_bound(text: str) -> bool:
    """Whether a listing can begin after *text*."""
    try:
        check_bound(text)
    except BlobError:
        return False
    return True


def _objects(objects: pa.Table, prefix: str) -> pa.Table:
    names = objects.column("name")
    return _edits(
        {
            "key": _keys(names, prefix),
            "kind": pa.repeat(pa.scalar(str(Kind.OBJECT)), len(objects)),
            "size": objects.column("size"),
            "modified": objects.column("modified"),
            "checksum": objects.column("etag"),
            "address": names,
            "removed": pa.repeat(pa.scalar(value=False), len(objects)),
        },
        len(objects),
    )


def _tombstones(objects: pa.Table, prefix: str) -> pa.Table:
    count = len(objects)
    return _edits(
        {
            "key": _keys(objects.column("name"), prefix),
            "kind": pa.repeat(pa.scalar(""), count),
            "size": pa.repeat(pa.scalar(0, pa.int64()), count),
            "modified": pa.repeat(pa.scalar(0, pa.int64()), count),
            "removed": pa.repeat(pa.scalar(value=True), count),
        },
        count,
    )


def _keys(names: pa.ChunkedArray, prefix: str) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(pa.scalar(FILES), pc.utf8_slice_codeunits(names, len(prefix)), "")


def _edits(columns: dict[str, pa.ChunkedArray | pa.Array], count: int) -> pa.Table:
    arrays = [columns[field.name] if field.name in columns else pa.nulls(count, field.type) for field in EDITS]
    return pa.Table.from_arrays(arrays, schema=EDITS)
