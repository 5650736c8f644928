"""Inspecting a tree that somebody else wrote: nothing is believed of it that can be looked at.

What is read and compared are the segments that the commit it was made of has not. Each of them hashes to its name, is
sorted, has the rows that the tree tells, and ends where any writer of these rows would have ended it; so the whole is
the very tree that the engine makes of its rows. And each entry is one that the engine could have written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.blob import BadName, BlobStore, NotFound
from headwater.blob.namespace import DATA, WORKSPACES, segment_name, tree_name
from headwater.drive import together
from headwater.engine.check_trees import ToldSegment, faults_of, overlaps, told_segments
from headwater.engine.errors import UnfitTree
from headwater.engine.limits import MAX_PATH, MAX_SEGMENT_FILE, MAX_TIME, MAX_TREE_FILE
from headwater.engine.paths import FILES
from headwater.index import Cutting, Index, IndexFault, IndexRecord, Kind, diff
from headwater.index.aside import aside
from headwater.index.comparing import same_places, same_rows
from headwater.index.limits import MAX_EDIT, TOGETHER
from headwater.index.schema import SCHEMA
from headwater.index.segment import read_segment
from headwater.index.tree import NO_TREE, Tree, read_tree

Importable: TypeAlias = Callable[[pa.Array], None]
"""Raises unless all of these URIs are of what may be imported."""

_PLAIN: Final = (str(Kind.OBJECT), str(Kind.APPEND))


class Inspected(msgspec.Struct, frozen=True):
    """A tree that is as it must be: its index, and the names in the namespace that it newly refers to."""

    index: Index
    names: pa.ChunkedArray


async def inspect(
    blobs: BlobStore,
    base: Index,
    tree: str | None,
    *,
    importable: Importable,
    relocated: bool,
    looked: Callable[[int], None],
) -> Inspected:
    """Inspect *tree*, which was made of *base*; `UnfitTree` says what is wrong with it.

    If it is *relocated*, entries lie elsewhere, at places where *base* has their very content, and nothing else is new.
    *looked* is called with a number of rows whenever so many more were looked at.
    """
    inspection = _Inspection(blobs, base, importable, relocated=relocated)
    found = NO_TREE if tree is None else await _tree(blobs, tree)
    known = await base.tree()
    new = _unknown(found, known)
    for start in range(0, len(new), TOGETHER):
        some = new[start : start + TOGETHER]
        await inspection.look_at(some)
        looked(sum(each.count for each in some))
    made = Index(base.store, IndexRecord(tree, None, own_in_tree=True), of=f"the proposed tree {tree}")
    if await diff(base, made, prefix=_CATALOG, amount=1):
        raise UnfitTree("the tree changes what is no file: it may add, change and remove files alone")
    if relocated:
        if await diff(base, made, amount=1):
            raise UnfitTree("the tree has other content than its base: entries that are relocated keep theirs")
        await inspection.check_moves()
    return Inspected(made, pa.chunked_array(inspection.names, pa.string()))


class _Inspection:
    """One inspection under way. What it has seen so far of where entries newly lie, it keeps."""

    def __init__(self, blobs: BlobStore, base: Index, importable: Importable, *, relocated: bool) -> None:
        self._blobs = blobs
        self._base = base
        self._importable = importable
        self._relocated = relocated
        self._moves: list[pa.Array] = []
        self.names: list[pa.Array] = []

    async def look_at(self, segments: Sequence[ToldSegment]) -> None:
        files = await together(
            [partial(_read, self._blobs, segment_name(each.segment), MAX_SEGMENT_FILE) for each in segments]
        )
        judged = partial(_judged, segments, files, self._base.store.cutting)
        for rows in await aside(sum(each.count for each in segments), judged):
            await self._compare(rows)

    async def _compare(self, rows: pa.RecordBatch) -> None:
        """Tell what is new in *rows* from what *base* has, and have a look at where it lies."""
        before = await self._base.rows(rows.column("key"))
        there = before.column("kind").is_valid()
        kept = pc.and_(there, same_places(before, rows))
        same = pc.and_(there, same_rows(before, rows))
        if self._relocated:
            _refuse(rows, pc.invert(same), "is another content than that of its base")
        else:
            _refuse(rows, pc.and_(same, pc.invert(kept)), "has the content of its base, and lies elsewhere")
        catalog = pc.invert(pc.starts_with(rows.column("key"), FILES))
        _refuse(rows, pc.and_(catalog, pc.invert(pc.and_(kept, same))), "is no file, and was changed")
        self._place(rows.filter(pc.invert(kept)))

    def _place(self, rows: pa.RecordBatch) -> None:
        """Look at where *rows* lie, which they did not before."""
        if not len(rows):
            return
        if self._relocated:
            _refuse(rows, rows.column("address").is_null(), "is relocated, and does not lie in one object")
            self._moves.append(_contents(rows))
        blocks = rows.column("blocks").drop_null()
        inner = pc.struct_field(pc.list_flatten(blocks), "address")
        addresses = pa.concat_arrays([rows.column("address").drop_null(), inner])
        foreign = pc.match_substring(addresses, "://")
        self._importable(addresses.filter(foreign))
        names = addresses.filter(pc.invert(foreign))
        known = pc.or_(pc.starts_with(names, DATA), pc.starts_with(names, WORKSPACES))
        if not pc.all(known, min_count=0).as_py():
            odd = names.filter(pc.invert(known))[0].as_py()
            raise UnfitTree(f"an entry lies at {odd[:200]!r}: it is a URI, or a name below {DATA} or {WORKSPACES}")
        self.names.append(names)

    async def check_moves(self) -> None:
        """Raise unless *base* has each content where it was moved to."""
        wanted = pa.chunked_array(self._moves, pa.string()).unique()
        async for rows in self._base.batches(FILES):
            if not len(wanted):
                return
            found = _contents(rows.filter(rows.column("address").is_valid()))
            wanted = wanted.filter(pc.invert(pc.is_in(wanted, value_set=found)))
        if len(wanted):
            address = wanted[0].as_py().partition("\n")[0]
            raise UnfitTree(f"entries were moved to {address[:200]!r}, where no entry of the base has their content")


def _contents(rows: pa.RecordBatch) -> pa.Array:
    """Where each of *rows* lies, and what is there, as one text: no address has a line break in it that counts."""
    size = rows.column("size").cast(pa.string())
    checksum = pc.fill_null(rows.column("checksum"), "")
    return pc.binary_join_element_wise(rows.column("address"), size, checksum, "\n")


def _unknown(tree: Tree, base: Tree) -> list[ToldSegment]:
    """The segments of *tree* that *base* has not, or of which it tells something else."""
    known = {(each.segment, each.first, each.last, each.count): each for each in told_segments(base)}
    found: list[ToldSegment] = []
    for each in told_segments(tree):
        there = known.get((each.segment, each.first, each.last, each.count))
        if there is None or (there.final and not each.final):
            found.append(each)
    return found


async def _tree(blobs: BlobStore, name: str) -> Tree:
    try:
        tree = read_tree(name, await _read(blobs, tree_name(name), MAX_TREE_FILE))
        for each in told_segments(tree):
            segment_name(each.segment)  # raises unless it is a hash
    except (BadName, IndexFault) as error:
        raise UnfitTree(f"{error}") from None
    for problem in overlaps(tree):
        raise UnfitTree(f"the tree {name} {problem}")
    return tree


async def _read(blobs: BlobStore, name: str, limit: int) -> bytes:
    """The bytes of an object that has at most *limit* of them."""
    try:
        async with await blobs.get(name) as body:
            if body.stat.size > limit:
                raise UnfitTree(f"{name} has {body.stat.size} bytes; {limit} at most")
            return b"".join([chunk async for chunk in body])
    except NotFound:
        raise UnfitTree(f"{name} is not there: write it first") from None


def _judged(segments: Sequence[ToldSegment], files: Sequence[bytes], cutting: Cutting) -> list[pa.RecordBatch]:
    """The rows of *segments*, if they are as they must be."""
    found: list[pa.RecordBatch] = []
    for told, file in zip(segments, files, strict=True):
        try:
            rows = read_segment(told.segment, file)
        except IndexFault as error:
            raise UnfitTree(f"{error}") from None
        for problem in [*_gaps(rows), *faults_of(rows, told, cutting), *_oddities(rows)]:
            raise UnfitTree(f"segment {told.segment} {problem}")
        found.append(rows)
    return found


def _gaps(rows: pa.RecordBatch) -> list[str]:
    """The columns that must be told, and are not everywhere."""
    return [
        f"has rows without a {field.name}"
        for field in SCHEMA
        if not field.nullable and rows.column(field.name).null_count
    ]


def _oddities(rows: pa.RecordBatch) -> list[str]:
    """What the engine writes otherwise, or not at all."""
    keys = rows.column("key")
    files = pc.starts_with(keys, FILES)
    path = pc.binary_length(keys)
    modified, blocks = rows.column("modified"), rows.column("blocks")
    placed = pc.or_(rows.column("address").is_valid(), blocks.is_valid())
    plain = pc.is_in(rows.column("kind"), value_set=pa.array(_PLAIN))
    told = [
        (pc.and_(files, pc.less_equal(path, len(FILES))), "a file without a path"),
        (pc.and_(files, pc.greater(path, len(FILES) + MAX_PATH)), "a path that is too long"),
        (pc.match_substring(keys, "\0"), "a path with a NUL character"),
        (
            pc.and_(files, pc.invert(plain)),
            "a file of another kind",
        ),
        (pc.or_(pc.less(modified, 0), pc.greater(modified, MAX_TIME)), "a time that is before 1970 or after 9999"),
        (pc.and_(pc.and_(files, pc.greater(rows.column("size"), 0)), pc.invert(placed)), "bytes that lie nowhere"),
        (pc.greater(_text(rows), MAX_EDIT), "an entry that is too large"),
        (_empty(blocks), "blocks that are none"),
        (_odd_blocks(blocks), "a block that is none"),
        (_empty(rows.column("metadata")), "metadata that are none"),
        (_unsorted(rows.column("metadata")), "metadata that are not sorted by distinct names"),
    ]
    return [f"has {what}: {keys.filter(where)[0]}" for where, what in told if pc.any(where, min_count=0).as_py()]


def _text(rows: pa.RecordBatch) -> pa.Array:
    """The bytes of each row but for its blocks, as far as anybody can make them many."""
    names = ("content_type", "checksum", "address", "payload")
    lengths = [pc.fill_null(pc.binary_length(rows.column(name)), 0).cast(pa.int64()) for name in names]
    metadata = rows.column("metadata")
    pairs = pc.add(pc.binary_length(metadata.keys), pc.binary_length(metadata.items)).cast(pa.int64())
    before = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(pairs)])
    ends = before.take(metadata.offsets)
    total = pc.subtract(ends.slice(1), ends.slice(0, len(rows)))
    for each in lengths:
        total = pc.add(total, each)
    return total


def _empty(column: pa.Array) -> pa.Array:
    """Where a list or map is there and has nothing in it."""
    return pc.and_(column.is_valid(), pc.equal(_lengths(column), 0))


def _lengths(column: pa.Array) -> pa.Array:
    return pc.subtract(column.offsets.slice(1), column.offsets.slice(0, len(column)))


def _odd_blocks(blocks: pa.Array) -> pa.Array:
    inner = pc.list_flatten(blocks)
    odd = pc.or_(pc.less(pc.struct_field(inner, "offset"), 0), pc.less(pc.struct_field(inner, "length"), 0))
    return _rows_with(odd, pc.list_parent_indices(blocks), len(blocks))


def _unsorted(metadata: pa.Array) -> pa.Array:
    """Where two neighbouring names of one row are not in order."""
    names = metadata.keys
    parents = pc.list_parent_indices(pa.ListArray.from_arrays(metadata.offsets, names))
    count = max(len(names) - 1, 0)
    wrong = pc.and_(
        pc.equal(parents.slice(0, count), parents.slice(1)),
        pc.greater_equal(names.slice(0, count), names.slice(1)),
    )
    return _rows_with(wrong, parents.slice(0, count), len(metadata))


def _rows_with(wrong: pa.Array, parents: pa.Array, count: int) -> pa.Array:
    """Which of *count* rows are the parents of something *wrong*."""
    return pc.is_in(pa.arange(0, count).cast(parents.type), value_set=parents.filter(wrong))


def _refuse(rows: pa.RecordBatch, where: pa.Array, why: str) -> None:
    if pc.any(where, min_count=0).as_py():
        key = rows.column("key").filter(where)[0].as_py()
        raise UnfitTree(f"{key.removeprefix(FILES)[:200]!r} {why}")


_CATALOG: Final = "c/"
"""What the keys begin with of what is no file."""
