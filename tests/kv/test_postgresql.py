"""`postgresql://` against a real server, and through a proxy that breaks connections at chosen moments."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import asyncpg  # type: ignore[import-untyped]
import pytest

from dev.servers import postgresql
from dev.servers.postgresql import PostgreSQL
from headwater import kv
from headwater.kv import ABSENT, Delete, Set, SetIf, Store
from headwater.kv.limits import MAX_VALUE
from headwater.testing.kv_increment import increment
from headwater.testing.kv_suite import KVStoreSuite, P, scanned, value_of
from tests.conftest import Servers
from tests.kv.broken_connections import once_noticed, value_once_up, write_once_up
from tests.kv.proxies import Fault, Proxy

pytestmark = pytest.mark.anyio


@pytest.fixture
def server(servers: Servers) -> PostgreSQL:
    return servers.start("postgresql", postgresql.serve)


class TestPostgreSQL(KVStoreSuite):
    @pytest.fixture
    def uri(self, server: PostgreSQL) -> str:
        return server.uri

    @pytest.fixture
    def credentials(self, server: PostgreSQL) -> dict[str, str]:
        return server.credentials


@pytest.fixture
async def admin(server: PostgreSQL) -> AsyncIterator[Any]:
    """A session of the superuser's own, beside the store's."""
    async with session(server) as admin:
        yield admin


@asynccontextmanager
async def session(server: PostgreSQL) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(server.uri, password=server.password, timeout=30, command_timeout=30)
    try:
        yield connection
    finally:
        await connection.close(timeout=30)


@pytest.fixture
def schema() -> str:
    """A place of one test's own in the shared database."""
    return f"s{uuid4().hex[:12]}"


@pytest.fixture
async def direct(server: PostgreSQL, schema: str) -> AsyncIterator[Store]:
    """A store that no proxy disturbs."""
    async with await opened(server, schema) as store:
        yield store


@pytest.fixture
async def proxy(server: PostgreSQL) -> AsyncIterator[Proxy]:
    async with Proxy(server.port) as proxy:
        yield proxy


@pytest.fixture
async def proxied(proxy: Proxy, server: PostgreSQL, schema: str, direct: Store) -> AsyncIterator[Store]:  # noqa: ARG001  (made first)
    """The same store through the proxy, with statements prepared, so that each call is one round trip."""
    async with await opened(server, schema, "connections=1", port=proxy.port) as store:
        await store.set(P, b"warm", b"")
        await store.set_many(P, {b"warm": b""})
        await store.set_if(P, b"warm up", b"", await store.set_if(P, b"warm up", b"", ABSENT))
        await store.pipeline([Set(P, b"warm", b""), Delete(P, b"warm up"), Delete(P, b"warm")])
        await store.get_many(P, [b"warm"])
        await store.get(P, b"warm")
        await store.delete_many(P, [b"warm"])
        await store.delete(P, b"warm")
        assert await scanned(store) == {}
        yield store


async def opened(
    server: PostgreSQL, schema: str, options: str = "connections=2", *, port: int | None = None, user: str = "postgres"
) -> Store:
    uri = f"postgresql://{user}@127.0.0.1:{port or server.port}/postgres?sslmode=disable&schema={schema}&{options}"
    return await kv.open(uri, credentials=server.credentials)


def writes(store: Store) -> list[Callable[[], Awaitable[object]]]:
    """Every way to write a key that is not there."""
    return [
        lambda: store.set(P, b"key", b""),
        lambda: store.set_if(P, b"key", b"", ABSENT),
        lambda: store.set_many(P, {b"key": b""}),
        lambda: store.pipeline([Set(P, b"key", b"")]),
    ]


# Round trips


async def test_every_call_is_one_round_trip(proxied: Store, proxy: Proxy) -> None:
    async def cost_of(call: Awaitable[object]) -> int:
        before = proxy.requests
        await call
        return proxy.requests - before

    assert await cost_of(proxied.set(P, b"a", b"1")) == 1
    assert await cost_of(proxied.set_if(P, b"b", b"1", ABSENT)) == 1
    assert await cost_of(proxied.get(P, b"a")) == 1
    assert await cost_of(proxied.delete(P, b"a")) == 1
    assert await cost_of(proxied.set_many(P, {b"%d" % number: b"" for number in range(50)})) == 1
    assert await cost_of(proxied.get_many(P, [b"%d" % number for number in range(50)])) == 1
    assert await cost_of(proxied.delete_many(P, [b"%d" % number for number in range(50)])) == 1
    assert await cost_of(proxied.pipeline([Set(P, b"c", b""), SetIf(P, b"d", b"", ABSENT), Delete(P, b"c")])) == 1
    assert await cost_of(scanned(proxied)) == 1


