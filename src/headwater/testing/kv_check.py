"""The core of the conformance suite against a live database: each promise in a scratch tenant, which is emptied again.

What it runs are the tests of `KVStoreSuite` that need one store and little time, under the sentences of their names.
"""

from __future__ import annotations

import asyncio
import inspect
import linecache
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import msgspec
import pytest

from headwater import kv
from headwater.kv import Operation, Page, Predicate, Store, Versioned
from headwater.kv.limits import MAX_BULK, MAX_PARTITION, PAGE
from headwater.location import parse
from headwater.testing.kv_suite import KVStoreSuite

PATIENCE = 120
"""Seconds that one promise may take: a store in which no swap ever succeeds would go on for ever."""

SCRATCH = "hw-check"
"""What the names of scratch tenants begin with."""


class Core(KVStoreSuite):
    """The suite, with little to scan: whoever checks a live database does not want to load it."""

    many = 300


class Promise(msgspec.Struct, frozen=True):
    """One test of the suite, and all the arguments that it is tried with."""

    name: str
    test: Callable[..., Awaitable[None]]
    arguments: Sequence[dict[str, Any]] = ({},)


class Finding(msgspec.Struct, frozen=True):
    """Whether a promise was kept. Null: it could not be tried here, and *detail* says why."""

    promise: str
    kept: bool | None
    seconds: float
    detail: str = ""
    left_behind: Sequence[str] = ()
    """The tenants that could not be emptied."""


def promises() -> list[Promise]:
    """What is tried, in the order of the suite."""
    found = []
    for name, function in vars(KVStoreSuite).items():
        if not name.startswith("test_") or not inspect.iscoroutinefunction(function):
            continue
        given = _parameters(function)
        needed = set(inspect.signature(function).parameters) - {"self"} - set(given[0])
        if needed <= {"store", "tenant_uri", "credentials"}:
            sentence = name.removeprefix("test_").replace("_", " ")
            found.append(Promise(sentence, getattr(Core(), name), given))
    return found


async def try_promise(promise: Promise, uri: str, credentials: Mapping[str, str]) -> Finding:
    """Try one promise, until it is not kept. Raises what `kv.open` does, where the database cannot be opened."""
    clock = asyncio.get_running_loop().time
    began = clock()
    left_behind = []
    kept: bool | None = None
    detail = ""
    for arguments in promise.arguments:
        tenant = f"{SCRATCH}-{secrets.token_hex(8)}"
        tenant_uri = in_tenant(uri, tenant)
        store = _Recording(await kv.open(tenant_uri, credentials=credentials))
        offered = {"store": store, "tenant_uri": tenant_uri, "credentials": dict(credentials), **arguments}
        kept, detail = await _outcome(promise.test, offered)
        if not await _emptied(store, tenant_uri, credentials):
            left_behind.append(tenant)
        if kept is not True:
            break
    secret = [value for value in (parse(uri).password, *credentials.values()) if value]
    return Finding(promise.name, kept, round(clock() - began, 3), _without(secret, detail), left_behind)


def in_tenant(uri: str, tenant: str) -> str:
    """*uri* with this tenant instead of the one that it may name."""
    parts = urlsplit(uri)
    options = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name != "tenant"]
    return parts._replace(query=urlencode([*options, ("tenant", tenant)], quote_via=quote)).geturl()


async def _outcome(test: Callable[..., Awaitable[None]], offered: Mapping[str, Any]) -> tuple[bool | None, str]:
    wanted = inspect.signature(test).parameters
    try:
        async with asyncio.timeout(PATIENCE):
            await test(**{name: value for name, value in offered.items() if name in wanted})
    except pytest.skip.Exception as skipped:
        return None, str(skipped.msg)
    except kv.LimitExceeded as tighter:
        return None, f"tighter than the contract: {tighter}"
    except TimeoutError:
        return False, f"not done within {PATIENCE} s"
    except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  (whatever a driver raises is a finding)
        return False, _told(error)
    return True, ""


async def _emptied(store: _Recording, tenant_uri: str, credentials: Mapping[str, str]) -> bool:
    """Delete all that was written, with a store of our own: a test may have closed the other. Whether that worked."""
    try:
        async with asyncio.timeout(PATIENCE):
            await store.aclose()
            async with await kv.open(tenant_uri, credentials=credentials) as cleaner:
                for partition in store.partitions:
                    while keys := [entry.key async for page in cleaner.scan(partition) for entry in page]:
                        for first in range(0, len(keys), MAX_BULK):
                            await cleaner.delete_many(partition, keys[first : first + MAX_BULK])
    except Exception:  # noqa: BLE001  (the finding tells; what matters is which tenant is left)
        return False
    return True


def _parameters(function: Callable[..., Any]) -> list[dict[str, Any]]:
    """The arguments that pytest would call *function* with, one after the other."""
    for mark in getattr(function, "pytestmark", ()):
        if mark.name == "parametrize":
            names, values = mark.args
            if isinstance(names, str):
                return [{names: value} for value in values]
            return [dict(zip(names, each, strict=True)) for each in values]
    return [{}]


def _told(error: BaseException) -> str:
    """What went wrong: in the words of the error, and of an assertion the line that does not hold."""
    said = str(error).partition("\n")[0]
    if not isinstance(error, AssertionError):
        return f"{type(error).__name__}: {said}"
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return said
    line = linecache.getline(traceback.tb_frame.f_code.co_filename, traceback.tb_lineno).strip()
    return f"does not hold: {line.removeprefix('assert ')}"


def _without(secrets: Sequence[str], text: str) -> str:
    for secret in secrets:
        text = text.replace(secret, "…")
    return text


class _Recording(Store):
    """A store that remembers in which partitions something was done."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.partitions: dict[bytes, None] = {}

    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        return await self._in(partition).get(partition, key)

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        await self._in(partition).set(partition, key, value)

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        return await self._in(partition).set_if(partition, key, value, predicate)

    async def delete(self, partition: bytes, key: bytes) -> None:
        await self._in(partition).delete(partition, key)

    def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        return self._in(partition).scan(partition, start, page=page)

    async def get_many(self, partition: bytes, keys: Sequence[bytes]) -> list[Versioned | None]:
        return await self._in(partition).get_many(partition, keys)

    async def set_many(self, partition: bytes, values: Mapping[bytes, bytes]) -> None:
        await self._in(partition).set_many(partition, values)

    async def delete_many(self, partition: bytes, keys: Iterable[bytes]) -> None:
        await self._in(partition).delete_many(partition, keys)

    async def pipeline(self, operations: Sequence[Operation]) -> None:
        for operation in operations:
            self._in(operation.partition)
        await self._store.pipeline(operations)

    async def aclose(self) -> None:
        await self._store.aclose()

    def _in(self, partition: bytes) -> Store:
        if 0 < len(partition) <= MAX_PARTITION:
            self.partitions[partition] = None
        return self._store
