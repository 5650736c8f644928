"""`mysql://` against a real MariaDB, and through a proxy that breaks connections at chosen moments."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncmy
import pytest

from dev.servers import mariadb
from dev.servers.mariadb import MariaDB
from headwater import kv
from headwater.kv import ABSENT, Delete, Set, SetIf, Store
from headwater.kv.limits import MAX_VALUE
from headwater.testing.kv_suite import KVStoreSuite, P, scanned, value_of
from tests.conftest import Servers
from tests.kv.broken_connections import BrokenConversations

pytestmark = pytest.mark.anyio


@pytest.fixture
def server(servers: Servers) -> MariaDB:
    return servers.start("mariadb", mariadb.serve)


class TestMySQL(KVStoreSuite):
    @pytest.fixture
    def uri(self, server: MariaDB) -> str:
        return server.uri

    @pytest.fixture
    def credentials(self, server: MariaDB) -> dict[str, str]:
        return server.credentials


class TestMySQLOverABadNetwork(BrokenConversations):
    @pytest.fixture
    def port(self, server: MariaDB) -> int:
        self.credentials = server.credentials
        return server.port

    async def opened(self, port: int, tenant: str, *, patience: float, connections: int) -> Store:
        options = f"timeout={patience}&connections={connections}&tenant={tenant}"
        return await kv.open(f"mysql://headwater@127.0.0.1:{port}/headwater?{options}", credentials=self.credentials)


@asynccontextmanager
async def session(server: MariaDB) -> AsyncIterator[Any]:
    connection = await asyncmy.connect(
        host="127.0.0.1", port=server.port, user="headwater", password=server.password, database="headwater"
    )
    try:
        yield connection
    finally:
        connection.close()


@pytest.fixture
async def admin(server: MariaDB) -> AsyncIterator[Any]:
    """A session of the administrator's own, beside the store's."""
    async with session(server) as admin:
        yield admin


async def ask(admin: Any, statement: str, *values: object) -> Any:
    async with admin.cursor() as cursor:
        await cursor.execute(statement, values or None)
        return await cursor.fetchall()


@pytest.fixture
async def database(admin: Any) -> AsyncIterator[str]:
    """A database of one test's own, in which the administrator's session is, too."""
    name = f"d{uuid4().hex[:12]}"
    await ask(admin, f"create database {name}")
    await ask(admin, f"use {name}")
    yield name
    await ask(admin, f"drop database {name}")


async def opened(server: MariaDB, database: str, options: str = "connections=2", *, user: str = "headwater") -> Store:
    uri = f"mysql://{user}@127.0.0.1:{server.port}/{database}?{options}"
    return await kv.open(uri, credentials=server.credentials)


@pytest.fixture
async def store(server: MariaDB, database: str) -> AsyncIterator[Store]:
    async with await opened(server, database) as store:
        yield store


def writes(store: Store) -> list[Callable[[], Awaitable[object]]]:
    """Every way to write a key that is not there."""
    return [
        lambda: store.set(P, b"key", b""),
        lambda: store.set_if(P, b"key", b"", ABSENT),
        lambda: store.set_many(P, {b"key": b""}),
        lambda: store.pipeline([Set(P, b"key", b"")]),
        lambda: store.pipeline([SetIf(P, b"key", b"", ABSENT)]),
    ]


async def test_bulk_calls_of_more_bytes_than_a_message_holds(store: Store) -> None:
    values = {b"%02d" % number: os.urandom(MAX_VALUE) for number in range(25)}
    await store.set_many(P, values)
    assert await scanned(store) == values
    with pytest.raises(kv.PredicateFailed) as refused:
        await store.pipeline(
            [
                *(Set(P, key, value[::-1]) for key, value in values.items()),
                SetIf(P, b"00", b"", ABSENT),
                Delete(P, b"01"),
            ]
        )
    assert refused.value.key == b"00"
    assert await scanned(store) == {key: value[::-1] for key, value in values.items()}


async def test_a_page_of_a_scan_reads_a_page(store: Store, admin: Any) -> None:
    await store.set_many(P, {b"%05d" % number: b"" for number in range(5_000)})
    (plan,) = await ask(
        admin,
        "explain select entry_key, value from headwater_kv_1 "
        "where partition_name = x'00706172746974696f6e' and entry_key >= '02000' order by entry_key limit 10",
    )
    assert "range" in plan
    assert not any("filesort" in str(column) for column in plan)


# What other sessions do


@asynccontextmanager
async def blocked(admin: Any) -> AsyncIterator[None]:
    """While this lasts, nobody else writes the key `locked`."""
    await ask(admin, "start transaction")
    await ask(admin, "select version from headwater_kv_1 where entry_key = 'locked' for update")
    yield
    await ask(admin, "rollback")


async def waiting(server: MariaDB, database: str) -> int:
    """The session of this database that waits for a lock, once there is one.

    It asks the counter of waits and the list of sessions: InnoDB's own list of transactions is a snapshot that is not
    made anew while somebody keeps asking for it.
    """
    async with session(server) as observer, asyncio.timeout(30):
        await observer.autocommit(True)  # noqa: FBT003  (asyncmy's)
        while True:
            found = await ask(
                observer,
                "select id from information_schema.processlist where db = %s and command <> 'Sleep' and exists "
                "(select 1 from information_schema.global_status "
                "where variable_name = 'innodb_row_lock_current_waits' and variable_value > 0)",
                database,
            )
            if found:
                thread: int = found[0][0]
                return thread


async def test_a_write_that_waits_too_long_for_another_has_certainly_not_happened(
    server: MariaDB, store: Store, admin: Any, database: str
) -> None:
    await store.set(P, b"locked", b"old")
    async with await opened(server, database, "timeout=4") as hasty:
        async with blocked(admin):
            with pytest.raises(kv.SlowDown, match="Lock wait timeout"):
                await hasty.set(P, b"locked", b"new")
            with pytest.raises(kv.SlowDown, match="Lock wait timeout"):
                await hasty.pipeline([Set(P, b"other", b""), Set(P, b"locked", b"new")])
        assert await scanned(store) == {b"locked": b"old"}


async def test_a_statement_that_the_administrator_cancels_has_written_nothing(
    server: MariaDB, store: Store, admin: Any, database: str
) -> None:
    await store.set(P, b"locked", b"old")
    async with blocked(admin):
        write = asyncio.create_task(store.set(P, b"locked", b"new"))
        await ask(admin, f"kill query {await waiting(server, database)}")
        with pytest.raises(kv.StoreUnavailable, match="interrupted"):
            await write
    assert await value_of(store, b"locked") == b"old"


async def test_a_session_that_is_ended_in_a_write_leaves_its_outcome_unknown(
    server: MariaDB, store: Store, admin: Any, database: str
) -> None:
    await store.set(P, b"locked", b"old")
    async with blocked(admin):
        write = asyncio.create_task(store.set(P, b"locked", b"new"))
        await ask(admin, f"kill connection {await waiting(server, database)}")
        with pytest.raises(kv.UnknownOutcome):
            await write


async def test_when_all_connections_stay_busy_the_store_says_to_slow_down(
    server: MariaDB, store: Store, admin: Any, database: str
) -> None:
    await store.set(P, b"locked", b"old")
    async with await opened(server, database, "connections=1&timeout=2") as narrow:
        async with blocked(admin):
            write = asyncio.create_task(narrow.set(P, b"locked", b"new"))
            await waiting(server, database)
            with pytest.raises(kv.SlowDown, match=r"busy|Lock wait"):
                await asyncio.gather(narrow.get(P, b"locked"), write)
            with pytest.raises(kv.SlowDown):
                await write
        assert await value_of(narrow, b"locked") == b"old"


async def test_the_loser_of_a_deadlock_tries_again(server: MariaDB, store: Store, admin: Any, database: str) -> None:
    """The administrator's transaction is the heavier one, so the pipeline is the one that is rolled back."""
    heavy = {b"heavy/%03d" % number: b"" for number in range(200)}
    await store.set_many(P, {b"first": b"old", b"second": b"old"} | heavy)
    ours = "update headwater_kv_1 set value = 'ours' where partition_name = concat(x'00', 'partition')"
    await ask(admin, "start transaction")
    await ask(admin, f"{ours} and entry_key like 'heavy/%'")
    await ask(admin, f"{ours} and entry_key = 'second'")
    writing = asyncio.create_task(store.pipeline([Set(P, b"first", b"new"), Set(P, b"second", b"new")]))
    await waiting(server, database)
    await ask(admin, f"{ours} and entry_key = 'first'")
    await ask(admin, "commit")
    await writing
    assert [await value_of(store, key) for key in (b"first", b"second")] == [b"new", b"new"]


