"""Files of a lake as Python knows files, so that whatever reads or writes a file can do so here."""

from __future__ import annotations

import io
from collections.abc import Callable
from types import TracebackType
from typing import IO, TYPE_CHECKING

from headwater.sdk.aio import files
from headwater.sdk.limits import READ_AHEAD
from headwater.sdk.results import Entry
from headwater.sdk.sync.running import Runner

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


class ReadFile(io.RawIOBase):
    """A file as it was when it was opened, whatever is written to its path meanwhile."""

    def __init__(self, runner: Runner, reading: files.ReadFile) -> None:
        self.entry = reading.entry
        self._runner = runner
        self._reading = reading
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._reading.size}[whence]
        if base + offset < 0:
            raise ValueError(f"{base + offset} is before the file")
        self._position = base + offset
        return self._position

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        piece = self._read(self._position + len(view))
        view[: len(piece)] = piece
        return len(piece)

    def readall(self) -> bytes:
        return self._read(self._reading.size)

    def _read(self, end: int) -> bytes:
        piece = self._runner.run(self._reading.read_range(self._position, end))
        self._position += len(piece)
        return piece


class Reader(io.BufferedReader):
    """A `ReadFile` that fetches much at a time: what opening a file answers."""

    def __init__(self, runner: Runner, reading: files.ReadFile) -> None:
        super().__init__(ReadFile(runner, reading), min(max(reading.size, 1), READ_AHEAD))
        self.entry = reading.entry

    @property
    def size(self) -> int:
        return self.entry.size


class WriteFile(io.BufferedIOBase):
    """A file being written. It is there when it is closed, at once.

    Leaving a `with` block by an error, or dropping the file without closing it, writes nothing.
    """

    name = "<a file of a lake>"

    def __init__(self, runner: Runner, writing: files.WriteFile) -> None:
        self._runner = runner
        self._writing = writing
        self._position = 0

    @property
    def entry(self) -> Entry | None:
        """What was written, once it is closed."""
        return self._writing.entry

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def write(self, piece: ReadableBuffer, /) -> int:
        if self.closed:
            raise ValueError("the file is closed")
        view = memoryview(piece).cast("B")
        if self._writing.gather(view):
            self._runner.run_on_loop(self._writing.send())
        self._position += len(view)
        return len(view)

    def close(self) -> None:
        """Write the file, unless that was done or given up before."""
        if self.closed:
            return
        super().close()
        run = self._runner.run_on_loop if self._writing.streaming else self._runner.run
        run(self._writing.close())

    def abandon(self) -> None:
        """Give the file up: nothing is written."""
        if self.closed:
            return
        super().close()
        if self._writing.streaming:
            self._runner.run_on_loop(self._writing.abandon())

    def __del__(self) -> None:
        if not self.closed:
            super().close()
            if self._writing.streaming:
                self._runner.begin_on_loop(self._writing.abandon())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


class CompressedFile(io.BufferedIOBase):
    """Bytes on their way, compressed, into a `WriteFile`, which it treats alike.

    *compress* makes the file that compresses what is written to it into the one that it is given.
    """

    name = WriteFile.name

    def __init__(self, file: WriteFile, compress: Callable[[io.RawIOBase], IO[bytes]]) -> None:
        self._file = file
        self._sink = _Sink(file)
        self._into = compress(self._sink)

    def writable(self) -> bool:
        return True

    def write(self, piece: ReadableBuffer, /) -> int:
        if self.closed:
            raise ValueError("the file is closed")
        return self._into.write(piece)

    def close(self) -> None:
        """Write what is left, and the file, unless that was done or given up before."""
        if self.closed:
            return
        super().close()
        try:
            self._into.close()
        except BaseException:
            self._file.abandon()
            raise
        self._file.close()

    def abandon(self) -> None:
        """Give the file up: nothing is written."""
        if self.closed:
            return
        super().close()
        self._sink.file = None
        self._into.close()
        self._file.abandon()

    def __del__(self) -> None:
        if not self.closed:
            super().close()
            self._sink.file = None
            self._into.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


class _Sink(io.RawIOBase):
    """What is written here goes to *file*, or nowhere once that is given up: a compressor ends by writing."""

    def __init__(self, file: WriteFile) -> None:
        self.file: WriteFile | None = file

    def writable(self) -> bool:
        return True

    def write(self, piece: ReadableBuffer, /) -> int:
        return len(memoryview(piece).cast("B")) if self.file is None else self.file.write(piece)


class WriteText(io.TextIOWrapper):
    """Text on its way into a `WriteFile`, which it treats alike."""

    def __init__(
        self,
        file: WriteFile | CompressedFile,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
    ) -> None:
        self._file = file
        super().__init__(file, encoding, errors, newline)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._file.abandon()
        self.close()

    def __del__(self) -> None:
        self._file.__del__()


def file_to_write(
    runner: Runner, writing: files.WriteFile, mode: str, encoding: str, newline: str | None
) -> WriteFile | WriteText:
    """The file that opening it in *mode* `wb` or `w` answers."""
    file = WriteFile(runner, writing)
    return file if mode == "wb" else WriteText(file, encoding, newline=newline)
