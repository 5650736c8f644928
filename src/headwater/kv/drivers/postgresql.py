"""`postgresql://user@host/database`: a store in a PostgreSQL database, one table, one round trip an operation.

A predicate is the row's version, a number that the table's own sequence never gives twice. `docs/kv/postgresql.md` says
what maps to what, and what it costs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import urlencode

import asyncpg  # type: ignore[import-untyped]
import msgspec

from headwater.kv.drivers.batches import batches
from headwater.kv.drivers.postgresql_layout import Statements, checked_schema, make_layout
from headwater.kv.errors import (
    CannotOpen,
    LimitExceeded,
    PredicateFailed,
    SlowDown,
    StoreError,
    StoreUnavailable,
    UnknownOutcome,
)
from headwater.kv.limits import MAX_BULK, PAGE
from headwater.kv.store import ABSENT, Delete, Entry, Operation, Page, Predicate, Set, SetIf, Store, Versioned, after
from headwater.location import Location

ATTEMPTS = 5
"""Times that a statement is sent which the server rolled back because of others: a deadlock has a loser each time."""

MAX_MESSAGE = 16 * 1024 * 1024
"""Bytes of keys and values in one statement: far above a commit's, far below the gigabyte that a server takes."""

_FAILURES = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
"""All that asyncpg raises. A `TimeoutError` is an `OSError`."""

T = TypeVar("T")


class Options(msgspec.Struct, forbid_unknown_fields=True):
    schema: str = "headwater"
    connections: int = 10
    timeout: float = 30.0
    sslmode: str | None = None
    sslrootcert: str | None = None


class Credentials(msgspec.Struct, forbid_unknown_fields=True):
    password: str | None = None


async def connect(location: Location) -> PostgreSQLStore:
    options = location.read_options(Options)
    if options.connections < 1 or options.timeout <= 0:
        raise CannotOpen(f"{location}: connections and timeout must be positive")
    schema = checked_schema(options.schema)
    store = PostgreSQLStore(_pool(location, options), Statements(schema), options.timeout)
    try:
        await store.prepare(schema)
    except BaseException:
        await store.aclose()
        raise
    return store


def _pool(location: Location, options: Options) -> Any:
    """A pool that holds no connection yet. What is left out here asyncpg takes from where libpq would."""
    try:
        password = msgspec.convert(location.credentials, Credentials).password
    except msgspec.ValidationError:
        raise CannotOpen(f"{location}: the credentials of postgresql:// are: password") from None
    tls = {"sslmode": options.sslmode, "sslrootcert": options.sslrootcert}
    return asyncpg.create_pool(
        "postgresql://?" + urlencode({name: value for name, value in tls.items() if value is not None}),
        host=location.host or None,
        port=location.port,
        user=location.user,
        password=location.password if password is None else password,
        database=location.path.removeprefix("/") or None,
        timeout=options.timeout,
        command_timeout=options.timeout,
        target_session_attrs="read-write",
        min_size=0,
        max_size=options.connections,
        max_cached_statement_lifetime=0,
        reset=_nothing_to_reset,
    )


async def _nothing_to_reset(_connection: object) -> None:
    """Our statements leave no state in a session, and asyncpg's way to reset one is a round trip after each of them."""