async def test_idle_connections_that_the_server_has_ended_are_replaced(
    server: MariaDB, admin: Any, database: str
) -> None:
    async with await opened(server, database, "connections=8") as store:
        await asyncio.gather(*(store.set(P, b"%d" % number, b"") for number in range(8)))
        found = await ask(
            admin, "select id from information_schema.processlist where db = %s and id <> connection_id()", database
        )
        for (thread,) in found:
            await ask(admin, f"kill connection {thread}")
        ended = ", ".join(str(thread) for (thread,) in found)
        async with asyncio.timeout(30):
            while await ask(admin, f"select id from information_schema.processlist where id in ({ended})"):  # noqa: S608
                pass
        await store.set_if(P, b"key", b"value", ABSENT)
        assert await value_of(store, b"key") == b"value"


# What the server refuses


@pytest.mark.parametrize(
    ("signal", "expected"),
    [
        ("'45000' set mysql_errno = 1021", kv.StoreUnavailable),  # the disk is full
        ("'45000' set mysql_errno = 1290", kv.StoreUnavailable),  # the server turned read-only
        ("'22001' set mysql_errno = 1406", kv.LimitExceeded),
        ("'40001' set mysql_errno = 1213", kv.SlowDown),  # a deadlock, each time
        ("'45000' set mysql_errno = 1180", kv.UnknownOutcome),  # an error in the middle of a commit
        ("'HY000' set mysql_errno = 2013", kv.UnknownOutcome),  # a proxy lost its server
        ("'HY000' set mysql_errno = 2006", kv.UnknownOutcome),  # the same, as others say it
    ],
)
async def test_an_error_says_what_is_certain_of_a_write(
    store: Store, admin: Any, signal: str, expected: type[kv.StoreError]
) -> None:
    await ask(
        admin,
        "create trigger refuse before insert on headwater_kv_1 for each row "
        f"signal sqlstate {signal}, message_text = 'made up'",
    )
    for write in writes(store):
        with pytest.raises(expected, match="made up") as refused:
            await write()
        assert type(refused.value) is expected
    assert await scanned(store) == {}


