"""Candidates: what is in a namespace and older than the safety age, listed by slices, several at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

import polars as pl

from headwater.blob import BlobStore, Prefix, Stat
from headwater.blob.limits import MAX_PAGE
from headwater.blob.namespace import DATA, WORKSPACES, after_young, parse_data_name
from headwater.drive import together
from headwater.engine.repository import Repository
from headwater.garbage.limits import TOGETHER
from headwater.garbage.workspaces import live_workspaces

CANDIDATES = {"address": pl.String, "size": pl.Int64, "modified": pl.Int64}
"""The columns of candidates, and of a plan."""


async def candidates(repository: Repository, cutoff: int) -> pl.DataFrame:
    """Every object of users that was over and done with before *cutoff*, in the order of names."""
    found: list[pl.DataFrame] = []
    blobs = repository.blobs
    async for some in _in_parts(await old_parts(repository, cutoff), blobs, cutoff):
        found += some
    return pl.concat([pl.DataFrame(schema=CANDIDATES), *found]).sort("address")


async def old_parts(repository: Repository, cutoff: int) -> list[str]:
    """The prefixes to be listed: slices that ended before *cutoff*, and workspaces that nobody goes on with."""
    found: list[str] = []
    for prefix, after in ((DATA, after_young(cutoff)), (WORKSPACES, "")):
        async for page in repository.blobs.list(prefix, start_after=after, delimiter=True, page=MAX_PAGE):
            found += [each.name for each in page if isinstance(each, Prefix)]
    live = set((await live_workspaces(repository, cutoff)).prefixes)
    return [name for name in found if name not in live]


async def old_objects(blobs: BlobStore, part: str, cutoff: int) -> pl.DataFrame:
    """The candidates below *part*. Of a workspace in which something is young there are none."""
    names: list[str] = []
    sizes: list[int] = []
    times: list[int] = []
    async for page in blobs.list(part, page=MAX_PAGE):
        for each in page:
            if isinstance(each, Stat) and (not part.startswith(DATA) or parse_data_name(each.name) is not None):
                names.append(each.name)
                sizes.append(each.size)
                times.append(each.modified)
    found = pl.DataFrame({"address": names, "size": sizes, "modified": times}, schema=CANDIDATES)
    if part.startswith(WORKSPACES) and (found["modified"] >= cutoff).any():
        return found.clear()
    return found.filter(pl.col("modified") < cutoff)


async def _in_parts(parts: list[str], blobs: BlobStore, cutoff: int) -> AsyncIterator[list[pl.DataFrame]]:
    for start in range(0, len(parts), TOGETHER):
        some = parts[start : start + TOGETHER]
        yield await together([partial(old_objects, blobs, part, cutoff) for part in some])