class PostgreSQLStore(Store):
    def __init__(self, pool: Any, statements: Statements, timeout: float) -> None:
        self._pool = pool
        self._statements = statements
        self._timeout = timeout

    async def prepare(self, schema: str) -> None:
        """Connect for the first time, and make the table and the functions unless they are there."""
        try:
            await self._pool
            async with self._pool.acquire(timeout=self._timeout) as connection:
                await make_layout(connection, schema)
        except asyncpg.InsufficientPrivilegeError as error:
            raise CannotOpen(
                f"{error}: let the owner of the database open the store once, then grant this role what is its part "
                "(docs/kv/postgresql.md)"
            ) from error
        except _FAILURES as error:
            raise _not_opened(error) from error

    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        for version, value in await self._read(self._statements.get, partition, key):
            return Versioned(value, Predicate(version))
        return None

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        await self._write(self._statements.set, partition, key, value)

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        if predicate is ABSENT:
            written = await self._write(self._statements.create, partition, key, value)
        else:
            written = await self._write(self._statements.replace, partition, key, value, predicate)
        for (version,) in written:
            return Predicate(version)
        raise PredicateFailed(partition, key)

    async def delete(self, partition: bytes, key: bytes) -> None:
        await self._write(self._statements.delete, partition, key)

    async def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        while True:
            rows = await self._read(self._statements.scan, partition, start, page)
            if rows:
                yield [Entry(key, value) for key, value in rows]
            if len(rows) < page:
                return
            start = rows[-1]["key"] + b"\0"

    async def get_many(self, partition: bytes, keys: Sequence[bytes]) -> list[Versioned | None]:
        rows = await self._read(self._statements.get_many, partition, keys)
        found = {key: Versioned(value, Predicate(version)) for key, version, value in rows}
        return [found.get(key) for key in keys]

    async def set_many(self, partition: bytes, values: Mapping[bytes, bytes]) -> None:
        # Sorted, here and below, so that two bulk writes lock the rows that they share in one order.
        entries = sorted(values.items())
        for some in _messages(entries, lambda entry: len(entry[0]) + len(entry[1])):
            await self._write(self._statements.set_many, partition, *zip(*some, strict=True))

    async def delete_many(self, partition: bytes, keys: Iterable[bytes]) -> None:
        await self._write(self._statements.delete_many, partition, sorted(keys))

    async def pipeline(self, operations: Sequence[Operation]) -> None:
        """One round trip, one transaction, one fsync. What ran before a failed predicate is committed."""
        done = 0
        for some in _messages(operations, _size):
            steps = zip(*map(_step, some), strict=True)
            with after(done, operations):
                ((failed,),) = await self._write(self._statements.run, *steps)
            if failed is not None:
                raise PredicateFailed(some[failed - 1].partition, some[failed - 1].key)
            done += len(some)

    async def aclose(self) -> None:
        with suppress(*_FAILURES):  # nothing that can go wrong here leaves a connection open: the pool drops them then
            async with asyncio.timeout(self._timeout):
                await self._pool.close()

    async def _read(self, statement: str, *arguments: object) -> list[Any]:
        return await self._run(statement, arguments, writes=False)

    async def _write(self, statement: str, *arguments: object) -> list[Any]:
        return await self._run(statement, arguments, writes=True)

    async def _run(self, statement: str, arguments: Sequence[object], *, writes: bool) -> list[Any]:
        """The rows of *statement*, sent again only when the server says that it rolled it back for others' sake."""
        undone: Exception | None = None
        for _ in range(ATTEMPTS):
            connection = await self._acquire()
            try:
                rows: list[Any] = await connection.fetch(statement, *arguments)
            except (asyncpg.SerializationError, asyncpg.DeadlockDetectedError) as error:
                undone = error
            except _FAILURES as error:
                raise _failure(error, writes=writes) from error
            else:
                return rows
            finally:
                await self._release(connection)
        raise SlowDown(f"PostgreSQL rolled this back {ATTEMPTS} times because of other transactions: {undone}")

    async def _acquire(self) -> Any:
        """A connection of the pool. Nothing was sent when this fails."""
        try:
            return await self._pool.acquire(timeout=self._timeout)
        except asyncpg.TooManyConnectionsError as error:
            raise SlowDown(f"PostgreSQL takes no more connections: {error}") from error
        except TimeoutError as error:
            busy = self._pool.get_size() == self._pool.get_max_size()
            reason = "all connections were busy (connections=)" if busy else "the server did not answer"
            raise (SlowDown if busy else StoreUnavailable)(f"no connection in {self._timeout:g} s: {reason}") from error
        except _FAILURES as error:
            raise StoreUnavailable(f"no connection to PostgreSQL: {_reason(error)}") from error

    async def _release(self, connection: Any) -> None:
        """Give *connection* back. If its session is not sound, say because the caller was cancelled, it is ended."""
        with suppress(*_FAILURES):  # the statement's own outcome is what counts; the pool has dropped the connection
            await self._pool.release(connection)


def _messages(items: Sequence[T], size: Callable[[T], int]) -> Iterator[Sequence[T]]:
    return batches(items, most=MAX_BULK, most_bytes=MAX_MESSAGE, size=size)


def _step(operation: Operation) -> tuple[str, bytes, bytes, object, bytes | None]:
    """An operation as `run_1` takes it: kind, partition, key, version, value."""
    match operation:
        case Set(partition, key, value):
            return "set", partition, key, None, value
        case SetIf(partition, key, value, predicate) if predicate is ABSENT:
            return "create", partition, key, None, value
        case SetIf(partition, key, value, predicate):
            return "replace", partition, key, predicate, value
        case Delete(partition, key):
            return "delete", partition, key, None, None


def _size(operation: Operation) -> int:
    value = b"" if isinstance(operation, Delete) else operation.value
    return len(operation.partition) + len(operation.key) + len(value)


def _failure(error: Exception, *, writes: bool) -> StoreError:
    """What a statement that was sent and failed means for its caller.

    An ERROR comes from a server that lives on and has rolled the statement back: nothing was written. Anything else
    (the connection broke, the session was ended, the answer is late) says nothing of a commit a moment before it.
    """
    state: str = getattr(error, "sqlstate", None) or ""
    if isinstance(error, asyncpg.InterfaceError):  # asyncpg's own refusal to send: its connection was closed meanwhile
        return StoreUnavailable(f"no connection to PostgreSQL: {_reason(error)}")
    if getattr(error, "severity_en", None) == "ERROR" and not state.startswith(_UNDECIDED):
        if state.startswith("54"):
            return LimitExceeded(f"a limit of PostgreSQL: {_reason(error)}")
        return StoreUnavailable(f"PostgreSQL refused: {_reason(error)}")
    if writes:
        return UnknownOutcome(f"the answer of PostgreSQL to a write never came: {_reason(error)}")
    return StoreUnavailable(f"the answer of PostgreSQL never came: {_reason(error)}")


_UNDECIDED = ("08", "40003")
"""States by which a pooler or a cluster before the database says that it does not know what became of a statement."""

_UNFIT = ("28", "3D", "42", "0A")
"""States that trying again will not change: who we are, which database, what it knows and lets us do."""


def _not_opened(error: Exception) -> StoreError:
    """What a first connection that failed means: a wrong URI or database, or one that cannot be reached just now."""
    state: str = getattr(error, "sqlstate", None) or ""
    if isinstance(error, asyncpg.TargetServerAttributeNotMatched):
        return CannotOpen("this PostgreSQL is read-only or a standby: name the primary")
    if isinstance(error, asyncpg.ClientConfigurationError) or state.startswith(_UNFIT):
        return CannotOpen(f"PostgreSQL: {_reason(error)}")
    if isinstance(error, asyncpg.TooManyConnectionsError):
        return SlowDown(f"PostgreSQL takes no more connections: {_reason(error)}")
    return StoreUnavailable(f"no connection to PostgreSQL: {_reason(error)}")


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
