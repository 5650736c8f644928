"""Answers of many lines, each a JSON document, that are sent as they are found: however many, few are in memory.

What goes wrong before the first line is an error like any other. After it, the last line tells: every such answer ends
with one, so that what was cut off is known from what was complete.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from headwater.errors import HeadwaterError
from headwater.sdk.wire.errors import body_of
from headwater.sdk.wire.replies import End
from headwater.server.api.answers import encode
from headwater.server.api.errors import status_of
from headwater.server.http import Response
from headwater.server.limits import LINES

Item = TypeVar("Item")

_TYPE = (b"content-type", b"application/x-ndjson")


async def lines(items: AsyncIterator[Item], render: Callable[[Item], object]) -> Response:
    """The answer that has a line for each of *items*."""
    first = [item async for item in _one(items)]
    return Response(200, (_TYPE,), _chunks(first, items, render))


async def _one(items: AsyncIterator[Item]) -> AsyncIterator[Item]:
    async for item in items:
        yield item
        return


async def _chunks(
    first: list[Item], items: AsyncIterator[Item], render: Callable[[Item], object]
) -> AsyncIterator[bytes]:
    gathered = bytearray()
    end = End(end=True)
    for item in first:
        gathered += encode(render(item)) + b"\n"
    try:
        if first:
            async for item in items:
                gathered += encode(render(item)) + b"\n"
                if len(gathered) >= LINES:
                    yield bytes(gathered)
                    gathered.clear()
    except HeadwaterError as error:
        end = End(end=True, error=body_of(error), status=status_of(error))
    yield bytes(gathered) + encode(end) + b"\n"
