"""Edits laid over rows, vectorised: what remains, and which of the edits changed anything."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.index.comparing import absent_rows, same_rows
from headwater.index.rows import Rows
from headwater.index.schema import EDITS, SCHEMA
from headwater.index.tree import Tree


def lay_over(rows: pa.RecordBatch, edits: pa.RecordBatch) -> pa.RecordBatch:
    """*rows* of `SCHEMA` after *edits* of `EDITS`, both sorted by distinct keys; as the result is."""
    added = edits
    if pc.any(edits.column("removed"), min_count=0).as_py():
        added = edits.filter(pc.invert(edits.column("removed")))
    added = added.select(SCHEMA.names)
    if len(rows) == 0:
        return added
    kept = rows.filter(pc.invert(pc.is_in(rows.column("key"), value_set=edits.column("key"))))
    if len(added) == 0:
        return kept
    together = pa.concat_batches([kept, added])
    return together.take(pc.sort_indices(together.column("key")))


def first_of_each_key(pieces: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """The rows of all *pieces* sorted by key; of those with one key, the row that comes first."""
    rows = pa.concat_batches(pieces)
    rows = rows.take(pc.sort_indices(rows.column("key")))  # which is stable
    keys = rows.column("key")
    again = pc.equal(keys.slice(1), keys.slice(0, len(keys) - 1))
    return rows.filter(pc.invert(pa.concat_arrays([pa.array([False] * min(len(keys), 1)), again])))


def effective(rows: pa.RecordBatch, edits: pa.RecordBatch) -> pa.Array:
    """For each of *edits*, whether it changes *rows*: the same content does not, nor does removing an absent key."""
    if len(rows) == 0:
        return pc.invert(edits.column("removed"))
    present = rows.take(pc.index_in(edits.column("key"), value_set=rows.column("key")))
    return pc.invert(same_rows(present, as_side(edits)))


def as_side(edits: pa.RecordBatch) -> pa.RecordBatch:
    """Rows of `SCHEMA` in the places of *edits*, all null where a key is removed."""
    removed = edits.column("removed")
    if pc.any(removed, min_count=0).as_py():
        places = pc.if_else(removed, pa.scalar(None, pa.int64()), pa.arange(0, len(edits)))
        edits = edits.take(places)
    return edits.select(SCHEMA.names)


def as_edits(keys: pa.Array, side: pa.RecordBatch) -> pa.RecordBatch:
    """The edits that make *keys* what *side* has there: the inverse of `as_side`."""
    removed = side.column("kind").is_null()
    columns = [column.fill_null(_FILLED[name]) if name in _FILLED else column for name, column in _columns(side)]
    return pa.RecordBatch.from_arrays([keys, *columns[1:], removed], schema=EDITS)


def rows_at(rows: Rows, keys: pa.Array) -> pa.RecordBatch:
    """The row of each of *keys*; null all over where there is none."""
    if len(rows) == 0:
        return absent_rows(len(keys))
    return rows.batch.take(pc.index_in(keys, value_set=rows.batch.column("key")))


def lay_over_side(keys: pa.Array, side: pa.RecordBatch, edits: pa.RecordBatch) -> pa.RecordBatch:
    """*side*, the rows at *keys*, with those of *edits* laid over it that are at one of the keys."""
    edits = edits.filter(pc.is_in(edits.column("key"), value_set=keys))
    if len(edits) == 0:
        return side
    edited = pc.index_in(keys, value_set=edits.column("key"))
    places = pc.coalesce(pc.add(edited, len(side)).cast(pa.int64()), pa.arange(0, len(side)))
    return pa.concat_batches([side, as_side(edits)]).take(places)


class Part(msgspec.Struct, frozen=True):
    """Keys from row *start* up to *end*, all of which belong into the segment at *position*."""

    position: int
    start: int
    end: int


def parts(tree: Tree, keys: Sequence[str]) -> Iterator[Part]:
    """Sorted *keys* by the segments of *tree* that have them, or would. What comes after all belongs to the last."""
    last = max(len(tree) - 1, 0)
    start = 0
    while start < len(keys):
        position = min(tree.find(keys[start]), last)
        end = len(keys) if position == last else bisect_right(keys, tree.lasts[position], start)
        yield Part(position, start, end)
        start = end


def _columns(rows: pa.RecordBatch) -> Iterator[tuple[str, pa.Array]]:
    return zip(SCHEMA.names, rows.columns, strict=True)


_FILLED = {"kind": "", "size": 0, "modified": 0}
"""What stands in the columns without nulls where a key is removed."""
