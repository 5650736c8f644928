"""An object store of a simulation: each call takes its time, and takes effect somewhere within."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from random import Random

import msgspec

from headwater.blob import ANY, Blob, BlobStore, Body, Condition, Fetched, Listed, Method, Stat, Stored
from headwater.blob.limits import PAGE
from headwater.blob.store import NO_METADATA


class SlowBlobs(BlobStore):
    """*inner*, where calls take up to *longest* seconds, drawn from *random*; 0: none at all."""

    def __init__(self, inner: BlobStore, random: Random, longest: float) -> None:
        self._inner = inner
        self._random = random
        self._longest = longest

    async def put(
        self,
        name: str,
        body: Body,
        *,
        condition: Condition = ANY,
        content_type: str | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
        tags: Mapping[str, str] = NO_METADATA,
    ) -> Stored:
        await self._wait()
        stored = await self._inner.put(
            name, body, condition=condition, content_type=content_type, metadata=metadata, tags=tags
        )
        await self._wait()
        return stored

    async def get(self, name: str, *, start: int = 0, end: int | None = None) -> Blob:
        await self._wait()
        return await self._inner.get(name, start=start, end=end)

    async def fetch(self, name: str, *, start: int = 0, end: int | None = None) -> Fetched:
        await self._wait()
        try:
            found = await self._inner.fetch(name, start=start, end=end)
            return Fetched(found.body, _timeless(found.stat))
        finally:
            await self._wait()

    async def stat(self, name: str) -> Stat | None:
        await self._wait()
        found = await self._inner.stat(name)
        return None if found is None else _timeless(found)

    async def list(
        self, prefix: str = "", *, start_after: str = "", delimiter: bool = False, page: int = PAGE
    ) -> AsyncIterator[Sequence[Listed]]:
        await self._wait()
        async for listed in self._inner.list(prefix, start_after=start_after, delimiter=delimiter, page=page):
            yield [_timeless(each) if isinstance(each, Stat) else each for each in listed]
            await self._wait()

    async def delete(self, name: str) -> None:
        await self._wait()
        await self._inner.delete(name)

    async def delete_many(self, names: Iterable[str]) -> None:
        await self._wait()
        await self._inner.delete_many(names)

    async def copy(self, source: str, target: str) -> None:
        await self._wait()
        await self._inner.copy(source, target)

    async def presign(self, name: str, method: Method, seconds: int) -> str:
        return await self._inner.presign(name, method, seconds)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _wait(self) -> None:
        if self._longest:
            await asyncio.sleep(self._random.random() * self._longest)


def _timeless(stat: Stat) -> Stat:
    """*stat* without the time of the machine, which no seed decides."""
    return msgspec.structs.replace(stat, modified=0)
