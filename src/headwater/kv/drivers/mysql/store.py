"""The store over MariaDB or MySQL."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import asyncmy
import msgspec

from headwater.kv.drivers import tls
from headwater.kv.drivers.batches import batches
from headwater.kv.drivers.mysql import statements
from headwater.kv.drivers.mysql.failures import (
    FAILURES,
    failure,
    not_connected,
    was_never_sent,
    was_rolled_back_for_others,
)
from headwater.kv.drivers.sessions import Sessions
from headwater.kv.errors import CannotOpen, PredicateFailed, SlowDown, StoreUnavailable
from headwater.kv.limits import PAGE
from headwater.kv.store import ABSENT, Delete, Entry, Operation, Page, Predicate, Store, Versioned, after
from headwater.location import Location

ATTEMPTS = 5
"""Times that a statement is sent which the server rolled back because of others: a deadlock has a loser each time."""

MAX_MESSAGE = 4 * 1024 * 1024
"""Bytes of keys and values in one statement. As hexadecimal literals they are twice as many."""

MIN_PACKET = 16 * 1024 * 1024
"""Bytes that the server must take in a statement: MariaDB's default, a fourth of MySQL's, enough for `MAX_MESSAGE`."""

VERSION_BYTES = 16

T = TypeVar("T")
Rows = Sequence[tuple[Any, ...]]


class Options(msgspec.Struct, forbid_unknown_fields=True):
    connections: int = 10
    timeout: float = 30.0
    ssl_mode: tls.Mode = "disabled"
    ssl_ca: str | None = None


class Credentials(msgspec.Struct, forbid_unknown_fields=True):
    password: str | None = None


class Answer(msgspec.Struct, frozen=True):
    """Of a statement: the rows that it has read, or how many it has written."""

    rows: Rows
    written: int


async def connect(location: Location) -> MySQLStore:
    options = location.read_options(Options)
    if options.connections < 1 or options.timeout <= 0:
        raise CannotOpen(f"{location}: connections and timeout must be positive")
    if not location.host or not location.path.strip("/") or not location.user:
        raise CannotOpen(f"{location}: write mysql://user@host/database")
    store = MySQLStore(_sessions(location, options), options.timeout)
    try:
        await store.prepare()
    except BaseException:
        await store.aclose()
        raise
    return store


def _sessions(location: Location, options: Options) -> Sessions[Any]:
    try:
        password = msgspec.convert(location.credentials, Credentials).password
    except msgspec.ValidationError:
        raise CannotOpen(f"{location}: the credentials of mysql:// are: password") from None
    encryption = tls.context(location, options.ssl_mode, options.ssl_ca)

    async def open_session() -> Any:
        session = None
        try:
            async with asyncio.timeout(options.timeout):
                session = await asyncmy.connect(
                    host=location.host,
                    port=location.port or 3306,
                    user=location.user,
                    password=(location.password if password is None else password) or "",
                    database=location.path.strip("/"),
                    charset="utf8mb4",
                    autocommit=None,
                    ssl=encryption,
                )
                await _begin(session, lock_seconds=max(1, int(options.timeout / 2)))
        except FAILURES as error:
            await close(session)
            raise not_connected(error) from error
        except BaseException:
            await close(session)
            raise
        return session

    async def usable(session: Any) -> bool:
        return bool(session.connected)

    async def close(session: Any) -> None:
        """At once, without the farewell of the protocol, which might never be answered."""
        if session is not None:
            session.close()

    return Sessions(open_session, usable, close, most=options.connections, timeout=options.timeout)


async def _begin(session: Any, lock_seconds: int) -> None:
    """Make a new session ours, and see that it leads to a server that takes writes."""
    ((read_only, packet),) = (await _ask(session, statements.begin_session(lock_seconds))).rows
    if read_only:
        raise CannotOpen("this MySQL is read-only, as a replica is: name the primary")
    if packet < MIN_PACKET:
        raise CannotOpen(f"max_allowed_packet of this MySQL is {packet}: set it to {MIN_PACKET} at least")


class MySQLStore(Store):
    def __init__(self, sessions: Sessions[Any], timeout: float) -> None:
        self._sessions = sessions
        self._timeout = timeout

    async def prepare(self) -> None:
        """Connect for the first time, and make the table unless it is there."""
        try:
            if not (await self._read(statements.IS_THERE)).rows:
                await self._write(statements.MAKE)
        except StoreUnavailable as error:
            if "denied" in str(error):
                raise CannotOpen(
                    f"{error}: let who may create tables open the store once (docs/kv/mysql.md)"
                ) from error
            raise

    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        for _, version, value in (await self._read(statements.get(partition, [key]))).rows:
            return Versioned(value, Predicate(version))
        return None

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        await self._write(statements.put(partition, [(key, _new_version(), value)]))

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        version = _new_version()
        if predicate is ABSENT:
            answer = await self._write(statements.create(partition, key, version, value))
        else:
            answer = await self._write(statements.replace(partition, key, version, value, predicate))
        if not answer.written:
            raise PredicateFailed(partition, key)
        return Predicate(version)

    async def delete(self, partition: bytes, key: bytes) -> None:
        await self._write(statements.delete(partition, [key]))

    async def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        while True:
            rows = (await self._read(statements.scan(partition, start, page))).rows
            if rows:
                yield [Entry(key, value) for key, value in rows]
            if len(rows) < page:
                return
            start = rows[-1][0] + b"\0"

    async def get_many(self, partition: bytes, keys: Sequence[bytes]) -> list[Versioned | None]:
        found: dict[bytes, Versioned] = {}
        for some in _messages(sorted(set(keys)), len):
            for key, version, value in (await self._read(statements.get(partition, some))).rows:
                found[key] = Versioned(value, Predicate(version))
        return [found.get(key) for key in keys]

    async def set_many(self, partition: bytes, values: Mapping[bytes, bytes]) -> None:
        # Sorted, here and below, so that two bulk writes lock the rows that they share in one order.
        entries = [(key, _new_version(), values[key]) for key in sorted(values)]
        for some in _messages(entries, lambda entry: len(entry[0]) + len(entry[2])):
            await self._write(statements.put(partition, some))

    async def delete_many(self, partition: bytes, keys: Iterable[bytes]) -> None:
        for some in _messages(sorted(keys), len):
            await self._write(statements.delete(partition, some))

    async def pipeline(self, operations: Sequence[Operation]) -> None:
        """One round trip, one transaction, one flush. What ran before a failed predicate is committed."""
        done = 0
        for some in _messages(operations, _size):
            with after(done, operations):
                answer = await self._write(statements.pipeline(some, [_new_version() for _ in some]))
            ((failed,),) = answer.rows
            if failed:
                raise PredicateFailed(some[failed - 1].partition, some[failed - 1].key)
            done += len(some)

    async def aclose(self) -> None:
        await self._sessions.aclose()

    async def _read(self, statement: str) -> Answer:
        return await self._run(statement, writes=False)

    async def _write(self, statement: str) -> Answer:
        return await self._run(statement, writes=True)

    async def _run(self, statement: str, *, writes: bool) -> Answer:
        """Send *statement*, and again only if the server rolled it back for others' sake or it was never sent."""
        undone: Exception | None = None
        for _ in range(ATTEMPTS):
            try:
                async with self._sessions.session() as session, asyncio.timeout(self._timeout):
                    return await _ask(session, statement)
            except FAILURES as error:
                undone = error
                if was_never_sent(error):
                    await self._sessions.drop_idle()  # the server has ended the others, too
                elif not was_rolled_back_for_others(error):
                    raise failure(error, writes=writes) from error
        raise SlowDown(f"MySQL did not do this {ATTEMPTS} times because of others: {undone}")


async def _ask(session: Any, statements: str) -> Answer:
    """The last answer of a text of one or more statements. The first that fails is the last that is run."""
    async with session.cursor() as cursor:
        written = await cursor.execute(statements)
        while await cursor.nextset():
            written = cursor.rowcount
        return Answer(await cursor.fetchall() if cursor.description else (), written)


def _messages(items: Sequence[T], size: Callable[[T], int]) -> Iterator[Sequence[T]]:
    return batches(items, most=len(items), most_bytes=MAX_MESSAGE, size=size)


def _size(operation: Operation) -> int:
    value = b"" if isinstance(operation, Delete) else operation.value
    return len(operation.partition) + len(operation.key) + len(value)


def _new_version() -> bytes:
    return secrets.token_bytes(VERSION_BYTES)
