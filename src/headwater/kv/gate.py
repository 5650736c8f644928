"""What stands before every driver: the contract's limits, and the prefix that keeps tenants apart.

Both are here once, so that all drivers refuse alike and a new driver thinks of neither.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from headwater.kv.errors import CannotOpen, LimitExceeded, PredicateFailed, StoreUnavailable
from headwater.kv.limits import MAX_BULK, MAX_KEY, MAX_PAGE, MAX_PARTITION, MAX_TENANT, MAX_VALUE, PAGE
from headwater.kv.store import Delete, Operation, Page, Predicate, Store, Versioned

_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def tenant_prefix(tenant: str) -> bytes:
    """What the partitions of *tenant* begin with; the empty name is the tenant of those who ask for none."""
    if tenant and (len(tenant) > MAX_TENANT or not _TENANT.fullmatch(tenant)):
        raise CannotOpen(
            f"tenant {tenant[:80]!r}: a tenant's name has 1 to {MAX_TENANT} letters, digits, '.', '_' and '-', "
            "and starts with a letter or digit"
        )
    return bytes([len(tenant)]) + tenant.encode()


class Gate(Store):
    """A driver's store as one tenant sees it: whole, and alone.

    A stored partition is `length of the tenant (1 byte) + tenant + partition`. The length makes it self-delimiting, so
    no tenant, the nameless one included, can name a partition of another.
    """

    def __init__(self, driver: Store, prefix: bytes) -> None:
        self._driver = driver
        self._prefix = prefix
        self._closed = False
        self.immediate = driver.immediate

    # The plain methods hand on the driver's own coroutine: the gate costs a check and no extra frame.

    def get(self, partition: bytes, key: bytes) -> Coroutine[Any, Any, Versioned | None]:
        return self._driver.get(self._inside(partition), _checked_key(key))

    def set(self, partition: bytes, key: bytes, value: bytes) -> Coroutine[Any, Any, None]:
        return self._driver.set(self._inside(partition), _checked_key(key), _checked_value(key, value))

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        inside = self._inside(partition)
        try:
            return await self._driver.set_if(inside, _checked_key(key), _checked_value(key, value), predicate)
        except PredicateFailed as failed:
            raise self._outside(failed) from None

    def delete(self, partition: bytes, key: bytes) -> Coroutine[Any, Any, None]:
        return self._driver.delete(self._inside(partition), _checked_key(key))

    def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        if not 1 <= page <= MAX_PAGE:
            raise LimitExceeded(f"page={page}: a page of a scan has 1 to {MAX_PAGE} entries")
        if len(start) > MAX_KEY:
            raise LimitExceeded(f"the start of a scan has {len(start)} bytes; a key has at most {MAX_KEY}")
        return self._driver.scan(self._inside(partition), start, page=page)

    def get_many(self, partition: bytes, keys: Sequence[bytes]) -> Coroutine[Any, Any, list[Versioned | None]]:
        _check_bulk(len(keys))
        for key in keys:
            _checked_key(key)
        return self._driver.get_many(self._inside(partition), keys)

    def set_many(self, partition: bytes, values: Mapping[bytes, bytes]) -> Coroutine[Any, Any, None]:
        _check_bulk(len(values))
        for key, value in values.items():
            _checked_value(_checked_key(key), value)
        return self._driver.set_many(self._inside(partition), values)

    def delete_many(self, partition: bytes, keys: Iterable[bytes]) -> Coroutine[Any, Any, None]:
        distinct = dict.fromkeys(keys)
        _check_bulk(len(distinct))
        for key in distinct:
            _checked_key(key)
        return self._driver.delete_many(self._inside(partition), distinct)

    async def pipeline(self, operations: Sequence[Operation]) -> None:
        _check_bulk(len(operations))
        inside = [msgspec.structs.replace(op, partition=self._inside(op.partition)) for op in operations]
        for op in inside:
            _checked_key(op.key)
            if not isinstance(op, Delete):
                _checked_value(op.key, op.value)
        try:
            await self._driver.pipeline(inside)
        except PredicateFailed as failed:
            raise self._outside(failed) from None

    async def aclose(self) -> None:
        if not self._closed:
            self._closed = True
            await self._driver.aclose()

    def _inside(self, partition: bytes) -> bytes:
        if self._closed:
            raise StoreUnavailable("this store was closed: open it again")
        if not 0 < len(partition) <= MAX_PARTITION:
            raise LimitExceeded(
                f"partition {partition[:64]!r} has {len(partition)} bytes; it must have 1 to {MAX_PARTITION}"
            )
        return self._prefix + partition

    def _outside(self, failed: PredicateFailed) -> PredicateFailed:
        """The same failure in the caller's own words: the tenant's prefix is none of its business."""
        return PredicateFailed(failed.partition.removeprefix(self._prefix), failed.key)


def _checked_key(key: bytes) -> bytes:
    if not 0 < len(key) <= MAX_KEY:
        raise LimitExceeded(f"key {key[:64]!r}… has {len(key)} bytes; it must have 1 to {MAX_KEY}")
    return key


def _checked_value(key: bytes, value: bytes) -> bytes:
    if len(value) > MAX_VALUE:
        raise LimitExceeded(
            f"the value of {key[:64]!r} has {len(value)} bytes, {MAX_VALUE} at most: keep it in the object store"
        )
    return value


def _check_bulk(count: int) -> None:
    if count > MAX_BULK:
        raise LimitExceeded(f"a bulk call names {count} keys; {MAX_BULK} at most: split it")
