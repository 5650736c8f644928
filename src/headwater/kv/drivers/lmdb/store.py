"""The store over one LMDB environment: reads here and now, writes by group commit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from headwater.kv.drivers.lmdb.environment import Environment
from headwater.kv.drivers.lmdb.reading import read, read_page
from headwater.kv.limits import PAGE
from headwater.kv.store import Delete, Operation, Page, Predicate, Set, SetIf, Store, Versioned
from headwater.location import Location


class Options(msgspec.Struct, forbid_unknown_fields=True):
    """`durability`: with `fsync` a write that returned survives the machine, at a disk's pace. With `os` it survives
    the process only, 30 times faster; after a power cut the whole store may be unreadable."""

    durability: Literal["fsync", "os"] = "fsync"


async def connect(location: Location) -> LMDBStore:
    options = location.read_options(Options)
    return LMDBStore(Environment.acquire(Path(location.local_path()), durable=options.durability == "fsync"))


class LMDBStore(Store):
    """Reads never suspend. Writes suspend only under an event loop; without one they are done when the call is."""

    immediate = True

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        with self._environment.begin() as transaction:
            return read(transaction, partition, key)

    async def get_many(self, partition: bytes, keys: Sequence[bytes]) -> list[Versioned | None]:
        with self._environment.begin() as transaction:
            return [read(transaction, partition, key) for key in keys]

    async def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        while True:
            with self._environment.begin_copying() as transaction:
                entries = read_page(transaction, partition, start, page)
            if not entries:
                return
            yield entries
            if len(entries) < page:
                return
            start = entries[-1].key + b"\0"

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        await self._environment.group_commit.write((Set(partition, key, value),))

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        return await self._environment.group_commit.write((SetIf(partition, key, value, predicate),))

    async def delete(self, partition: bytes, key: bytes) -> None:
        await self._environment.group_commit.write((Delete(partition, key),))

    async def set_many(self, partition: bytes, values: Mapping[bytes, bytes]) -> None:
        await self._environment.group_commit.write([Set(partition, key, value) for key, value in values.items()])

    async def delete_many(self, partition: bytes, keys: Iterable[bytes]) -> None:
        await self._environment.group_commit.write([Delete(partition, key) for key in keys])

    async def pipeline(self, operations: Sequence[Operation]) -> None:
        await self._environment.group_commit.write(operations)

    async def aclose(self) -> None:
        self._environment.release()
