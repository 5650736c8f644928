"""Reading: what is at a path, and its bytes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress

import msgspec

from headwater.blob import RangeNotSatisfiable
from headwater.blob.limits import CHUNK
from headwater.engine.addresses import located
from headwater.engine.block_lists import pieces_between
from headwater.engine.compaction import compact
from headwater.engine.errors import PathNotFound
from headwater.engine.limits import COMPACT_AFTER
from headwater.engine.looking import Ground, look
from headwater.engine.paths import after_of, key_of, path_of, prefix_of
from headwater.engine.repository import Repository
from headwater.index import Block, CommonPrefix, Entry, Kind, Listing
from headwater.kv import StoreError
from headwater.refs.errors import RefNotFound
from headwater.staging.errors import Contended


class Reading(msgspec.Struct, frozen=True):
    """An object as it was found, and where in it the bytes are that were asked for."""

    entry: Entry
    start: int
    end: int
    chunks: AsyncGenerator[bytes, None]


async def stat(repository: Repository, ref: str, path: str) -> Entry:
    """What is at *path*, or `PathNotFound`."""
    key = key_of(path)
    entry = await look(repository, ref, "get", lambda ground: ground.get(key))
    if entry is None:
        raise PathNotFound(f"there is nothing at {path!r} in {ref!r} of repository {repository.name!r}")
    return entry


async def list_entries(
    repository: Repository,
    ref: str,
    *,
    prefix: str = "",
    delimiter: str = "",
    after: str = "",
    amount: int = 1000,
) -> list[Entry | CommonPrefix]:
    """A page of what is at *ref*, in one order with the common prefixes that *delimiter* makes."""
    page = await listing(repository, ref, prefix=prefix, delimiter=delimiter, after=after, amount=amount)
    return page.items()


async def listing(
    repository: Repository,
    ref: str,
    *,
    prefix: str = "",
    delimiter: str = "",
    after: str = "",
    amount: int = 1000,
) -> Listing:
    """What `list_entries` gives, in pieces of which no entry has been made: for whoever writes it out by columns.

    A page that had to pass over very many staged entries, tombstones mostly, has the branch compacted, so that the next
    one need not.
    """
    passed = 0

    async def page(ground: Ground) -> Listing:
        nonlocal passed
        found = await ground.index.listing(
            prefix=prefix_of(prefix),
            delimiter=delimiter,
            after=after_of(after),
            amount=amount,
            overlays=ground.overlays,
        )
        passed = sum(layer.passed for layer in ground.overlays)
        return found

    found = await look(repository, ref, "list", page)
    if passed > COMPACT_AFTER and not repository.record.read_only:
        with suppress(Contended, StoreError, RefNotFound):  # the page is there; the next that is as hard tries again
            await compact(repository, ref)
    return found


async def get(repository: Repository, ref: str, path: str, *, start: int = 0, end: int | None = None) -> Reading:
    """The bytes at *path* from *start* up to, not including, *end*, as a stream."""
    return content(repository, await stat(repository, ref, path), start=start, end=end)


def content(repository: Repository, entry: Entry, *, start: int = 0, end: int | None = None) -> Reading:
    """What `get` gives, of an entry as it was found: whatever is at its path by now."""
    stop = entry.size if end is None else min(end, entry.size)
    if start < 0 or start > stop or (start == entry.size and entry.size > 0):
        raise RangeNotSatisfiable(
            f"{path_of(entry.key)!r} has {entry.size} bytes: there are none from {start} to {end}"
        )
    return Reading(entry, start, stop, _chunks(repository, pieces_between(entry.blocks, start, stop)))


async def whole(repository: Repository, entry: Entry, *, start: int, end: int) -> bytes:
    """The bytes of `content`, in memory: for few of them, which are read in as few steps as there can be."""
    if entry.kind is Kind.OBJECT and len(entry.blocks) == 1:
        block = entry.blocks[0]
        store, name = await located(repository, block.address)
        return await store.read(name, start=block.offset + start, end=block.offset + end)
    return b"".join([chunk async for chunk in content(repository, entry, start=start, end=end).chunks])


async def _chunks(repository: Repository, blocks: Sequence[Block]) -> AsyncGenerator[bytes, None]:
    async for block in repository.block_lists.expand(blocks):
        store, name = await located(repository, block.address)
        stop = block.offset + block.length
        if block.length <= CHUNK:
            yield await store.read(name, start=block.offset, end=stop)
            continue
        async with await store.get(name, start=block.offset, end=stop) as blob:
            async for chunk in blob:
                yield chunk
