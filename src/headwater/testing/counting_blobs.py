"""An object store that counts its requests, for budgets: the twin of `CountingStore`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from headwater.blob.limits import PAGE
from headwater.blob.multipart import Multipart
from headwater.blob.store import (
    ANY,
    NO_METADATA,
    Blob,
    BlobStore,
    Body,
    Condition,
    Fetched,
    Listed,
    Method,
    Stat,
    Stored,
)


class Requests(msgspec.Struct, kw_only=True, repr_omit_defaults=True):
    """How many requests of each kind. It shows only what is not zero, so a failed budget reads as it is written.

    Each page of a listing is one, and so is a bulk delete; a streamed put is one, whatever its parts.
    """

    put: int = 0
    get: int = 0
    stat: int = 0
    list: int = 0
    delete: int = 0
    copy: int = 0


class CountingBlobs(BlobStore):
    """Hands every call on to *inner* as it is, and counts it. A presigned URL is not a request."""

    def __init__(self, inner: BlobStore) -> None:
        self._inner = inner
        self._open: list[Requests] = []

    @contextmanager
    def counted(self) -> Iterator[Requests]:
        """Count while the block runs. Blocks may overlap."""
        counting = Requests()
        self._open.append(counting)
        try:
            yield counting
        finally:
            self._open = [other for other in self._open if other is not counting]

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
        self._count("put")
        return await self._inner.put(
            name, body, condition=condition, content_type=content_type, metadata=metadata, tags=tags
        )

    async def put_unseen(self, name: str, body: bytes) -> Stored:
        self._count("put")
        return await self._inner.put_unseen(name, body)

    async def get(self, name: str, *, start: int = 0, end: int | None = None) -> Blob:
        self._count("get")
        return await self._inner.get(name, start=start, end=end)

    async def fetch(self, name: str, *, start: int = 0, end: int | None = None) -> Fetched:
        self._count("get")
        return await self._inner.fetch(name, start=start, end=end)

    async def stat(self, name: str) -> Stat | None:
        self._count("stat")
        return await self._inner.stat(name)

    async def list(
        self, prefix: str = "", *, start_after: str = "", delimiter: bool = False, page: int = PAGE
    ) -> AsyncIterator[Sequence[Listed]]:
        self._count("list")
        first = True
        async for listed in self._inner.list(prefix, start_after=start_after, delimiter=delimiter, page=page):
            if not first:
                self._count("list")
            first = False
            yield listed

    async def delete(self, name: str) -> None:
        self._count("delete")
        await self._inner.delete(name)

    async def delete_many(self, names: Iterable[str]) -> None:
        self._count("delete")
        await self._inner.delete_many(names)

    async def copy(self, source: str, target: str) -> None:
        self._count("copy")
        await self._inner.copy(source, target)

    async def presign(self, name: str, method: Method, seconds: int) -> str:
        return await self._inner.presign(name, method, seconds)

    def multipart(self) -> Multipart:
        return self._inner.multipart()

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _count(self, kind: str) -> None:
        for requests in self._open:
            setattr(requests, kind, getattr(requests, kind) + 1)