async def test_a_pipeline_that_fails_after_its_first_message_has_an_unknown_outcome(store: Store, admin: Any) -> None:
    await ask(
        admin,
        "create trigger refuse before insert on headwater_kv_1 for each row "
        "if new.entry_key = 'last' then "
        "signal sqlstate '45000' set mysql_errno = 1021, message_text = 'made up'; end if",
    )
    value = os.urandom(MAX_VALUE)
    operations = [*(Set(P, b"%02d" % number, value) for number in range(15)), Set(P, b"last", value)]
    with pytest.raises(kv.UnknownOutcome, match=r"of 16 operations were done, then: .*made up"):
        await store.pipeline(operations)
    assert 0 < len(await scanned(store)) < 16


# Opening


@pytest.fixture
async def reader(server: MariaDB, admin: Any, database: str) -> AsyncIterator[str]:
    """One who may read and write what is there, and make nothing."""
    name = f"u{uuid4().hex[:12]}"
    await ask(admin, f"create user {name}@'127.0.0.1' identified by '{server.password}'")
    await ask(admin, f"grant select, insert, update, delete on {database}.* to {name}@'127.0.0.1'")
    yield name
    await ask(admin, f"drop user {name}@'127.0.0.1'")


async def test_who_may_not_create_tables_is_told_so_and_uses_what_was_made(
    server: MariaDB, database: str, reader: str
) -> None:
    with pytest.raises(kv.CannotOpen, match="create tables"):
        await opened(server, database, user=reader)
    await (await opened(server, database)).aclose()
    async with await opened(server, database, user=reader) as store:
        held = await store.set_if(P, b"key", b"1", ABSENT)
        await store.pipeline([Set(P, b"other", b""), SetIf(P, b"key", b"2", held), Delete(P, b"nobody")])
        assert await scanned(store) == {b"key": b"2", b"other": b""}


