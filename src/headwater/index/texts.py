"""Single values of an Arrow column of strings, read from its memory: a tenth of what a pyarrow scalar costs."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa


class Texts(Sequence[str]):
    """A column of strings without nulls, as a sequence that `bisect` can search."""

    __slots__ = ("_column", "_content", "_length", "_places")

    def __init__(self, column: pa.Array) -> None:
        _, places, content = column.buffers()
        self._column = column  # which keeps the memory
        self._length = len(column)
        end = column.offset + len(column) + 1
        self._places = memoryview(places or bytes(4)).cast("B").cast("i")[column.offset : end]
        self._content = memoryview(content or b"")

    def __getitem__(self, position: int) -> str:  # type: ignore[override]  # of a slice nobody asks: it would cost all
        places = self._places
        return str(self._content[places[position] : places[position + 1]], "utf-8")

    def __len__(self) -> int:
        return self._length

    def every(self, step: int) -> list[str]:
        """Each *step*-th of them, beginning with the first."""
        return [self[position] for position in range(0, self._length, step)]

    def content(self, start: int, end: int) -> bytes:
        """The strings from *start* up to *end*: in UTF-8, with nothing between."""
        return bytes(self._content[self._places[start] : self._places[end]])
