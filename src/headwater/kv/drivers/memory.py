"""`mem://`: a store in this process's memory, for tests, simulations and demonstrations.

`mem://` is a fresh one each time; `mem://name` is the same one for everybody in this process who opens that name, for
as long as somebody holds it. It never suspends, so it is as deterministic as its caller.
"""

from __future__ import annotations

import bisect
from collections.abc import AsyncIterator
from itertools import count
from weakref import WeakValueDictionary

import msgspec

from headwater.kv.errors import PredicateFailed
from headwater.kv.limits import PAGE
from headwater.kv.store import ABSENT, Entry, Page, Predicate, Store, Versioned
from headwater.location import Location

_named: WeakValueDictionary[str, MemoryStore] = WeakValueDictionary()


class Options(msgspec.Struct, forbid_unknown_fields=True):
    """`mem://` has none."""


async def connect(location: Location) -> MemoryStore:
    location.read_options(Options)
    if not location.host:
        return MemoryStore()
    return _named.setdefault(location.host, MemoryStore())


class _Partition:
    """A map and its keys in order, kept in step."""

    def __init__(self) -> None:
        self.values: dict[bytes, Versioned] = {}
        self.keys: list[bytes] = []


class MemoryStore(Store):
    """A predicate is a number of the store's own counting, never given twice, hence no A-B-A."""

    immediate = True

    def __init__(self) -> None:
        self._partitions: dict[bytes, _Partition] = {}
        self._versions = count(1)

    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        return self._at(partition, key)

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        self._put(partition, key, value)

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        now = self._at(partition, key)
        if (ABSENT if now is None else now.predicate) != predicate:
            raise PredicateFailed(partition, key)
        return self._put(partition, key, value)

    async def delete(self, partition: bytes, key: bytes) -> None:
        held = self._partitions.get(partition)
        if held is not None and held.values.pop(key, None) is not None:
            del held.keys[bisect.bisect_left(held.keys, key)]
            if not held.keys:
                del self._partitions[partition]

    async def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        while True:
            held = self._partitions.get(partition)
            if held is None:
                return
            first = bisect.bisect_left(held.keys, start)
            keys = held.keys[first : first + page]
            if not keys:
                return
            start = keys[-1] + b"\0"
            yield [Entry(key, held.values[key].value) for key in keys]

    def _at(self, partition: bytes, key: bytes) -> Versioned | None:
        held = self._partitions.get(partition)
        return None if held is None else held.values.get(key)

    def _put(self, partition: bytes, key: bytes, value: bytes) -> Predicate:
        held = self._partitions.setdefault(partition, _Partition())
        if key not in held.values:
            bisect.insort(held.keys, key)
        predicate = Predicate(next(self._versions))
        held.values[key] = Versioned(value, predicate)
        return predicate
