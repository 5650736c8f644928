"""What may be put: bytes, a file, or chunks; and what the engine takes of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from typing import Protocol, TypeAlias, runtime_checkable

from headwater.blob import Body
from headwater.blob.limits import CHUNK
from headwater.engine.errors import BadRequest


@runtime_checkable
class Readable(Protocol):
    """A file that is open for reading bytes."""

    def read(self, size: int, /) -> bytes: ...


Chunk: TypeAlias = bytes | bytearray | memoryview
Content: TypeAlias = Chunk | Readable | Iterable[Chunk] | AsyncIterable[bytes]
"""What is put. A file and chunks are streamed: a bounded part of them is in memory."""


def body_of(content: Content) -> Body:
    """*content* as the engine takes it. A file or an iterator is read in a thread: it may wait, the loop does not."""
    match content:
        case bytes():
            return content
        case bytearray() | memoryview():
            return bytes(content)
        case AsyncIterable():
            return content
        case str():
            raise BadRequest("content is bytes: encode text first, as in text.encode()")
        case Readable():
            return _chunks(lambda: content.read(CHUNK) or None)
        case _:
            chunks = iter(content)
            return _chunks(lambda: next(chunks, None))


async def _chunks(following: Callable[[], Chunk | None]) -> AsyncIterator[bytes]:
    """What *following* answers, until that is None."""
    while (chunk := await asyncio.to_thread(following)) is not None:
        if not isinstance(chunk, Chunk):
            raise BadRequest(f"content is bytes, not {type(chunk).__name__}: open files in mode 'rb', encode text")
        yield bytes(chunk)
