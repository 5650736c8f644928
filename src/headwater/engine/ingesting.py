"""Ingesting: a place on the object store as a directory of a branch, with what is new there, changed, or gone.

Who fills the place knows nothing of Headwater. Each time it is ingested, it is listed and compared with what the branch
has in that directory; the difference is one commit, and where there is none, there is no commit. Nothing is copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.blob import Stat
from headwater.engine.addresses import located
from headwater.engine.advance import Made, advance
from headwater.engine.commit import Check, Description
from headwater.engine.importing import ImportPrefix, applied, check_source, listed_under, steps_of
from headwater.engine.limits import IMPORT_STEP, MAX_PAGE
from headwater.engine.looking import commit_of
from headwater.engine.paths import prefix_of
from headwater.engine.repository import Repository
from headwater.engine.workspaces.listing import without_markers
from headwater.history import Commit
from headwater.index import Change, Index
from headwater.index.comparing import absent_rows, same_rows
from headwater.index.joining import as_side
from headwater.index.keys import after_key
from headwater.index.rows import Rows
from headwater.index.schema import EDITS, NO_EDIT_ROWS, SCHEMA, entries_at
from headwater.refs.branch import Branch


class Source(msgspec.Struct, frozen=True):
    """Where from, a URI, and the directory where to. With *immutable*, whoever writes there never writes a name twice.

    Then what is there already need not be compared, and etags that change by themselves, as of objects that were moved
    or encrypted anew, are no changes.
    """

    uri: str
    directory: str
    immutable: bool = False

    @property
    def prefix(self) -> ImportPrefix:
        return ImportPrefix(_as_directory(self.uri), _as_directory(self.directory))


class Step(msgspec.Struct, frozen=True):
    """Some of the changes: edits, and the rows that are there at their keys."""

    edits: pa.RecordBatch
    before: pa.RecordBatch


class IngestPlan(msgspec.Struct, frozen=True):
    """What ingesting would change. *listed* is how many objects were found."""

    listed: int
    added: int
    changed: int
    removed: int
    steps: tuple[Step, ...]

    def changes(self) -> Iterator[Change]:
        """One by one, in the order of paths."""
        for step in self.steps:
            for start in range(0, len(step.edits), MAX_PAGE):
                before = step.before.slice(start, MAX_PAGE)
                after = as_side(step.edits.slice(start, MAX_PAGE))
                keys = step.edits.column("key").slice(start, MAX_PAGE).to_pylist()
                for key, left, right in zip(keys, entries_at(before), entries_at(after), strict=True):
                    yield Change(key, left, right)


async def plan_ingest(
    repository: Repository, ref: str, source: Source, *, found: Callable[[int], None] = lambda _: None
) -> IngestPlan:
    """What ingesting *source* at the commit *ref* would change. It costs the listing, and changes nothing."""
    listed = await _listed(repository, source, found)
    index = await repository.index_of((await commit_of(repository, ref)).id)
    return await _planned(index, listed, source)


async def ingest(
    repository: Repository,
    branch: str,
    source: Source,
    description: Description,
    *,
    found: Callable[[int], None] = lambda _: None,
    check: Check | None = None,
) -> Commit:
    """Commit what is new, changed or gone below *source*. `NothingToCommit` if nothing is.

    The directory is what the place is, in full: what is committed there and not in the place is removed, wherever it
    came from. What is staged on the branch stays staged, on top.
    """
    repository.check_writable()
    listed = await _listed(repository, source, found)

    async def make(ground: Branch) -> Made:
        index = await repository.index_of(ground.commit)
        plan = await _planned(index, listed, source)
        nothing = f"branch {branch!r} has all that is in {source.uri}, and nothing else at {source.directory!r}"
        return [ground.commit], await applied(index, _together(plan.steps), nothing)

    return await advance(repository, branch, description, make, check)


async def _listed(repository: Repository, source: Source, found: Callable[[int], None]) -> list[pa.RecordBatch]:
    check_source(source.uri)

    async def stat(address: str) -> Stat | None:
        blobs, name = await located(repository, address)
        return await blobs.stat(name)

    table = await listed_under(repository, source.prefix, found)
    table = await without_markers(table, stat, "address")
    return steps_of(table, repository.outside.now())


async def _planned(index: Index, listed: Sequence[pa.RecordBatch], source: Source) -> IngestPlan:
    """One pass over what is there, segment by segment, and over what is *listed* between the ends of each."""
    steps: list[Step] = []
    sides = [Rows(edits) for edits in listed]
    starts = [0] * len(sides)
    async for rows in index.batches(prefix_of(source.prefix.destination)):
        if not len(rows):
            continue
        end = after_key(rows.column("key")[len(rows) - 1].as_py())
        ends = [side.position(end) for side in sides]
        near = [side.batch.slice(start, stop - start) for side, start, stop in zip(sides, starts, ends, strict=True)]
        steps.append(_compared(rows, pa.concat_batches([NO_EDIT_ROWS, *near]), immutable=source.immutable))
        starts = ends
    for side, start in zip(sides, starts, strict=True):
        new = side.batch.slice(start)
        steps.append(Step(new, absent_rows(len(new))))
    added = sum(step.before.column("kind").null_count for step in steps)
    removed = sum(pc.sum(step.edits.column("removed"), min_count=0).as_py() for step in steps)
    changed = sum(len(step.edits) for step in steps) - added - removed
    return IngestPlan(sum(map(len, listed)), added, changed, removed, tuple(step for step in steps if len(step.edits)))


def _compared(rows: pa.RecordBatch, listed: pa.RecordBatch, *, immutable: bool) -> Step:
    """What makes sorted *rows* what is *listed*, in the order of keys."""
    keys = listed.column("key")
    there = rows.take(pc.index_in(keys, value_set=rows.column("key")))
    differs = pc.invert(_same(there, listed, immutable=immutable))
    gone = rows.filter(pc.invert(pc.is_in(rows.column("key"), value_set=keys)))
    edits, before = listed.filter(differs), there.filter(differs)
    if len(gone):
        edits = pa.concat_batches([edits, _removals(gone.column("key"))])
        order = pc.sort_indices(edits.column("key"))
        edits, before = edits.take(order), pa.concat_batches([before, gone]).take(order)
    return Step(edits, before)


def _same(there: pa.RecordBatch, edits: pa.RecordBatch, *, immutable: bool) -> pa.Array:
    if not immutable:
        return same_rows(there, edits.select(SCHEMA.names))
    return pc.fill_null(pc.equal(there.column("address"), edits.column("address")), fill_value=False)


def _together(steps: Sequence[Step]) -> list[pa.RecordBatch]:
    """The edits of *steps* in as few parts as can be applied at once."""
    table = pa.Table.from_batches([step.edits for step in steps], EDITS)
    parts = (table.slice(start, IMPORT_STEP) for start in range(0, len(table), IMPORT_STEP))
    return [batch for part in parts for batch in part.combine_chunks().to_batches()]


def _removals(keys: pa.Array) -> pa.RecordBatch:
    filled = {"key": keys, "removed": pa.repeat(pa.scalar(value=True), len(keys))}
    filled["kind"] = pa.repeat(pa.scalar(""), len(keys))
    for name in ("size", "modified"):
        filled[name] = pa.repeat(pa.scalar(0, pa.int64()), len(keys))
    arrays = [filled[field.name] if field.name in filled else pa.nulls(len(keys), field.type) for field in EDITS]
    return pa.RecordBatch.from_arrays(arrays, schema=EDITS)


def _as_directory(text: str) -> str:
    return text if not text or text.endswith("/") else f"{text}/"
