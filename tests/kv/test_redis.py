"""`redis://` against a real server, and through a proxy that breaks connections at chosen moments."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from redis.asyncio import Redis as Client

from dev.servers import redis
from dev.servers.redis import Redis
from headwater import kv
from headwater.kv import ABSENT, Delete, Set, SetIf, Store
from headwater.kv.limits import MAX_VALUE
from headwater.testing.kv_suite import KVStoreSuite, P, scanned, value_of
from tests.conftest import Servers
from tests.kv.broken_connections import BrokenConversations, value_once_up

pytestmark = pytest.mark.anyio


@pytest.fixture
def server(servers: Servers) -> Redis:
    return servers.start("redis", redis.serve)


class TestRedis(KVStoreSuite):
    @pytest.fixture
    def uri(self, server: Redis) -> str:
        return server.uri

    @pytest.fixture
    def credentials(self, server: Redis) -> dict[str, str]:
        return server.credentials


class TestRedisOverABadNetwork(BrokenConversations):
    @pytest.fixture
    def port(self, server: Redis) -> int:
        self.credentials = server.credentials
        return server.port

    async def opened(self, port: int, tenant: str, *, patience: float, connections: int) -> Store:
        options = f"timeout={patience}&connections={connections}&tenant={tenant}"
        return await kv.open(f"redis://127.0.0.1:{port}?{options}", credentials=self.credentials)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A directory for a server of one test's own."""
    return tmp_path


async def opened(server: Redis, options: str = "") -> Store:
    return await kv.open(f"{server.uri}?{options}" if options else server.uri, credentials=server.credentials)


@pytest.fixture
async def admin(server: Redis) -> AsyncIterator[Client]:
    async with Client(port=server.port, password=server.password, protocol=2) as admin:
        yield admin


async def test_bulk_calls_of_more_than_a_script_holds(server: Redis) -> None:
    values = {b"%02d" % number: os.urandom(MAX_VALUE) for number in range(25)}
    async with await opened(server, "tenant=bulk") as store:
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


async def test_a_server_that_forgot_the_scripts_is_told_them_again(server: Redis, admin: Client) -> None:
    async with await opened(server, "tenant=scripts") as store:
        held = await store.set_if(P, b"key", b"1", ABSENT)
        await admin.script_flush()
        await store.set_if(P, b"key", b"2", held)
        await admin.script_flush()
        assert await scanned(store) == {b"key": b"2"}


async def test_what_was_acknowledged_survives_a_crash_of_the_server(own: Path) -> None:
    with redis.serve(own) as server:
        async with await opened(server) as store, Client(port=server.port, password=server.password) as admin:
            for number in range(20):
                await store.set(P, b"%02d" % number, b"acknowledged")
            held = await store.set_if(P, b"held", b"", ABSENT)
            process = (await admin.info("server"))["process_id"]
            os.kill(process, 9)
    with redis.serve(own) as again:
        async with await opened(again) as store:
            await store.set_if(P, b"held", b"still", held)
            assert list(await scanned(store)) == [*(b"%02d" % number for number in range(20)), b"held"]


async def test_idle_connections_that_the_server_has_ended_are_replaced(server: Redis, admin: Client) -> None:
    async with await opened(server, "connections=8&tenant=idle") as store:
        await asyncio.gather(*(store.set(P, b"%d" % number, b"") for number in range(8)))
        await admin.client_kill_filter(_type="normal", skipme=True)
        await admin.ping()
        await store.set_if(P, b"key", b"value", ABSENT)
        assert await value_once_up(store, b"key") == b"value"


async def test_when_all_connections_stay_busy_the_store_says_to_slow_down(own: Path) -> None:
    with redis.serve(own) as server:
        async with (
            Client(port=server.port, password=server.password) as admin,
            await opened(server, "connections=1&timeout=2") as store,
        ):
            await admin.client_pause(30_000, all=False)  # writes alone, or its end would wait for it
            outcomes = await asyncio.gather(
                *(store.set(P, b"%d" % number, b"") for number in range(3)), return_exceptions=True
            )
            await admin.client_unpause()
        assert {type(outcome) for outcome in outcomes} == {kv.UnknownOutcome, kv.SlowDown}


