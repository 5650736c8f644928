"""An answer as a plain value, and how it is sent: in one piece, as a stream, or as a file that the kernel sends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from headwater.server.http.asgi import Scope, Send
from headwater.server.limits import CHUNK

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]

PATHSEND = "http.response.pathsend"


class File(msgspec.Struct, frozen=True):
    """A whole file of this machine as a body. *chunks* are its bytes, for servers that do not send files."""

    path: Path
    chunks: AsyncIterator[bytes]


class Response(msgspec.Struct, frozen=True):
    """What is answered. A stream says in its headers how long it is, if it can."""

    status: int = 200
    headers: Headers = ()
    body: bytes | AsyncIterator[bytes] | File = b""


async def send(scope: Scope, send_message: Send, response: Response, *headers: tuple[bytes, bytes]) -> int:
    """Send *response*, with *headers* besides its own; to a HEAD without a body. Returns how many bytes were sent."""
    body = response.body
    head = scope["method"] == "HEAD"
    told = [*response.headers, *headers]
    if isinstance(body, bytes) and b"content-length" not in dict(told):
        told.append((b"content-length", b"%d" % len(body)))
    await send_message({"type": "http.response.start", "status": response.status, "headers": told})
    if head or isinstance(body, bytes):
        await send_message({"type": "http.response.body", "body": b"" if head else body})
        if not isinstance(body, bytes):
            await _close(body)
        return 0 if head else len(body) if isinstance(body, bytes) else 0
    if isinstance(body, File):
        if PATHSEND in (scope.get("extensions") or ()):
            await _close(body)
            await send_message({"type": PATHSEND, "path": str(body.path)})
            return 0
        body = body.chunks
    return await _stream(send_message, body)


async def _stream(send_message: Send, chunks: AsyncIterator[bytes]) -> int:
    sent = 0
    try:
        async for chunk in chunks:
            for start in range(0, len(chunk), CHUNK):
                part = chunk[start : start + CHUNK] if len(chunk) > CHUNK else chunk
                await send_message({"type": "http.response.body", "body": part, "more_body": True})
                sent += len(part)
    finally:
        await _close(chunks)
    await send_message({"type": "http.response.body", "body": b""})
    return sent


async def _close(body: AsyncIterator[bytes] | File) -> None:
    """Let go of what is behind a stream that may not have been read to its end."""
    close = getattr(body.chunks if isinstance(body, File) else body, "aclose", None)
    if close is not None:
        await close()
