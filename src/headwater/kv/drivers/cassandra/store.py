"""The store over Cassandra."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence

from headwater.kv.drivers.batches import batches
from headwater.kv.drivers.cassandra import statements
from headwater.kv.drivers.cassandra.lanes import MAX_BYTES, MAX_ENTRIES, Changes, Lanes
from headwater.kv.drivers.cassandra.session import Session, Values
from headwater.kv.drivers.pages import first_page, next_page
from headwater.kv.errors import PredicateFailed, StoreUnavailable
from headwater.kv.limits import PAGE
from headwater.kv.store import ABSENT, Delete, Entry, Operation, Page, Predicate, SetIf, Store, Versioned, after

MAX_KEYS = 100
"""Keys that are read in one request: ScyllaDB takes no more."""

SIDE_BY_SIDE = 8
"""Requests of one bulk read that are under way at a time."""

VERSION = 16
"""Random bytes that each write draws: enough that no two ever draw the same."""


class CassandraStore(Store):
    def __init__(self, session: Session) -> None:
        self._session = session
        self._lanes = Lanes(self._change)

    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        for version, value in await self._session.read(statements.GET, partition, key):
            return Versioned(value, Predicate(version))
        return None

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        await self._lanes.write(partition, {key: value})

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        version = secrets.token_bytes(VERSION)
        if predicate is ABSENT:
            write: tuple[str, Values] = (statements.CREATE, (version, value, partition, key))
        else:
            write = (statements.SWAP, (version, value, partition, key, predicate))
        async with self._lanes.turn(partition):
            if not await self._session.write([write]):
                raise PredicateFailed(partition, key)
        return Predicate(version)

    async def delete(self, partition: bytes, key: bytes) -> None:
        await self._lanes.write(partition, {key: None})

    async def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        limit = first_page(page)
        while True:
            rows = await self._session.read(statements.PAGE, partition, start, limit)
            entries = [Entry(key, value) for key, value in rows]
            if entries:
                yield entries
            if len(entries) < limit:
                return
            start = entries[-1].key + b"\0"
            limit = next_page(page, entries)

    async def get_many(self, partition: bytes, keys: Sequence[bytes]) -> list[Versioned | None]:
        found: dict[bytes, Versioned] = {}
        free = asyncio.Semaphore(SIDE_BY_SIDE)

        async def get(some: Sequence[bytes]) -> None:
            async with free:
                for key, version, value in await self._session.read(statements.GET_MANY, partition, some):
                    found[key] = Versioned(value, Predicate(version))

        parts = batches(list(dict.fromkeys(keys)), most=MAX_KEYS, most_bytes=MAX_BYTES, size=len)
        await asyncio.gather(*map(get, parts))
        return [found.get(key) for key in keys]

    async def set_many(self, partition: bytes, values: Mapping[bytes, bytes]) -> None:
        for some in batches(list(values.items()), most=MAX_ENTRIES, most_bytes=MAX_BYTES, size=_size):
            await self._lanes.write(partition, dict(some))

    async def delete_many(self, partition: bytes, keys: Iterable[bytes]) -> None:
        for some in batches(list(keys), most=MAX_ENTRIES, most_bytes=MAX_BYTES, size=len):
            await self._lanes.write(partition, dict.fromkeys(some))

    async def pipeline(self, operations: Sequence[Operation]) -> None:
        """A transaction for each conditional operation, and one for all between two that are of one partition."""
        done = 0
        for some in _steps(operations):
            with after(done, operations):
                if isinstance(some, SetIf):
                    await self.set_if(some.partition, some.key, some.value, some.predicate)
                    done += 1
                    continue
                partition, changes, count = some
                await self._lanes.write(partition, changes)
                done += count

    async def aclose(self) -> None:
        await self._lanes.aclose()
        await self._session.aclose()

    async def _change(self, partition: bytes, changes: Changes) -> None:
        """One lightweight transaction, which the condition of its first write makes it."""
        writes: list[tuple[str, Values]] = []
        for key, value in changes.items():
            condition = "" if writes else statements.ALWAYS
            if value is None:
                writes.append((statements.DELETE + condition, (partition, key)))
            else:
                version = secrets.token_bytes(VERSION)
                writes.append((statements.PUT + condition, (version, value, partition, key)))
        if not await self._session.write(writes):
            raise StoreUnavailable(
                "this database takes `version != 0x` not to hold of a row that is absent: not written"
            )


def _steps(operations: Sequence[Operation]) -> Iterator[SetIf | tuple[bytes, Changes, int]]:
    """*operations* in order: each conditional one, and what lies between two, by partition, and how many those were."""
    changes: dict[bytes, bytes | None] = {}
    partition, count, size = b"", 0, 0
    for operation in operations:
        here = _size_of(operation)
        full = count == MAX_ENTRIES or size + here > MAX_BYTES
        if count and (isinstance(operation, SetIf) or operation.partition != partition or full):
            yield partition, changes, count
            changes, count, size = {}, 0, 0
        if isinstance(operation, SetIf):
            yield operation
            continue
        partition, count, size = operation.partition, count + 1, size + here
        changes[operation.key] = None if isinstance(operation, Delete) else operation.value
    if count:
        yield partition, changes, count


def _size(entry: tuple[bytes, bytes]) -> int:
    return len(entry[0]) + len(entry[1])


def _size_of(operation: Operation) -> int:
    return len(operation.key) + (0 if isinstance(operation, Delete) else len(operation.value))
