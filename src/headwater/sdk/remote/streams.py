"""Answers that come line by line, and are looked at as they come: each line is a JSON document."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TypeVar

import msgspec

from headwater.kv import StoreUnavailable
from headwater.sdk.remote.connection import NOTHING, Connection
from headwater.sdk.remote.urls import Query
from headwater.sdk.wire.errors import error_of
from headwater.sdk.wire.replies import End

Line = TypeVar("Line")


async def lines(server: Connection, kind: type[Line], path: str, query: Query = NOTHING) -> AsyncIterator[Line]:
    """What the lines of the answer are. The last one tells how it ended: what ends without it was cut off."""
    decode = msgspec.json.Decoder(kind).decode
    before: bytes | None = None
    async with server.stream(path, query) as answer:
        async for line in _split(answer):
            if before is not None:
                yield decode(before)
            before = line
    _check_end(before)


def _check_end(line: bytes | None) -> None:
    try:
        end = msgspec.json.decode(line or b"", type=End)
    except msgspec.DecodeError:
        raise StoreUnavailable("the answer was cut off: ask again") from None
    if end.error is not None:
        raise error_of(end.error, end.status)


async def _split(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines of a body, without their ends."""
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line
    if rest:
        yield rest