@pytest.mark.usefixtures("direct")
async def test_a_page_of_a_scan_reads_a_page_however_little_the_planner_knows(admin: Any, schema: str) -> None:
    """By statistics from before a partition grew it looks cheap to read and sort all of it: a plain query does."""
    await admin.execute(f"set search_path = {schema}; alter table kv_1 set (autovacuum_enabled = off)")
    insert = (
        "insert into kv_1 (partition, key, value) "
        "select convert_to($1 || n % $2, 'UTF8'), sha256(int8send(n)), '' from generate_series(1, $3) as n"
    )
    await admin.execute(insert, "small", 300, 30_000)
    await admin.execute("vacuum analyze kv_1")
    await admin.execute(insert, "grown", 1, 50_000)

    async def blocks_read(query: str) -> int:
        explained = await admin.fetchval(f"explain (analyze, buffers, format json) {query}")
        plan = json.loads(explained)[0]["Plan"]
        assert plan["Actual Rows"] == 300
        blocks: int = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
        return blocks

    page = await blocks_read("select * from scan_1('grown0', '', 300)")
    everything = await blocks_read("select * from kv_1 where partition = 'grown0' order by key limit 300")
    assert page < everything / 2


async def test_bulk_calls_of_more_bytes_than_a_message_holds(direct: Store) -> None:
    values = {b"%02d" % number: os.urandom(MAX_VALUE) for number in range(45)}
    await direct.set_many(P, values)
    assert await scanned(direct) == values
    with pytest.raises(kv.PredicateFailed) as refused:
        await direct.pipeline(
            [
                *(Set(P, key, value[::-1]) for key, value in values.items()),
                SetIf(P, b"00", b"", ABSENT),
                Delete(P, b"01"),
            ]
        )
    assert refused.value.key == b"00"
    assert await scanned(direct) == {key: value[::-1] for key, value in values.items()}


# Connections that break

LOST = [Fault.LOSE_ANSWER, Fault.RESET_INSTEAD_OF_ANSWER, Fault.LOSE_REQUEST]


@pytest.mark.parametrize("fault", LOST)
async def test_a_write_whose_answer_is_lost_has_an_unknown_outcome(
    proxied: Store, direct: Store, proxy: Proxy, fault: Fault
) -> None:
    held = await direct.set_if(P, b"key", b"old", ABSENT)
    proxy.fault = fault
    with pytest.raises(kv.UnknownOutcome):
        await proxied.set_if(P, b"key", b"new", held)
    proxy.fault = Fault.NONE
    assert await value_of(proxied, b"key") == (b"old" if fault is Fault.LOSE_REQUEST else b"new")


@pytest.mark.parametrize("fault", LOST)
async def test_every_kind_of_write_tells_that_its_outcome_is_unknown(
    proxied: Store, proxy: Proxy, fault: Fault
) -> None:
    for write in writes(proxied):
        proxy.fault = Fault.NONE
        await proxied.get(P, b"key")
        proxy.fault = fault
        with pytest.raises(kv.UnknownOutcome):
            await write()


@pytest.mark.parametrize("fault", LOST)
async def test_a_read_whose_answer_is_lost_finds_the_store_unavailable_and_the_next_one_works(
    proxied: Store, proxy: Proxy, fault: Fault
) -> None:
    proxy.fault = fault
    with pytest.raises(kv.StoreUnavailable):
        await proxied.get(P, b"key")
    proxy.fault = Fault.NONE
    assert await proxied.get(P, b"key") is None


async def test_a_silent_server_is_not_waited_for_beyond_the_timeout(
    server: PostgreSQL, proxy: Proxy, schema: str, direct: Store
) -> None:
    async with await opened(server, schema, "connections=1&timeout=1", port=proxy.port) as store:
        await write_once_up(store, b"key", b"old")
        proxy.fault = Fault.SILENCE
        with pytest.raises(kv.UnknownOutcome):
            await store.set(P, b"key", b"new")
        with pytest.raises(kv.StoreUnavailable):
            await store.get(P, b"key")
        proxy.fault = Fault.NONE
        assert await value_once_up(store, b"key") == await value_of(direct, b"key")


