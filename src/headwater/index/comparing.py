"""Which rows of two aligned batches are the same content, and which rows of two sorted ones differ at all: vectorised.

What makes the same content is `entry.identity`, here column by column: there is no stored identity to go stale.
"""

from __future__ import annotations

from bisect import bisect_left

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.index.content_hash import as_list
from headwater.index.schema import SCHEMA
from headwater.index.texts import Texts

_ALWAYS = ("kind", "size", "checksum", "content_type", "metadata", "content_id", "payload")
_WITHOUT_CHECKSUM = ("address", "blocks")


class Aligned(msgspec.Struct, frozen=True):
    """Rows of `SCHEMA` for the same keys from two sides. On the side that has no such key all of a row is null."""

    keys: pa.Array
    left: pa.RecordBatch
    right: pa.RecordBatch

    def filter(self, which: pa.Array) -> Aligned:
        return Aligned(self.keys.filter(which), self.left.filter(which), self.right.filter(which))

    def beginning(self, start: str, amount: int) -> Aligned:
        """The first *amount* from key *start* on."""
        first = bisect_left(Texts(self.keys), start)
        return Aligned(*(side.slice(first, amount) for side in (self.keys, self.left, self.right)))

    def __len__(self) -> int:
        return len(self.keys)


def same_rows(left: pa.RecordBatch, right: pa.RecordBatch) -> pa.Array:
    """For each row of two aligned batches, whether both are absent or the same content, whatever their keys."""
    same = _equal(left.column("kind"), right.column("kind"))
    for name in _ALWAYS[1:]:
        same = pc.and_(same, _equal(left.column(name), right.column(name)))
    checked = pc.is_valid(left.column("checksum"))
    if pc.all(checked, min_count=0).as_py():
        return same
    for name in _WITHOUT_CHECKSUM:
        same = pc.and_(same, pc.or_(checked, _equal(left.column(name), right.column(name))))
    return same


def same_places(left: pa.RecordBatch, right: pa.RecordBatch) -> pa.Array:
    """For each row of two aligned batches, whether its bytes lie at the same place: the same content may lie at two."""
    return pc.and_(*(_equal(left.column(name), right.column(name)) for name in _WITHOUT_CHECKSUM))


def differing(left: pa.RecordBatch, right: pa.RecordBatch) -> Aligned:
    """The rows in which two batches, each sorted by key, differ, in the order of keys."""
    left, right = _trimmed(left, right)
    found = pc.index_in(left.column("key"), value_set=right.column("key"))
    in_both = found.is_valid()
    left_at, right_at = pc.indices_nonzero(in_both).cast(pa.int32()), found.drop_null()
    changed = pc.invert(same_rows(left.take(left_at), right.take(right_at)))
    left_at, right_at = left_at.filter(changed), right_at.filter(changed)
    removed = pc.indices_nonzero(pc.invert(in_both)).cast(pa.int32())
    added_mask = pc.invert(pc.is_in(right.column("key"), value_set=left.column("key")))
    added = pc.indices_nonzero(added_mask).cast(pa.int32())
    left_at = pa.concat_arrays([left_at, removed, pa.nulls(len(added), pa.int32())])
    right_at = pa.concat_arrays([right_at, pa.nulls(len(removed), pa.int32()), added])
    keys = pc.coalesce(left.column("key").take(left_at), right.column("key").take(right_at))
    order = pc.sort_indices(keys)
    return Aligned(keys.take(order), left.take(left_at.take(order)), right.take(right_at.take(order)))


def _trimmed(left: pa.RecordBatch, right: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Both without the equal rows that they begin and end with: mostly that leaves little to join."""
    head = _unequal_rows(left, right)
    start = min(len(left), len(right)) if len(head) == 0 else head[0].as_py()
    left, right = left.slice(start), right.slice(start)
    common = min(len(left), len(right))
    tail = _unequal_rows(left.slice(len(left) - common), right.slice(len(right) - common))
    equal = common if len(tail) == 0 else common - 1 - tail[-1].as_py()
    return left.slice(0, len(left) - equal), right.slice(0, len(right) - equal)


def _unequal_rows(left: pa.RecordBatch, right: pa.RecordBatch) -> pa.Array:
    """The positions at which rows differ, key or content, as far as both batches go."""
    common = min(len(left), len(right))
    left, right = left.slice(0, common), right.slice(0, common)
    same = pc.and_(_equal(left.column("key"), right.column("key")), same_rows(left, right))
    return pc.indices_nonzero(pc.invert(same))


def absent_rows(count: int) -> pa.RecordBatch:
    """Rows of a side that has none of *count* keys."""
    return pa.RecordBatch.from_arrays([pa.nulls(count, field.type) for field in SCHEMA], schema=SCHEMA)


def _equal(left: pa.Array, right: pa.Array) -> pa.Array:
    """Elementwise equality in which null equals null."""
    if left.null_count == right.null_count == len(left):
        return pa.repeat(pa.scalar(value=True), len(left))
    if pa.types.is_map(left.type):
        return _equal(as_list(left), as_list(right))
    if pa.types.is_list(left.type):
        return _equal_lists(left, right)
    if pa.types.is_struct(left.type):
        same = pa.repeat(pa.scalar(value=True), len(left))
        for ours, theirs in zip(left.flatten(), right.flatten(), strict=True):
            same = pc.and_(same, _equal(ours, theirs))
        return same
    equal = pc.equal(left, right)
    if equal.null_count == 0:
        return equal
    return pc.or_(pc.fill_null(equal, fill_value=False), pc.and_(left.is_null(), right.is_null()))


def _equal_lists(left: pa.Array, right: pa.Array) -> pa.Array:
    """Lists are equal where they are equally long and no element differs."""
    same = _equal(pc.list_value_length(left), pc.list_value_length(right))
    rows = pc.indices_nonzero(same)
    left, right = left.take(rows), right.take(rows)
    unequal = pc.invert(_equal(pc.list_flatten(left), pc.list_flatten(right)))
    parents = rows.take(pc.unique(pc.list_parent_indices(left).filter(unequal)))
    positions = pa.arange(0, len(same)).cast(pa.uint64())
    return pc.and_(same, pc.invert(pc.is_in(positions, value_set=parents)))
