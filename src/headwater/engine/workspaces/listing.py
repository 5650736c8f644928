"""Listing very many objects: shared out among parts that are listed side by side, and kept as columns."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from headwater.blob import BlobStore, Prefix, Stat
from headwater.blob.limits import MAX_PAGE as BLOB_PAGE
from headwater.drive import together
from headwater.engine.limits import LISTED_DEPTH, LISTED_TOGETHER, MAX_PAGE

LISTED = pa.schema(
    [
        pa.field("name", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("etag", pa.string()),
        pa.field("modified", pa.int64()),
    ]
)


async def listed(blobs: BlobStore, prefix: str) -> pa.Table:
    """All objects whose names begin with *prefix*, a directory, in the order of names.

    Under an event loop, as many parts side by side as there are directories to share it out by.
    """
    directories: list[str] = []
    for _ in range(LISTED_DEPTH):
        level = [each async for page in blobs.list(prefix, delimiter=True) for each in page]
        directories = [each.name for each in level if isinstance(each, Prefix)]
        if not directories:
            return pa.Table.from_batches([columns_of([each for each in level if isinstance(each, Stat)])], LISTED)
        if len(level) > 1:
            break
        prefix = directories[0]
    step = -(-len(directories) // LISTED_TOGETHER)
    bounds = directories[step::step]
    edges = zip(["", *bounds], [*bounds, None], strict=True)
    parts = await together([partial(_part, blobs, prefix, start, stop) for start, stop in edges])
    return pa.Table.from_batches([batch for part in parts for batch in part], LISTED)


async def without_markers(objects: pa.Table, stat: Callable[[str], Awaitable[Stat | None]], names: str) -> pa.Table:
    """*objects* without what is none: Hadoop leaves an empty object with a slash at its end where a directory would be.

    A listing shows it without the slash, so every empty object is looked at, by what is in the column *names*.
    """
    empty = objects.filter(pc.equal(objects.column("size"), 0)).column(names)
    if not len(empty):
        return objects
    known: list[str] = empty.to_pylist()
    absent: list[str] = []
    for start in range(0, len(known), MAX_PAGE):
        some = known[start : start + MAX_PAGE]
        found = await together([partial(stat, name) for name in some])
        absent += [name for name, each in zip(some, found, strict=True) if each is None]
    if not absent:
        return objects
    return objects.filter(pc.invert(pc.is_in(objects.column(names), value_set=pa.array(absent, pa.string()))))


def columns_of(stats: Sequence[Stat]) -> pa.RecordBatch:
    columns = [
        [each.name for each in stats],
        [each.size for each in stats],
        [each.etag.strip('"') for each in stats],
        [each.modified for each in stats],
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, LISTED, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=LISTED)


async def _part(blobs: BlobStore, prefix: str, start: str, stop: str | None) -> list[pa.RecordBatch]:
    """What is behind *start*, up to what is behind *stop*."""
    batches: list[pa.RecordBatch] = []
    async for stats in _pages(blobs, prefix, start):
        wanted = stats if stop is None else [each for each in stats if each.name < stop]
        if wanted:
            batches.append(columns_of(wanted))
        if len(wanted) < len(stats):
            break
    return batches


async def _pages(blobs: BlobStore, prefix: str, start: str) -> AsyncIterator[list[Stat]]:
    async for page in blobs.list(prefix, start_after=start, page=BLOB_PAGE):
        yield [each for each in page if isinstance(each, Stat)]
