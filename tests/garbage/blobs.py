"""An object store in memory that is slow in virtual time and uses no thread: for runs in the simulator."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from random import Random

from headwater.blob import ANY, Blob, BlobStore, Body, Condition, Fetched, Listed, NotFound, Prefix, Stat, Stored
from headwater.blob.store import NO_METADATA, Method


class SlowBlobs(BlobStore):
    """Each call takes up to *longest* seconds, drawn from *random*, and takes effect somewhere within."""

    def __init__(self, random: Random, now: Callable[[], int], longest: float) -> None:
        self.objects: dict[str, tuple[bytes, int]] = {}
        self._random = random
        self._now = now
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
        assert isinstance(body, bytes)
        assert condition == ANY
        del content_type, metadata, tags
        await self._wait()
        self.objects[name] = body, self._now()
        await self._wait()
        return Stored(len(body), hashlib.md5(body, usedforsecurity=False).hexdigest(), "")

    async def get(self, name: str, *, start: int = 0, end: int | None = None) -> Blob:
        fetched = await self.fetch(name, start=start, end=end)

        async def chunks() -> AsyncGenerator[bytes, None]:
            yield fetched.body

        return Blob(fetched.stat, start, start + len(fetched.body), chunks(), None)

    async def fetch(self, name: str, *, start: int = 0, end: int | None = None) -> Fetched:
        await self._wait()
        if name not in self.objects:
            raise NotFound(name)
        body, modified = self.objects[name]
        return Fetched(body[start:end], Stat(name, len(body), "", modified))

    async def stat(self, name: str) -> Stat | None:
        await self._wait()
        if name not in self.objects:
            return None
        body, modified = self.objects[name]
        return Stat(name, len(body), "", modified)

    async def list(
        self, prefix: str = "", *, start_after: str = "", delimiter: bool = False, page: int = 1000
    ) -> AsyncIterator[Sequence[Listed]]:
        del page
        await self._wait()
        found: dict[str, Listed] = {}
        for name, (body, modified) in sorted(self.objects.items()):
            rest = name.removeprefix(prefix)
            if name.startswith(prefix):
                each: Listed = Stat(name, len(body), "", modified)
                if delimiter and "/" in rest:
                    each = Prefix(prefix + rest.partition("/")[0] + "/")
                if each.name > start_after:
                    found[each.name] = each
        if found:
            yield list(found.values())

    async def delete(self, name: str) -> None:
        await self.delete_many([name])

    async def delete_many(self, names: Iterable[str]) -> None:
        await self._wait()
        for name in names:
            self.objects.pop(name, None)

    async def copy(self, source: str, target: str) -> None:
        await self.put(target, (await self.fetch(source)).body)

    async def presign(self, name: str, method: Method, seconds: int) -> str:
        raise NotImplementedError

    async def _wait(self) -> None:
        await asyncio.sleep(self._random.random() * self._longest)
