"""What stands around a store and does something around each of its calls: timing them, counting them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, TypeAlias

from headwater.blob.expiry import Expiry
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

Request: TypeAlias = Literal["put", "get", "stat", "list", "delete", "copy"]


class Surrounded(BlobStore):
    """Hands every call on to *inner* as it is, within `around`. Presigning asks nobody, so nothing is around it."""

    def __init__(self, inner: BlobStore) -> None:
        self._inner = inner

    @abstractmethod
    def around(self, request: Request) -> AbstractContextManager[None]:
        """What surrounds one request of that kind; of a stream, until it begins; of a listing, each page."""

    def __repr__(self) -> str:
        return repr(self._inner)

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
        with self.around("put"):
            return await self._inner.put(
                name, body, condition=condition, content_type=content_type, metadata=metadata, tags=tags
            )

    async def put_unseen(self, name: str, body: bytes) -> Stored:
        with self.around("put"):
            return await self._inner.put_unseen(name, body)

    async def get(self, name: str, *, start: int = 0, end: int | None = None) -> Blob:
        with self.around("get"):
            return await self._inner.get(name, start=start, end=end)

    async def fetch(self, name: str, *, start: int = 0, end: int | None = None) -> Fetched:
        with self.around("get"):
            return await self._inner.fetch(name, start=start, end=end)

    async def read(self, name: str, *, start: int = 0, end: int | None = None) -> bytes:
        with self.around("get"):
            return await self._inner.read(name, start=start, end=end)

    async def stat(self, name: str) -> Stat | None:
        with self.around("stat"):
            return await self._inner.stat(name)

    async def list(
        self, prefix: str = "", *, start_after: str = "", delimiter: bool = False, page: int = PAGE
    ) -> AsyncIterator[Sequence[Listed]]:
        """What is done with a page, before the next is asked for, is not within."""
        pages = aiter(self._inner.list(prefix, start_after=start_after, delimiter=delimiter, page=page))
        while True:
            with self.around("list"):
                listed = await anext(pages, None)
            if listed is None:
                return
            yield listed

    async def delete(self, name: str) -> None:
        with self.around("delete"):
            await self._inner.delete(name)

    async def delete_many(self, names: Iterable[str]) -> None:
        with self.around("delete"):
            await self._inner.delete_many(names)

    async def copy(self, source: str, target: str) -> None:
        with self.around("copy"):
            await self._inner.copy(source, target)

    async def presign(self, name: str, method: Method, seconds: int) -> str:
        return await self._inner.presign(name, method, seconds)

    def multipart(self) -> Multipart:
        return self._inner.multipart()

    def expiry(self) -> Expiry:
        return self._inner.expiry()

    @property
    def directory(self) -> Path | None:
        return self._inner.directory

    def file(self, name: str) -> Path | None:
        return self._inner.file(name)

    async def aclose(self) -> None:
        await self._inner.aclose()
