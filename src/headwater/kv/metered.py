"""A store whose calls are timed: `kv_request_duration_seconds`, by operation and by the kind of the store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from time import perf_counter

from headwater.kv.limits import PAGE
from headwater.kv.store import Operation, Page, Predicate, Store, Versioned
from headwater.metrics import Metrics

NAME = "kv_request_duration_seconds"


class MeteredStore(Store):
    """Hands every call on to *inner* as it is, and tells *metrics* how long it took, whether it went well or not."""

    def __init__(self, inner: Store, metrics: Metrics, kind: str) -> None:
        self._inner = inner
        self.immediate = inner.immediate
        self._get = metrics.timer(NAME, operation="get", type=kind)
        self._set = metrics.timer(NAME, operation="set", type=kind)
        self._set_if = metrics.timer(NAME, operation="set_if", type=kind)
        self._delete = metrics.timer(NAME, operation="delete", type=kind)
        self._scan = metrics.timer(NAME, operation="scan", type=kind)
        self._get_many = metrics.timer(NAME, operation="get_many", type=kind)
        self._set_many = metrics.timer(NAME, operation="set_many", type=kind)
        self._delete_many = metrics.timer(NAME, operation="delete_many", type=kind)
        self._pipeline = metrics.timer(NAME, operation="pipeline", type=kind)

    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        began = perf_counter()
        try:
            return await self._inner.get(partition, key)
        finally:
            self._get(perf_counter() - began)

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        began = perf_counter()
        try:
            await self._inner.set(partition, key, value)
        finally:
            self._set(perf_counter() - began)

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        began = perf_counter()
        try:
            return await self._inner.set_if(partition, key, value, predicate)
        finally:
            self._set_if(perf_counter() - began)

    async def delete(self, partition: bytes, key: bytes) -> None:
        began = perf_counter()
        try:
            await self._inner.delete(partition, key)
        finally:
            self._delete(perf_counter() - began)

    async def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        """Each page is timed by itself, without what is done with it before the next is asked for."""
        began = perf_counter()
        async for entries in self._inner.scan(partition, start, page=page):
            self._scan(perf_counter() - began)
            yield entries
            began = perf_counter()
        self._scan(perf_counter() - began)

    async def get_many(self, partition: bytes, keys: Sequence[bytes]) -> list[Versioned | None]:
        began = perf_counter()
        try:
            return await self._inner.get_many(partition, keys)
        finally:
            self._get_many(perf_counter() - began)

    async def set_many(self, partition: bytes, values: Mapping[bytes, bytes]) -> None:
        began = perf_counter()
        try:
            await self._inner.set_many(partition, values)
        finally:
            self._set_many(perf_counter() - began)

    async def delete_many(self, partition: bytes, keys: Iterable[bytes]) -> None:
        began = perf_counter()
        try:
            await self._inner.delete_many(partition, keys)
        finally:
            self._delete_many(perf_counter() - began)

    async def pipeline(self, operations: Sequence[Operation]) -> None:
        began = perf_counter()
        try:
            await self._inner.pipeline(operations)
        finally:
            self._pipeline(perf_counter() - began)

    async def aclose(self) -> None:
        await self._inner.aclose()