async def test_a_server_that_is_not_there_has_certainly_written_nothing(
    proxied: Store, proxy: Proxy, server: PostgreSQL, schema: str
) -> None:
    """Once the client has noticed: what it sends before it does has an unknown outcome."""
    await proxy.go_down()
    with pytest.raises(kv.StoreUnavailable):
        await proxied.get(P, b"key")
    await once_noticed(lambda: proxied.set(P, b"key", b""))
    with pytest.raises(kv.StoreUnavailable):
        await opened(server, schema, port=proxy.port)


async def test_what_was_acknowledged_survives_a_crash_of_the_server(tmp_path: Path) -> None:
    with postgresql.serve(tmp_path) as server:
        async with await opened(server, "headwater", "connections=4") as store:
            for number in range(20):
                await store.set(P, b"%02d" % number, b"acknowledged")
            connection = await asyncpg.connect(server.uri, password=server.password)
            os.kill(await connection.fetchval("select pg_backend_pid()"), signal.SIGKILL)  # PostgreSQL restarts on this
            with pytest.raises(asyncpg.PostgresError):
                await connection.fetchval("select pg_sleep(5)")
            found = await scanned_once_up(store)
    assert list(found) == [b"%02d" % number for number in range(20)]


async def scanned_once_up(store: Store) -> dict[bytes, bytes]:
    async with asyncio.timeout(30):
        while True:
            with suppress(kv.StoreUnavailable):
                return await scanned(store)


# Sessions that are blocked, cancelled and ended


@asynccontextmanager
async def blocked(admin: Any, schema: str) -> AsyncIterator[None]:
    """While this lasts, nobody else writes the key `locked`."""
    async with admin.transaction():
        await admin.execute(f"select from {schema}.kv_1 where key = 'locked' for update")
        yield


async def waiting_backend(admin: Any) -> int:
    """The session that waits for a lock of the administrator's, once it does."""
    async with asyncio.timeout(30):
        while True:
            found: int | None = await admin.fetchval(
                "select pid from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))"
            )
            if found is not None:
                return found


async def waiting_for(observer: Any, connection: Any) -> None:
    """Return once *connection* waits for a lock."""
    async with asyncio.timeout(30):
        while not await observer.fetchval(
            "select exists (select from pg_locks where not granted and pid = $1)", connection.get_server_pid()
        ):
            pass


async def test_a_cancelled_write_leaves_its_connection_fit_for_the_next(
    server: PostgreSQL, admin: Any, schema: str
) -> None:
    async with await opened(server, schema, "connections=1") as store:
        await store.set(P, b"locked", b"old")
        for _ in range(3):
            async with blocked(admin, schema):
                write = asyncio.create_task(store.set(P, b"locked", b"new"))
                await waiting_backend(admin)
                write.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await write
                assert await value_of(store, b"locked") == b"old"


async def test_a_statement_that_the_administrator_cancels_has_written_nothing(
    direct: Store, admin: Any, schema: str
) -> None:
    await direct.set(P, b"locked", b"old")
    async with blocked(admin, schema):
        write = asyncio.create_task(direct.set(P, b"locked", b"new"))
        await admin.execute("select pg_cancel_backend($1)", await waiting_backend(admin))
        with pytest.raises(kv.StoreUnavailable, match="user request"):
            await write
    assert await value_of(direct, b"locked") == b"old"


async def test_a_session_that_is_ended_in_a_write_leaves_its_outcome_unknown(
    direct: Store, admin: Any, schema: str
) -> None:
    await direct.set(P, b"locked", b"old")
    async with blocked(admin, schema):
        write = asyncio.create_task(direct.set(P, b"locked", b"new"))
        await admin.execute("select pg_terminate_backend($1)", await waiting_backend(admin))
        with pytest.raises(kv.UnknownOutcome):
            await write


