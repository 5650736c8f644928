"""The store over HBase."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any

from headwater.kv.drivers.batches import batches
from headwater.kv.drivers.hbase import service
from headwater.kv.drivers.hbase.gateway import Gateway
from headwater.kv.drivers.hbase.service import FAMILY, VERSION_COLUMN, Durability
from headwater.kv.drivers.pages import first_page, next_page
from headwater.kv.drivers.rows import end_of_rows, row_of
from headwater.kv.errors import PredicateFailed, StoreUnavailable, UnknownOutcome
from headwater.kv.limits import PAGE
from headwater.kv.store import ABSENT, Entry, Page, Predicate, Store, Versioned

MAX_KEYS = 100
MAX_ROWS = 2_000
MAX_BYTES = 8 * 1024 * 1024
"""Of one request: keys that are read, rows that are written, and their bytes. The gateway holds it all in memory."""

VERSION = 16
"""Random bytes that each write draws: enough that no two ever draw the same."""


class HBaseStore(Store):
    def __init__(self, gateway: Gateway, table: str, durability: Durability) -> None:
        self._gateway = gateway
        self._table = table.encode()
        self._durability = durability

    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        return service.record_of(await self._gateway.read("get", self._table, service.get_of(row_of(partition, key))))

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        await self._gateway.write("put", self._table, self._put(partition, key, value, _new_version()))

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        row, version = row_of(partition, key), _new_version()
        expected = None if predicate is ABSENT else predicate
        put = self._put(partition, key, value, version)
        if not await self._gateway.write("checkAndPut", self._table, row, FAMILY, VERSION_COLUMN, expected, put):
            # A gateway that tries again would find the first try's success. The version says whose it is.
            try:
                found = await self.get(partition, key)
            except StoreUnavailable as error:
                raise UnknownOutcome(f"whose swap HBase refused could not be asked: {error}") from error
            if found is None or found.predicate != Predicate(version):
                raise PredicateFailed(partition, key)
        return Predicate(version)

    async def delete(self, partition: bytes, key: bytes) -> None:
        delete = service.delete_of(row_of(partition, key), self._durability)
        await self._gateway.write("deleteSingle", self._table, delete)

    async def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        prefix, end = row_of(partition, b""), end_of_rows(partition)
        rows = first_page(page)
        while True:
            scan = service.scan_of(prefix + start, end, rows)
            entries = [
                Entry(result.row[len(prefix) :], record.value)
                for result in await self._gateway.read("getScannerResults", self._table, scan, rows)
                if (record := service.record_of(result)) is not None
            ]
            if entries:
                yield entries
            if len(entries) < rows:
                return
            start = entries[-1].key + b"\0"
            rows = next_page(page, entries)

    async def get_many(self, partition: bytes, keys: Sequence[bytes]) -> list[Versioned | None]:
        found: dict[bytes, Versioned | None] = {}
        for some in batches(list(dict.fromkeys(keys)), most=MAX_KEYS, most_bytes=MAX_BYTES, size=len):
            gets = [service.get_of(row_of(partition, key)) for key in some]
            results = await self._gateway.read("getMultiple", self._table, gets)
            found.update(zip(some, map(service.record_of, results), strict=True))
        return [found[key] for key in keys]

    async def set_many(self, partition: bytes, values: Mapping[bytes, bytes]) -> None:
        for some in batches(list(values.items()), most=MAX_ROWS, most_bytes=MAX_BYTES, size=_size):
            puts = [self._put(partition, key, value, _new_version()) for key, value in some]
            await self._gateway.write("putMultiple", self._table, puts)

    async def delete_many(self, partition: bytes, keys: Iterable[bytes]) -> None:
        for some in batches(list(keys), most=MAX_ROWS, most_bytes=MAX_BYTES, size=len):
            deletes = [service.delete_of(row_of(partition, key), self._durability) for key in some]
            await self._gateway.write("deleteMultiple", self._table, deletes)

    async def aclose(self) -> None:
        await self._gateway.aclose()

    def _put(self, partition: bytes, key: bytes, value: bytes, version: bytes) -> Any:
        return service.put_of(row_of(partition, key), version, value, self._durability)


def _size(entry: tuple[bytes, bytes]) -> int:
    return len(entry[0]) + len(entry[1])


def _new_version() -> bytes:
    return secrets.token_bytes(VERSION)
