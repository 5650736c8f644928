"""Text made of Arrow columns: rows of a page are written in some ten steps, however many they are.

Whoever writes them says of each column how its values stand in the document. Nearly all stand there as they are, and a
look at all of their bytes at once tells; where one does not, the values of that column are written one by one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.index import Run
from headwater.server.limits import WRITTEN_BYTES, WRITTEN_ROWS

Part: TypeAlias = pa.Array | str
"""A column of strings, or what stands in every row."""

Write: TypeAlias = Callable[[pa.RecordBatch], Sequence[Part]]
"""What the rows of a batch are made of, in the order in which it stands in each."""

CONTROL = bytes(range(32))


class _Written(msgspec.Struct, frozen=True):
    """Rows one after the other in UTF-8, and where each begins, and the last one ends."""

    content: bytes
    places: Sequence[int]

    def part(self, start: int, end: int) -> bytes:
        """Those from *start* up to *end* that are here."""
        last = len(self.places) - 1
        return self.content[self.places[max(0, start)] : self.places[min(last, end)]]


class WrittenRows:
    """Rows of segments as they stand in answers, those that were asked for last within so many bytes.

    A segment is named by what it holds, so what was written of it once holds for ever: nothing here is ever outdated.
    Rows are kept some at a time, at fixed places, so that pages that overlap share them; what a page lacks is written
    in one go.
    """

    def __init__(self, room: int = WRITTEN_BYTES) -> None:
        self._room = room
        self._kept: OrderedDict[tuple[str, int, Hashable], _Written] = OrderedDict()

    def text(self, run: Run, style: Hashable, write: Write) -> bytes:
        """The rows of *run*, one after the other. *style* is all that *write* goes by, beside the rows."""
        blocks = {
            block: self._known((run.segment, block, style))
            for block in range(run.start // WRITTEN_ROWS, (run.end - 1) // WRITTEN_ROWS + 1)
        }
        missing = [block for block, known in blocks.items() if known is None]
        if missing:
            start, end = missing[0] * WRITTEN_ROWS, (missing[-1] + 1) * WRITTEN_ROWS
            fresh = _written(write(run.rows.batch.slice(start, end - start)))
            for block in range(missing[0], missing[-1] + 1):
                first = (block - missing[0]) * WRITTEN_ROWS
                blocks[block] = self._keep((run.segment, block, style), fresh, first)
        return b"".join(
            known.part(run.start - block * WRITTEN_ROWS, run.end - block * WRITTEN_ROWS)
            for block, known in blocks.items()
            if known is not None
        )

    def _known(self, key: tuple[str, int, Hashable]) -> _Written | None:
        known = self._kept.get(key)
        if known is not None:
            self._kept.move_to_end(key)
        return known

    def _keep(self, key: tuple[str, int, Hashable], fresh: _Written, first: int) -> _Written:
        """Keep the rows of *fresh* from *first* on, of which a copy lets go of the others."""
        places = fresh.places[first : first + WRITTEN_ROWS + 1]
        kept = _Written(fresh.content[places[0] : places[-1]], [place - places[0] for place in places])
        before = self._kept.pop(key, None)
        self._kept[key] = kept
        self._room -= len(kept.content) - (0 if before is None else len(before.content))
        while self._room < 0:
            _, dropped = self._kept.popitem(last=False)
            self._room += len(dropped.content)
        return kept


def _written(parts: Sequence[Part]) -> _Written:
    """Rows, each of them all *parts* in their order."""
    rows = pc.binary_join_element_wise(*parts, "")
    places = _places(rows).tolist()
    assert places[0] == 0  # noqa: S101  (of a column that was just made)
    return _Written(content_of(rows), places)


def content_of(column: pa.Array) -> bytes:
    """The strings of *column*, which has no nulls, in UTF-8, with nothing between."""
    content = column.buffers()[2]
    if content is None:
        return b""
    places = _places(column)
    return bytes(memoryview(content)[places[0] : places[-1]])


def _places(column: pa.Array) -> memoryview:
    """Where each string of *column* begins in its memory, and the last one ends."""
    return memoryview(column.buffers()[1]).cast("B").cast("i")[column.offset : column.offset + len(column) + 1]


def written(column: pa.Array, special: bytes, write: Callable[[str], str]) -> pa.Array:
    """The strings of *column* as *write* writes them, who changes only those that have a byte of *special* in them."""
    content = content_of(column)
    if len(content.translate(None, special)) == len(content):
        return column
    return pa.array([write(value) for value in column.to_pylist()], pa.string())


def filled(column: pa.Array, absent: str) -> pa.Array:
    """*column* with *absent* for null."""
    return pc.fill_null(column, absent) if column.null_count else column


def digits(column: pa.Array) -> pa.Array:
    """Whole numbers as they are written everywhere."""
    return pc.cast(column, pa.string())


def without_prefix(column: pa.Array, length: int) -> pa.Array:
    """The strings of *column* without their first *length* characters."""
    return pc.utf8_slice_codeunits(column, length)