async def test_when_all_connections_stay_busy_the_store_says_to_slow_down(
    server: PostgreSQL, admin: Any, schema: str
) -> None:
    async with await opened(server, schema, "connections=1&timeout=1") as store:
        await write_once_up(store, b"locked", b"old")
        async with blocked(admin, schema):
            outcomes = await asyncio.gather(
                *(store.set(P, b"locked", b"new") for _ in range(6)), return_exceptions=True
            )
        assert {type(outcome) for outcome in outcomes} == {kv.UnknownOutcome, kv.SlowDown}
        assert isinstance(outcomes[0], kv.UnknownOutcome)
        assert sum(isinstance(outcome, kv.SlowDown) for outcome in outcomes) >= 4
        assert await value_once_up(store, b"locked") is not None


async def test_the_loser_of_a_deadlock_tries_again(server: PostgreSQL, admin: Any, schema: str) -> None:
    """The pipeline is the one that closes the circle, and the only one that looks whether there is one."""
    await admin.execute("set deadlock_timeout = '1min'")
    async with await opened(server, schema) as store, session(server) as other:
        await store.set_many(P, {b"first": b"old", b"second": b"old", b"locked": b"old"})
        pipeline = [Set(P, b"first", b"new"), Set(P, b"second", b"new"), Set(P, b"locked", b"new")]
        async with blocked(admin, schema):
            async with other.transaction():
                await other.execute(f"select from {schema}.kv_1 where key = 'second' for update")
                writing = asyncio.create_task(store.pipeline(pipeline))
                await waiting_backend(other)
                taking = asyncio.create_task(admin.execute(f"select from {schema}.kv_1 where key = 'first' for update"))
                await waiting_for(other, admin)
            await taking
        await writing
        assert await scanned(store) == {b"first": b"new", b"second": b"new", b"locked": b"new"}


# What the server refuses


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("53100", kv.StoreUnavailable),  # the disk is full
        ("25006", kv.StoreUnavailable),  # the database turned read-only
        ("54000", kv.LimitExceeded),
        ("40001", kv.SlowDown),  # could not serialize, each time
        ("08006", kv.UnknownOutcome),  # a pooler lost the server
        ("40003", kv.UnknownOutcome),  # a cluster does not know
    ],
)
async def test_an_error_says_what_is_certain_of_a_write(
    direct: Store, admin: Any, schema: str, state: str, expected: type[kv.StoreError]
) -> None:
    await admin.execute(
        f"create function {schema}.refuse() returns trigger language plpgsql as "
        f"$$ begin raise exception 'made up' using errcode = '{state}'; end $$; "
        f"create trigger refuse before insert on {schema}.kv_1 for each row execute function {schema}.refuse()"
    )
    for write in writes(direct):
        with pytest.raises(expected, match="made up") as refused:
            await write()
        assert type(refused.value) is expected
    assert await scanned(direct) == {}


async def test_a_pipeline_that_fails_after_its_first_message_has_an_unknown_outcome(
    direct: Store, admin: Any, schema: str
) -> None:
    await admin.execute(
        f"create function {schema}.refuse() returns trigger language plpgsql as "
        "$$ begin raise exception 'made up' using errcode = '53100'; end $$; "
        f"create trigger refuse before insert on {schema}.kv_1 for each row "
        f"when (new.key = 'last') execute function {schema}.refuse()"
    )
    value = os.urandom(MAX_VALUE)
    operations = [*(Set(P, b"%02d" % number, value) for number in range(45)), Set(P, b"last", value)]
    with pytest.raises(kv.UnknownOutcome, match=r"of 46 operations were done, then: .*made up"):
        await direct.pipeline(operations)
    assert 0 < len(await scanned(direct)) < 46


async def test_no_increment_is_lost_where_transactions_are_serializable(
    server: PostgreSQL, admin: Any, schema: str, role: str
) -> None:
    await admin.execute(f"alter role {role} set default_transaction_isolation = 'serializable'")
    await admin.execute(f"create schema {schema} authorization {role}")
    async with await opened(server, schema, user=role) as store:
        await asyncio.gather(*(increment(store, P, b"counter", times=10) for _ in range(2)))
        assert await value_of(store, b"counter") == b"20"


# Opening


@pytest.fixture
async def role(server: PostgreSQL, admin: Any) -> str:
    """One who may log in, and nothing else."""
    name = f"r{uuid4().hex[:12]}"
    await admin.execute(f"create role {name} login password '{server.password}'")
    return name