async def test_who_has_too_many_sessions_is_told_to_slow_down(
    server: MariaDB, store: Store, admin: Any, database: str, reader: str
) -> None:
    await store.set(P, b"locked", b"")
    await ask(admin, f"grant usage on *.* to {reader}@'127.0.0.1' with max_user_connections 1")
    async with await opened(server, database, user=reader) as narrow:
        async with blocked(admin):
            write = asyncio.create_task(narrow.set(P, b"locked", b"new"))
            await waiting(server, database)
            with pytest.raises(kv.SlowDown, match="max_user_connections"):
                await narrow.get(P, b"other")
        await write


async def test_many_may_open_a_new_database_at_once(server: MariaDB, database: str) -> None:
    stores = await asyncio.gather(*(opened(server, database) for _ in range(8)))
    for number, store in enumerate(stores):
        await store.set(P, b"%02d" % number, b"")
    assert len(await scanned(stores[0])) == 8
    for store in stores:
        await store.aclose()


async def test_a_read_only_server_is_refused(tmp_path: Path) -> None:
    with mariadb.serve(tmp_path, "--read-only=1") as server, pytest.raises(kv.CannotOpen, match="read-only"):
        await kv.open(server.uri, credentials=server.credentials)


@pytest.mark.parametrize("mode", ["required", "verify_identity"])
async def test_a_connection_may_be_encrypted(server: MariaDB, database: str, mode: str) -> None:
    async with await opened(server, database, f"ssl_mode={mode}&ssl_ca={server.certificate}") as store:
        await store.set(P, b"key", b"value")
        assert await value_of(store, b"key") == b"value"


async def test_a_certificate_that_nobody_vouches_for_is_refused(server: MariaDB, database: str) -> None:
    with pytest.raises(kv.CannotOpen, match="certificate"):
        await opened(server, database, "ssl_mode=verify_identity")


async def test_a_server_without_tls_is_refused_by_who_wants_it(tmp_path: Path) -> None:
    with mariadb.serve(tmp_path, "--skip-ssl") as server, pytest.raises(kv.CannotOpen, match="SSL"):
        await kv.open(f"{server.uri}?ssl_mode=required", credentials=server.credentials)


async def test_a_password_may_stand_in_the_uri(server: MariaDB) -> None:
    async with await kv.open(server.uri.replace("@", ":only%20for%20tests@")) as store:
        assert await store.get(P, b"nobody") is None


async def test_a_wrong_password_is_refused_and_not_repeated(server: MariaDB) -> None:
    for opening in (
        kv.open(server.uri, credentials={"password": "hunter2"}),
        kv.open(server.uri.replace("@", ":hunter2@")),
    ):
        with pytest.raises(kv.CannotOpen, match="Access denied") as refused:
            await opening
        assert "hunter2" not in repr(refused.value) + str(refused.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("/nobody?", "nobody"),
        ("?", "user@host/database"),
        ("/headwater?connections=0", "connections"),
        ("/headwater?timeout=0", "timeout"),
        ("/headwater?ssl_mode=sometimes", "ssl_mode"),
        ("/headwater?ssl_mode=required&ssl_ca=/nowhere", "ssl_ca"),
    ],
)
async def test_a_uri_that_cannot_be_right_says_why(server: MariaDB, change: str, message: str) -> None:
    with pytest.raises(kv.CannotOpen, match=message):
        await kv.open(server.uri.removesuffix("/headwater") + change, credentials=server.credentials)


async def test_unknown_credentials_are_refused(server: MariaDB) -> None:
    with pytest.raises(kv.CannotOpen, match="password"):
        await kv.open(server.uri, credentials={"pasword": "x"})