async def fill(store: Store, keys: list[bytes]) -> None:
    """Write until it fails. *keys* are those that were."""
    while True:
        await store.set(P, b"%05d" % len(keys), b"x" * 100_000)
        keys.append(b"%05d" % len(keys))


async def test_a_full_memory_refuses_writes_and_loses_nothing(own: Path) -> None:
    with redis.serve(own, "--maxmemory", "8mb", "--maxmemory-policy", "noeviction") as server:
        async with await opened(server) as store:
            keys: list[bytes] = []
            with pytest.raises(kv.StoreUnavailable, match="maxmemory"):
                await fill(store, keys)
            assert list(await scanned(store)) == keys


async def test_a_key_of_somebody_else_in_the_way_leaves_the_outcome_unknown(server: Redis, admin: Client) -> None:
    async with await opened(server, "tenant=strange") as store:
        await store.set(P, b"key", b"")
        (order,) = await admin.keys("headwater:1:o:*strange*")
        await admin.set(order, b"not ours")
        with pytest.raises(kv.UnknownOutcome, match="WRONGTYPE"):
            await store.set(P, b"other", b"")


# A server that is not fit


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("--appendonly", "no"), "appendonly"),
        (("--appendfsync", "everysec"), "appendfsync"),
        (("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"), "noeviction"),
        (("--rename-command", "CONFIG", ""), "durability=server"),
        (("--replicaof", "127.0.0.1 1"), "primary"),
    ],
)
async def test_a_server_that_is_not_fit_is_refused_and_told_why(
    own: Path, settings: tuple[str, ...], message: str
) -> None:
    with redis.serve(own, *settings) as server, pytest.raises(kv.CannotOpen, match=message):
        await opened(server)


async def test_a_server_that_is_less_durable_is_taken_when_that_is_asked_for(own: Path) -> None:
    with redis.serve(own, "--appendonly", "no") as server:
        async with await opened(server, "durability=server") as store:
            await store.set(P, b"key", b"value")
            assert await value_of(store, b"key") == b"value"


async def test_an_encrypted_server_is_read_by_who_knows_its_certificate(own: Path) -> None:
    with redis.serve_encrypted(own) as (server, certificate):
        for mode in ("required", "verify_identity"):
            async with await opened(server, f"ssl_mode={mode}&ssl_ca={certificate}") as store:
                await store.set(P, b"key", b"value")
                assert await value_of(store, b"key") == b"value"
        with pytest.raises(kv.StoreUnavailable, match="certificate"):
            await opened(server, "ssl_mode=verify_identity")


async def test_each_numbered_database_is_a_store_of_its_own(server: Redis) -> None:
    async with (
        await opened(server) as zero,
        await kv.open(f"{server.uri}/3", credentials=server.credentials) as three,
    ):
        await three.set(b"numbered", b"key", b"three")
        assert await zero.get(b"numbered", b"key") is None


async def test_a_wrong_password_is_refused_and_not_repeated(server: Redis) -> None:
    for opening in (
        kv.open(server.uri, credentials={"password": "hunter2"}),
        kv.open(server.uri.replace("//", "//default:hunter2@")),
        kv.open(server.uri),
    ):
        with pytest.raises(kv.CannotOpen, match=r"(?i)password|auth") as refused:
            await opening
        assert "hunter2" not in repr(refused.value) + str(refused.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("/nobody", "number"),
        ("/99", "out of range"),
        ("?connections=0", "connections"),
        ("?timeout=0", "timeout"),
        ("?durability=maybe", "durability"),
        ("?ssl_mode=required&ssl_ca=/nowhere", "ssl_ca"),
    ],
)
async def test_a_uri_that_cannot_be_right_says_why(server: Redis, change: str, message: str) -> None:
    with pytest.raises(kv.CannotOpen, match=message):
        await kv.open(server.uri + change, credentials=server.credentials)


async def test_unknown_credentials_are_refused(server: Redis) -> None:
    with pytest.raises(kv.CannotOpen, match="password"):
        await kv.open(server.uri, credentials={"pasword": "x"})
