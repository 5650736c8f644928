"""Content that stays what it was: objects that are opened, to be read piece by piece, and listings as Arrow tables."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
import pyarrow as pa

from headwater.engine import bulk, read
from headwater.sdk.arrow import COLUMNS, listing
from headwater.sdk.results import entry_of
from headwater.sdk.wire.objects import Opened
from headwater.server.api.arrow import ARROW, arrow_stream
from headwater.server.api.calling import Call
from headwater.server.api.operation import OBJECT, REPOSITORY, Group, needs
from headwater.server.http import Response
from headwater.server.sending import object_response

group = Group("contents")


class PathQuery(msgspec.Struct, frozen=True):
    """Which object."""

    path: str


class HandleQuery(msgspec.Struct, frozen=True):
    """Which content, by its path and the handle that opening it answered."""

    path: str
    handle: str


class PrefixQuery(msgspec.Struct, frozen=True):
    """What the paths begin with."""

    prefix: str = ""


@group.operation(
    "GET", "/repositories/{repository}/refs/{ref}/objects/open", "openObject", needs("fs:ReadObject", OBJECT)
)
async def open_object(call: Call, query: PathQuery) -> Opened:
    """What is known of an object, and a handle to read it by as it is now"""
    repository = await call.repository()
    entry = await read.stat(repository, call["ref"], query.path)
    return Opened(entry_of(entry), call.services.handles.make(repository, entry))


@group.operation("GET", "/repositories/{repository}/contents", "readContent", needs("fs:ReadObject", OBJECT))
async def read_content(call: Call, query: HandleQuery) -> Response:
    """The bytes, or a range of them, of an object as it was when it was opened"""
    repository = await call.repository()
    entry = call.services.handles.read(repository, query.path, query.handle)
    return await object_response(repository, entry, call.request)


@group.operation(
    "GET", "/repositories/{repository}/refs/{ref}/objects/arrow", "listArrow", needs("fs:ListObjects", REPOSITORY)
)
async def list_arrow(call: Call, query: PrefixQuery) -> Response:
    """All that is under a prefix, as a stream of Arrow record batches"""
    repository = await call.repository()
    batches = bulk.batches(repository, call["ref"], prefix=query.prefix)
    first = [batch async for batch in _one(batches)]  # what fails at once is an error like any other
    return Response(200, (ARROW,), arrow_stream(COLUMNS, _listings(first, batches)))


async def _one(batches: AsyncIterator[pa.RecordBatch]) -> AsyncIterator[pa.RecordBatch]:
    async for batch in batches:
        yield batch
        return


async def _listings(
    first: list[pa.RecordBatch], batches: AsyncIterator[pa.RecordBatch]
) -> AsyncIterator[pa.RecordBatch]:
    for batch in first:
        yield listing(batch)
        async for following in batches:
            yield listing(following)
