"""Files of a lake that are read and written piece by piece, with `await`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Self

from headwater.blob import Body
from headwater.sdk.limits import AHEAD, GATHERED, READ_AHEAD
from headwater.sdk.ports import ContentPort
from headwater.sdk.results import Entry


class ReadFile:
    """A file as it was when it was opened, whatever is written to its path meanwhile."""

    def __init__(self, content: ContentPort) -> None:
        self.entry = content.entry
        self._content = content
        self._position = 0

    @property
    def size(self) -> int:
        return self.entry.size

    async def read_range(self, start: int, end: int) -> bytes:
        """The bytes from *start* up to *end*, as many as there are."""
        end = min(end, self.size)
        if start >= end:
            return b""
        return await self._content.read(start, end)

    async def read(self, size: int = -1) -> bytes:
        """The next *size* bytes, or all there are."""
        end = self.size if size < 0 else self._position + size
        piece = await self.read_range(self._position, end)
        self._position += len(piece)
        return piece

    def seek(self, position: int) -> None:
        """Go on reading at *position*."""
        self._position = position

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while chunk := await self.read(READ_AHEAD):
            yield chunk

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class WriteFile:
    """A file being written. It is there when it is closed, at once; leaving `async with` by an error writes nothing."""

    def __init__(self, put: Callable[[Body], Awaitable[Entry]]) -> None:
        self._put = put
        self._gathered = bytearray()
        self._stream: _Stream | None = None
        self._ended = False
        self.entry: Entry | None = None
        """What was written, once it is closed."""

    @property
    def streaming(self) -> bool:
        """Whether it is being sent already: what has been gathered was too large to be held until the end."""
        return self._stream is not None

    def gather(self, piece: bytes | bytearray | memoryview) -> bool:
        """Take *piece* in. True if there is so much now that it should be sent."""
        if self._ended:
            raise ValueError("the file is closed")
        self._gathered += piece
        return len(self._gathered) >= GATHERED

    async def write(self, piece: bytes | bytearray | memoryview) -> int:
        if self.gather(piece):
            await self.send()
        return len(piece)

    async def send(self) -> None:
        """Send what has been gathered, while more is written. Needs an event loop."""
        if self._stream is None:
            self._stream = _Stream(self._put)
        chunk = bytes(self._gathered)
        self._gathered.clear()
        await self._stream.send(chunk)

    async def close(self) -> None:
        """Write the file, unless that was done or given up before."""
        if self._ended:
            return
        self._ended = True
        if self._stream is None:
            self.entry = await self._put(bytes(self._gathered))
        else:
            self.entry = await self._stream.end(bytes(self._gathered))

    async def abandon(self) -> None:
        """Give the file up: nothing is written."""
        self._ended = True
        self._gathered.clear()
        if self._stream is not None:
            await self._stream.abandon()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await (self.close() if kind is None else self.abandon())


class _Abandoned(Exception):
    """Raised in the body of a put that is to leave nothing."""


class _Stream:
    """A put under way: what is sent is its body. At most `AHEAD` chunks lie between."""

    def __init__(self, put: Callable[[Body], Awaitable[Entry]]) -> None:
        self._chunks: asyncio.Queue[bytes | _Abandoned | None] = asyncio.Queue(AHEAD)
        self._written = asyncio.ensure_future(put(self._body()))

    async def send(self, chunk: bytes | None) -> None:
        """Hand *chunk* on, when there is room. If the put has failed, that is raised."""
        await self._hand_on(chunk)
        if self._written.done():
            self._written.result()

    async def end(self, rest: bytes) -> Entry:
        await self.send(rest)
        await self._hand_on(None)
        return await self._written

    async def abandon(self) -> None:
        await self._hand_on(_Abandoned())
        await asyncio.wait([self._written])
        self._written.exception()  # it is what was asked for

    async def _hand_on(self, chunk: bytes | _Abandoned | None) -> None:
        handing = asyncio.ensure_future(self._chunks.put(chunk))
        await asyncio.wait([handing, self._written], return_when=asyncio.FIRST_COMPLETED)
        handing.cancel()

    async def _body(self) -> AsyncIterator[bytes]:
        while (chunk := await self._chunks.get()) is not None:
            if isinstance(chunk, _Abandoned):
                raise chunk
            yield chunk
