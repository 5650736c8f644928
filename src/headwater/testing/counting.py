"""A store that counts its round trips, because round trips are the cost: budgets are asserted with it.

store = CountingStore(inner)
with store.counted() as trips:
    await branch.commit(…)
assert trips == Trips(get=1, set_if=1, scan=1, pipeline=1)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from headwater.kv.limits import PAGE
from headwater.kv.store import Operation, Page, Predicate, Store, Versioned


class Trips(msgspec.Struct, kw_only=True, repr_omit_defaults=True):
    """How many round trips of each kind. It shows only what is not zero, so a failed budget reads as it is written.

    Whatever a bulk call or a pipeline carries, it is one trip. Each page of a scan is one; a scan that finds nothing is
    one too. A call that fails was made, and counts.
    """

    get: int = 0
    set: int = 0
    set_if: int = 0
    delete: int = 0
    scan: int = 0
    get_many: int = 0
    set_many: int = 0
    delete_many: int = 0
    pipeline: int = 0

    @property
    def total(self) -> int:
        return sum(msgspec.structs.astuple(self))


class CountingStore(Store):
    """Hands every call on to *inner* as it is, bulk calls as bulk calls, and counts it."""

    def __init__(self, inner: Store) -> None:
        self._inner = inner
        self._open: list[tuple[Trips, bytes | None]] = []

    @contextmanager
    def counted(self, partition: bytes | None = None) -> Iterator[Trips]:
        """Count while the block runs, everything or only the trips that touch *partition*. Blocks may overlap."""
        counting = (Trips(), partition)
        self._open.append(counting)
        try:
            yield counting[0]
        finally:
            self._open = [other for other in self._open if other is not counting]

    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        self._count("get", partition)
        return await self._inner.get(partition, key)

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        self._count("set", partition)
        await self._inner.set(partition, key, value)

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        self._count("set_if", partition)
        return await self._inner.set_if(partition, key, value, predicate)

    async def delete(self, partition: bytes, key: bytes) -> None:
        self._count("delete", partition)
        await self._inner.delete(partition, key)

    async def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        self._count("scan", partition)
        first = True
        async for entries in self._inner.scan(partition, start, page=page):
            if not first:
                self._count("scan", partition)
            first = False
            yield entries

    async def get_many(self, partition: bytes, keys: Sequence[bytes]) -> list[Versioned | None]:
        self._count("get_many", partition)
        return await self._inner.get_many(partition, keys)

    async def set_many(self, partition: bytes, values: Mapping[bytes, bytes]) -> None:
        self._count("set_many", partition)
        await self._inner.set_many(partition, values)

    async def delete_many(self, partition: bytes, keys: Iterable[bytes]) -> None:
        self._count("delete_many", partition)
        await self._inner.delete_many(partition, keys)

    async def pipeline(self, operations: Sequence[Operation]) -> None:
        self._count("pipeline", *(operation.partition for operation in operations))
        await self._inner.pipeline(operations)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _count(self, kind: str, *partitions: bytes) -> None:
        for trips, only in self._open:
            if only is None or only in partitions:
                setattr(trips, kind, getattr(trips, kind) + 1)
