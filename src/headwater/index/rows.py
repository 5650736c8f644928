"""The rows of one segment, to look single keys up in: in microseconds, though they are columns in mapped memory."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from headwater.index.entry import Block, Entry, Kind
from headwater.index.limits import SLOT
from headwater.index.schema import entries_of
from headwater.index.texts import Texts

_KINDS = {str(kind): kind for kind in Kind}
_FEW = 10
"""Rows that are quicker to read one by one than column by column."""

_At = Callable[[int], Any]


class Rows:
    """A sorted batch of `SCHEMA`, and every `SLOT`-th of its keys."""

    __slots__ = ("_at", "_keys", "_sparse", "batch")

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.batch = batch
        self._keys = Texts(batch.column("key"))
        self._sparse = self._keys.every(SLOT)
        self._at: tuple[_At, ...] | None = None

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def last(self) -> str:
        """The last key."""
        return self._keys[len(self) - 1]

    def key(self, row: int) -> str:
        """The key of *row*."""
        return self._keys[row]

    def content(self, start: int, end: int) -> bytes:
        """The keys from row *start* up to *end* as they lie there: in UTF-8, with nothing between."""
        return self._keys.content(start, end)

    def position(self, key: str) -> int:
        """How many keys come before *key*."""
        slot = bisect_right(self._sparse, key)
        if slot == 0:
            return 0
        start = (slot - 1) * SLOT
        return bisect_left(self._keys, key, start, min(start + SLOT, len(self._keys)))

    def find(self, key: str) -> int | None:
        """The row of *key*."""
        position = self.position(key)
        if position == len(self._keys) or self._keys[position] != key:
            return None
        return position

    def get(self, key: str) -> Entry | None:
        """The entry of *key*."""
        row = self.find(key)
        return None if row is None else self._entry(key, row)

    def entries(self, start: int, end: int) -> list[Entry]:
        """Those from row *start* up to, not including, *end*."""
        if end - start <= _FEW:
            return [self._entry(self._keys[row], row) for row in range(start, end)]
        return entries_of(self.batch.slice(start, end - start))

    def _entry(self, key: str, row: int) -> Entry:
        if self._at is None:
            self._at = tuple(_reader(column) for column in self.batch.columns[1:])
        kind, size, modified, checksum, address, blocks, content_type, metadata, content_id, payload = self._at
        length, whole, extents = size(row), address(row), blocks(row)
        return Entry(
            key,
            _KINDS[kind(row)],
            (Block(whole, 0, length),) if whole is not None else tuple(Block(**extent) for extent in extents or ()),
            length,
            checksum(row),
            modified(row),
            content_type(row),
            dict(metadata(row) or ()),
            content_id(row),
            payload(row),
        )


def _reader(column: pa.Array) -> _At:
    """The quickest way to single values of *column*."""
    if column.null_count == len(column):
        return _nothing
    if column.null_count == 0 and pa.types.is_int64(column.type):
        return memoryview(column.buffers()[1]).cast("B").cast("q")[column.offset :].__getitem__
    if column.null_count == 0 and pa.types.is_string(column.type):
        return Texts(column).__getitem__
    return lambda row: column[row].as_py()


def _nothing(row: int) -> None:  # noqa: ARG001  (a value for any row)
    return None
