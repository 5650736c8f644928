"""The store over Redis."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from redis import exceptions as redis
from redis.asyncio.connection import Connection

from headwater.kv.drivers.batches import batches
from headwater.kv.drivers.redis import scripts
from headwater.kv.drivers.redis.scripts import VERSION_BYTES, Script, names, write_arguments
from headwater.kv.drivers.redis.server import FAILURES, Options, ask, reason, sessions
from headwater.kv.drivers.sessions import Sessions
from headwater.kv.errors import CannotOpen, PredicateFailed, StoreError, StoreUnavailable, UnknownOutcome
from headwater.kv.limits import PAGE
from headwater.kv.store import (
    Delete,
    Entry,
    Operation,
    Page,
    Predicate,
    Set,
    SetIf,
    Store,
    Versioned,
    after,
)
from headwater.location import Location

MAX_OPERATIONS = 1_000
"""Operations in one script. Redis does nothing else meanwhile: this many take it a few milliseconds."""

MAX_MESSAGE = 8 * 1024 * 1024
"""Bytes of keys and values in one script, for the same reason."""


async def connect(location: Location) -> RedisStore:
    options = location.read_options(Options)
    if options.connections < 1 or options.timeout <= 0:
        raise CannotOpen(f"{location}: connections and timeout must be positive")
    store = RedisStore(sessions(location, options), options.timeout)
    try:
        await store.get(b"\0", b"\0")  # connects, and looks whether the server is fit
    except BaseException:
        await store.aclose()
        raise
    return store


class RedisStore(Store):
    def __init__(self, sessions: Sessions[Connection], timeout: float) -> None:
        self._sessions = sessions
        self._timeout = timeout

    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        return _versioned(await self._call(b"HGET", names(partition)[0], key, writes=False))

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        await self._write([Set(partition, key, value)], [_new_version()])

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        version = _new_version()
        if await self._write([SetIf(partition, key, value, predicate)], [version]):
            raise PredicateFailed(partition, key)
        return Predicate(version)

    async def delete(self, partition: bytes, key: bytes) -> None:
        await self._write([Delete(partition, key)], [b""])

    async def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        first = b"[" + start if start else b"-"
        while True:
            found = await self._run(scripts.PAGE, names(partition), (first, b"%d" % page), writes=False)
            keys, records = found[::2], found[1::2]
            if keys:
                yield [Entry(key, record[VERSION_BYTES:]) for key, record in zip(keys, records, strict=True)]
            if len(keys) < page:
                return
            first = b"(" + keys[-1]

    async def get_many(self, partition: bytes, keys: Sequence[bytes]) -> list[Versioned | None]:
        found: list[Versioned | None] = []
        for some in batches(keys, most=MAX_OPERATIONS, most_bytes=MAX_MESSAGE, size=len):
            records = await self._call(b"HMGET", names(partition)[0], *some, writes=False)
            found += map(_versioned, records)
        return found

    async def set_many(self, partition: bytes, values: Mapping[bytes, bytes]) -> None:
        for some in _messages([Set(partition, key, value) for key, value in values.items()]):
            await self._write(some, _new_versions(some))

    async def delete_many(self, partition: bytes, keys: Iterable[bytes]) -> None:
        for some in _messages([Delete(partition, key) for key in keys]):
            await self._write(some, _new_versions(some))

    async def pipeline(self, operations: Sequence[Operation]) -> None:
        """One round trip, one script, one flush for each thousand. What ran before a failed predicate stays."""
        done = 0
        for some in _messages(operations):
            with after(done, operations):
                failed = await self._write(some, _new_versions(some))
            if failed:
                raise PredicateFailed(some[failed - 1].partition, some[failed - 1].key)
            done += len(some)

    async def aclose(self) -> None:
        await self._sessions.aclose()

    async def _write(self, operations: Sequence[Operation], versions: Sequence[bytes]) -> int:
        """Run *operations* in one step. The number of the one whose predicate did not hold, or 0."""
        keys, arguments = write_arguments(operations, versions)
        failed: int = await self._run(scripts.WRITE, keys, arguments, writes=True)
        return failed

    async def _run(self, script: Script, keys: Sequence[bytes], arguments: Sequence[bytes], *, writes: bool) -> Any:
        """Run *script*, by its name if Redis knows it. When it does not, it has certainly not run."""
        count = b"%d" % len(keys)
        try:
            return await self._call(b"EVALSHA", script.digest, count, *keys, *arguments, writes=writes)
        except _NotKnown:
            return await self._call(b"EVAL", script.text, count, *keys, *arguments, writes=writes)

    async def _call(self, *command: bytes, writes: bool) -> Any:
        answer: Any = None
        try:
            async with self._sessions.session() as session, asyncio.timeout(self._timeout):
                try:
                    answer = await ask(session, *command)
                except redis.ResponseError as error:  # an answer like any other: the session is sound
                    answer = error
        except FAILURES as error:
            raise _failure(error, writes=writes) from error
        if isinstance(answer, redis.ResponseError):
            raise _refusal(answer, writes=writes) from answer
        return answer


class _NotKnown(StoreUnavailable):
    """Redis does not know the script: it has restarted, or is another one, or somebody flushed its scripts."""


def _refusal(error: redis.ResponseError, *, writes: bool) -> StoreError:
    """What an answer that is an error means.

    Before the first write of a script Redis looks whether it may write at all: its memory, its disk, its role. After
    that it goes through, unless a key is not of our kind; then the operations before are done, and this one half.
    """
    said = reason(error)
    if isinstance(error, redis.NoScriptError):
        return _NotKnown(f"Redis: {said}")
    if writes and said.startswith(("WRONGTYPE", "ERR Error running", "UNKILLABLE")):
        return UnknownOutcome(f"Redis broke off in the middle of a write: {said}")
    return StoreUnavailable(f"Redis refused: {said}")


def _failure(error: Exception, *, writes: bool) -> StoreError:
    """What a command that was sent and not answered means."""
    if isinstance(error, redis.BusyLoadingError):
        return StoreUnavailable(f"Redis is still starting: {reason(error)}")
    if writes:
        return UnknownOutcome(f"the answer of Redis to a write never came: {reason(error)}")
    return StoreUnavailable(f"the answer of Redis never came: {reason(error)}")


def _messages(operations: Sequence[Operation]) -> Iterator[Sequence[Operation]]:
    return batches(operations, most=MAX_OPERATIONS, most_bytes=MAX_MESSAGE, size=_size)


def _size(operation: Operation) -> int:
    value = b"" if isinstance(operation, Delete) else operation.value
    return len(operation.partition) + len(operation.key) + len(value)


def _versioned(record: bytes | None) -> Versioned | None:
    if record is None:
        return None
    return Versioned(record[VERSION_BYTES:], Predicate(record[:VERSION_BYTES]))


def _new_version() -> bytes:
    return secrets.token_bytes(VERSION_BYTES)


def _new_versions(operations: Sequence[Operation]) -> list[bytes]:
    return [_new_version() for _ in operations]