async def test_a_role_that_may_not_create_is_told_so(server: PostgreSQL, schema: str, role: str) -> None:
    with pytest.raises(kv.CannotOpen, match="owner"):
        await opened(server, schema, user=role)


async def test_a_role_that_may_not_create_uses_what_was_made_for_it(
    server: PostgreSQL, admin: Any, schema: str, role: str, direct: Store
) -> None:
    await direct.set(P, b"owner's", b"")
    await admin.execute(
        f"grant usage on schema {schema} to {role};grant select, insert, update, delete on {schema}.kv_1 to {role}"
    )
    async with await opened(server, schema, user=role) as store:
        held = await store.set_if(P, b"key", b"1", ABSENT)
        await store.pipeline([Set(P, b"other", b""), SetIf(P, b"key", b"2", held), Delete(P, b"owner's")])
        await store.set_many(P, {b"other": b"3"})
        assert await scanned(store) == {b"key": b"2", b"other": b"3"}


async def test_a_role_that_has_too_many_sessions_is_told_to_slow_down(
    server: PostgreSQL, admin: Any, schema: str, role: str, direct: Store
) -> None:
    await direct.set(P, b"locked", b"")
    await admin.execute(f"alter role {role} connection limit 1; grant usage on schema {schema} to {role}")
    await admin.execute(f"grant select, insert, update on {schema}.kv_1 to {role}")
    async with await opened(server, schema, user=role) as store:
        async with blocked(admin, schema):
            write = asyncio.create_task(store.set(P, b"locked", b"new"))
            await waiting_backend(admin)
            with pytest.raises(kv.SlowDown, match="too many connections"):
                await store.get(P, b"other")
        await write


async def test_many_may_open_a_new_database_at_once(server: PostgreSQL, schema: str) -> None:
    stores = await asyncio.gather(*(opened(server, schema) for _ in range(12)))
    for number, store in enumerate(stores):
        await store.set(P, b"%02d" % number, b"")
    assert len(await scanned(stores[0])) == 12
    for store in stores:
        await store.aclose()


async def test_each_schema_is_a_store_of_its_own(server: PostgreSQL, direct: Store) -> None:
    async with await opened(server, f"s{uuid4().hex[:12]}") as other:
        await other.set(P, b"key", b"other")
        assert await direct.get(P, b"key") is None


@pytest.mark.parametrize("name", ["", "a b", "a;drop", 'a"b', "Upper", "1a", "a" * 64])
async def test_a_name_that_could_be_sql_is_no_schema(server: PostgreSQL, name: str) -> None:
    with pytest.raises(kv.CannotOpen, match="schema"):
        await opened(server, quote(name))


async def test_a_read_only_database_is_refused(server: PostgreSQL, admin: Any, schema: str, role: str) -> None:
    await admin.execute(f"alter role {role} set default_transaction_read_only = on")
    with pytest.raises(kv.CannotOpen, match="read-only"):
        await opened(server, schema, user=role)


async def test_a_password_may_stand_in_the_uri(server: PostgreSQL) -> None:
    async with await kv.open(server.uri.replace("@", f":{quote(server.password)}@")) as store:
        assert await store.get(P, b"nobody") is None


async def test_a_wrong_password_is_refused_and_not_repeated(server: PostgreSQL) -> None:
    for opening in (
        kv.open(server.uri, credentials={"password": "hunter2"}),
        kv.open(server.uri.replace("@", ":hunter2@")),
    ):
        with pytest.raises(kv.CannotOpen, match="password authentication failed") as refused:
            await opening
        assert "hunter2" not in repr(refused.value) + str(refused.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("/nobody?", "nobody"),
        ("/postgres?connections=0", "connections"),
        ("/postgres?timeout=0", "timeout"),
        ("/postgres?sslmode=sometimes", "sslmode"),
        ("/postgres?sslmode=require", "SSL"),
        ("/postgres?shchema=a", "shchema"),
    ],
)
async def test_a_uri_that_cannot_be_right_says_why(server: PostgreSQL, change: str, message: str) -> None:
    with pytest.raises(kv.StoreError, match=message):
        await kv.open(server.uri.removesuffix("/postgres") + change, credentials=server.credentials)


async def test_unknown_credentials_are_refused(server: PostgreSQL) -> None:
    with pytest.raises(kv.CannotOpen, match="password"):
        await kv.open(server.uri, credentials={"pasword": "x"})
