"""A store of objects whose calls are timed: `s3_operation_duration_seconds` and its like, by operation and outcome."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

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
from headwater.metrics import Metrics

OPERATIONS = ("put", "get", "stat", "list", "delete", "copy")


class MeteredBlobs(BlobStore):
    """Hands every call on to *inner* as it is, and tells *metrics* how long it took. Of a stream, until it begins."""

    def __init__(self, inner: BlobStore, metrics: Metrics, kind: str) -> None:
        self._inner = inner
        self._timers: dict[tuple[str, bool], Callable[[float], None]] = {
            (operation, failed): metrics.timer(
                f"{kind}_operation_duration_seconds", operation=operation, error=str(failed).lower()
            )
            for operation in OPERATIONS
            for failed in (False, True)
        }

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
        with self._timed("put"):
            return await self._inner.put(
                name, body, condition=condition, content_type=content_type, metadata=metadata, tags=tags
            )

    async def put_unseen(self, name: str, body: bytes) -> Stored:
        with self._timed("put"):
            return await self._inner.put_unseen(name, body)

    async def get(self, name: str, *, start: int = 0, end: int | None = None) -> Blob:
        with self._timed("get"):
            return await self._inner.get(name, start=start, end=end)

    async def fetch(self, name: str, *, start: int = 0, end: int | None = None) -> Fetched:
        with self._timed("get"):
            return await self._inner.fetch(name, start=start, end=end)

    async def read(self, name: str, *, start: int = 0, end: int | None = None) -> bytes:
        with self._timed("get"):
            return await self._inner.read(name, start=start, end=end)

    async def stat(self, name: str) -> Stat | None:
        with self._timed("stat"):
            return await self._inner.stat(name)

    async def list(
        self, prefix: str = "", *, start_after: str = "", delimiter: bool = False, page: int = PAGE
    ) -> AsyncIterator[Sequence[Listed]]:
        """Each page is timed by itself, without what is done with it before the next is asked for."""
        pages = aiter(self._inner.list(prefix, start_after=start_after, delimiter=delimiter, page=page))
        while True:
            with self._timed("list"):
                listed = await anext(pages, None)
            if listed is None:
                return
            yield listed

    async def delete(self, name: str) -> None:
        with self._timed("delete"):
            await self._inner.delete(name)

    async def delete_many(self, names: Iterable[str]) -> None:
        with self._timed("delete"):
            await self._inner.delete_many(names)

    async def copy(self, source: str, target: str) -> None:
        with self._timed("copy"):
            await self._inner.copy(source, target)

    async def presign(self, name: str, method: Method, seconds: int) -> str:
        return await self._inner.presign(name, method, seconds)

    def multipart(self) -> Multipart:
        return self._inner.multipart()

    @property
    def directory(self) -> Path | None:
        return self._inner.directory

    def file(self, name: str) -> Path | None:
        return self._inner.file(name)

    async def aclose(self) -> None:
        await self._inner.aclose()

    @contextmanager
    def _timed(self, operation: str) -> Iterator[None]:
        began = perf_counter()
        failed = True
        try:
            yield
            failed = False
        finally:
            self._timers[operation, failed](perf_counter() - began)
