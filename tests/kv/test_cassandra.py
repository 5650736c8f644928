"""`cassandra://` against a real node, and through a proxy that breaks connections at chosen moments."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest

from dev.servers import cassandra
from dev.servers.cassandra import Server
from headwater import kv
from headwater.kv import ABSENT, Delete, Operation, Set, SetIf, Store
from headwater.kv.limits import MAX_VALUE
from headwater.testing.kv_suite import KVStoreSuite, P, scanned, value_of
from tests.conftest import Servers
from tests.kv.broken_connections import BrokenConnections, once_noticed, writes
from tests.kv.proxies import Proxy

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
def server(servers: Servers) -> Server:
    return servers.start("cassandra", cassandra.serve)


async def opened(server: Server, options: str = "") -> Store:
    return await kv.open(server.uri + options, credentials=server.credentials)


@pytest.fixture
async def store(server: Server) -> AsyncIterator[Store]:
    """A tenant of one test's own."""
    async with await opened(server, f"&tenant=t{uuid4().hex}") as store:
        yield store


class TestCassandra(KVStoreSuite):
    many = 10_000
    examples = 15

    @pytest.fixture
    def uri(self, server: Server) -> str:
        return f"{server.uri}&timeout=30"

    @pytest.fixture
    def credentials(self, server: Server) -> dict[str, str]:
        return server.credentials


class TestCassandraOverABadNetwork(BrokenConnections):
    @pytest.fixture
    def port(self, server: Server) -> int:
        return server.port

    async def opened(self, port: int, tenant: str, *, patience: float, connections: int) -> Store:  # noqa: ARG002  (all share one)
        return await opened(Server(port), f"&timeout={patience}&tenant={tenant}")

    async def test_a_server_that_is_not_there_has_certainly_written_nothing(
        self, proxied: Store, proxy: Proxy, tenant: str
    ) -> None:
        """Once that is known: what is sent before the library's thread sees the connection end may have arrived."""
        await proxy.go_down()
        with pytest.raises(kv.StoreUnavailable):
            await proxied.get(P, b"key")
        for write in writes(proxied):
            await once_noticed(write)
        with pytest.raises(kv.StoreUnavailable):
            await self.opened(proxy.port, tenant, patience=1, connections=1)


# Writes that go together


async def test_a_write_that_nobody_waits_for_any_more_stops_none_that_went_with_it(store: Store) -> None:
    for _ in range(5):
        going = [asyncio.create_task(store.set(P, b"%03d" % number, b"value")) for number in range(100)]
        await asyncio.sleep(0)
        for given_up in going[::7]:
            given_up.cancel()
        outcomes = await asyncio.gather(*going, return_exceptions=True)
        found = await scanned(store)
        assert {b"%03d" % number for number, outcome in enumerate(outcomes) if outcome is None} <= set(found)
        await store.delete_many(P, list(found))


async def test_of_writes_of_one_key_at_once_the_last_one_asked_for_is_read(store: Store) -> None:
    for _ in range(5):
        await asyncio.gather(*(store.set(P, b"key", b"%d" % number) for number in range(20)), store.set(P, b"a", b""))
        assert await value_of(store, b"key") == b"19"
        await asyncio.gather(store.set(P, b"key", b"new"), store.delete(P, b"key"))
        assert await value_of(store, b"key") is None


async def test_bulk_calls_of_more_bytes_than_a_transaction_holds(store: Store) -> None:
    values = {b"%02d" % number: os.urandom(MAX_VALUE) for number in range(25)}
    await store.set_many(P, values)
    assert await scanned(store) == values
    assert [found.value for found in await store.get_many(P, list(values)) if found] == list(values.values())
    await store.pipeline([Set(P, key, value[::-1]) for key, value in values.items()])
    assert await scanned(store) == {key: value[::-1] for key, value in values.items()}


async def test_a_pipeline_writes_a_key_as_often_as_it_names_it(store: Store) -> None:
    operations: list[Operation] = [Set(P, b"key", b"1"), Delete(P, b"key"), Set(b"other", b"key", b"2")]
    await store.pipeline([*operations, Set(P, b"other", b"3"), SetIf(P, b"key", b"4", ABSENT), Set(P, b"other", b"5")])
    assert await scanned(store) == {b"key": b"4", b"other": b"5"}
    assert await scanned(store, b"other") == {b"key": b"2"}


# The server


def kill_the_server(directory: Path) -> None:
    """The process whose data is in *directory*."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (process / "cmdline").read_bytes().split(b"\0")
            if command[0].endswith(b"java") and b"-Dcassandra.storagedir=" + bytes(directory) in command:
                os.kill(int(process.name), signal.SIGKILL)


async def test_what_was_acknowledged_survives_a_crash_of_the_server(tmp_path: Path) -> None:
    with cassandra.serve(tmp_path) as server:
        async with await opened(server) as store:
            for number in range(20):
                await store.set(P, b"%02d" % number, b"acknowledged")
            kill_the_server(tmp_path)
            with pytest.raises(kv.StoreUnavailable):
                await store.get(P, b"00")
    with cassandra.serve(tmp_path) as server:
        async with await opened(server) as store:
            assert list(await scanned(store)) == [b"%02d" % number for number in range(20)]


# Opening


async def test_a_wrong_password_is_refused_and_not_repeated(server: Server) -> None:
    uri = server.uri.replace("@", ":wrong-horse@")
    with pytest.raises(kv.CannotOpen, match="credentials") as refused:
        await kv.open(uri)
    assert "wrong-horse" not in str(refused.value)


async def test_a_keyspace_is_made_for_who_says_how_many_replicas_it_has(server: Server) -> None:
    keyspace = f"made_{uuid4().hex}"
    uri = server.uri.replace("/tests?replicas=1", f"/{keyspace}")
    for options in ("", "?replicas=1&create=false"):
        with pytest.raises(kv.CannotOpen, match=keyspace):
            await kv.open(uri + options, credentials=server.credentials)
    async with await kv.open(f"{uri}?replicas=1", credentials=server.credentials) as store:
        await store.set(P, b"key", b"value")
    async with await kv.open(f"{uri}?create=false", credentials=server.credentials) as store:
        assert await value_of(store, b"key") == b"value"


async def test_nobody_waits_for_an_opening_that_was_given_up(server: Server) -> None:
    opening = asyncio.create_task(opened(server))
    await asyncio.sleep(0.01)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    async with await opened(server) as store:
        assert await store.get(P, b"nobody") is None


@pytest.mark.parametrize(
    "uri",
    [
        "cassandra://",
        "cassandra://127.0.0.1",
        "cassandra://127.0.0.1/Upper",
        "cassandra://127.0.0.1/a-b",
        "cassandra://127.0.0.1/lake?timeout=0",
        "cassandra://127.0.0.1/lake?replicas=0",
        "cassandra://127.0.0.1/lake?datacentre=x",
    ],
)
async def test_a_uri_that_cannot_be_right_is_refused(uri: str) -> None:
    with pytest.raises(kv.CannotOpen):
        await kv.open(uri)


async def test_credentials_of_another_kind_are_refused_by_name() -> None:
    with pytest.raises(kv.CannotOpen, match="password"):
        await kv.open("cassandra://127.0.0.1/lake", credentials={"key": "x"})
