"""`etcd://` against a real server, and through a proxy that breaks connections at chosen moments."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
import pytest
from aetcd import rpc  # type: ignore[import-untyped]

from dev.servers import etcd
from headwater import kv
from headwater.kv import ABSENT, Operation, Set, SetIf, Store
from headwater.kv.limits import MAX_VALUE
from headwater.testing.kv_suite import KVStoreSuite, P, scanned, value_of
from tests.conftest import Servers
from tests.kv.broken_connections import BrokenConnections

pytestmark = pytest.mark.anyio


@pytest.fixture
def port(servers: Servers) -> int:
    return servers.start("etcd", etcd.serve)


@pytest.fixture
async def store(port: int, tmp_path: Path) -> AsyncIterator[Store]:
    """A prefix of one test's own."""
    async with await kv.open(f"etcd://127.0.0.1:{port}/{tmp_path.name}") as store:
        yield store


class TestEtcd(KVStoreSuite):
    @pytest.fixture
    def uri(self, port: int) -> str:
        return f"etcd://127.0.0.1:{port}"


class TestEtcdOverABadNetwork(BrokenConnections):
    @pytest.fixture
    def port(self, servers: Servers) -> int:
        return servers.start("etcd", etcd.serve)

    async def opened(self, port: int, tenant: str, *, patience: float, connections: int) -> Store:  # noqa: ARG002  (all calls share one)
        return await kv.open(f"etcd://127.0.0.1:{port}?timeout={patience}&tenant={tenant}")


async def test_bulk_calls_of_more_bytes_than_a_request_holds(store: Store) -> None:
    values = {b"%02d" % number: os.urandom(MAX_VALUE) for number in range(12)}
    await store.set_many(P, values)
    assert await scanned(store) == values
    assert [found.value for found in await store.get_many(P, list(values)) if found] == list(values.values())
    with pytest.raises(kv.PredicateFailed) as refused:
        await store.pipeline(
            [*(Set(P, key, value[::-1]) for key, value in values.items()), SetIf(P, b"00", b"", ABSENT)]
        )
    assert refused.value.key == b"00"
    assert await scanned(store) == {key: value[::-1] for key, value in values.items()}


@pytest.mark.parametrize("failing", [0, 15, 16, 17, 40, 59])
async def test_a_pipeline_of_many_swaps_stops_at_the_one_that_fails(store: Store, failing: int) -> None:
    await store.set(P, b"%02d" % failing, b"old")
    operations: list[Operation] = []
    for number in range(60):
        operations += [SetIf(P, b"%02d" % number, b"new", ABSENT), Set(b"beside", b"%02d" % number, b"new")]
    with pytest.raises(kv.PredicateFailed) as refused:
        await store.pipeline(operations)
    assert refused.value.key == b"%02d" % failing
    done = [b"%02d" % number for number in range(failing)]
    assert await scanned(store, b"beside") == dict.fromkeys(done, b"new")
    assert await scanned(store) == dict.fromkeys(done, b"new") | {b"%02d" % failing: b"old"}


async def test_each_prefix_is_a_store_of_its_own(port: int, store: Store) -> None:
    async with await kv.open(f"etcd://127.0.0.1:{port}/another") as other:
        await other.set(P, b"key", b"other")
        assert await store.get(P, b"key") is None


def kill_the_server(directory: Path) -> None:
    """The process whose data is in *directory*."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (process / "cmdline").read_bytes().split(b"\0")
            if command[0].endswith(b"etcd") and bytes(directory / "data") in command:
                os.kill(int(process.name), signal.SIGKILL)


async def test_what_was_acknowledged_survives_a_crash_of_the_server(tmp_path: Path) -> None:
    with etcd.serve(tmp_path) as port:
        async with await kv.open(f"etcd://127.0.0.1:{port}") as store:
            for number in range(20):
                await store.set(P, b"%02d" % number, b"acknowledged")
            kill_the_server(tmp_path)
            with pytest.raises(kv.StoreUnavailable):
                await store.get(P, b"00")
    with etcd.serve(tmp_path) as port:
        async with await kv.open(f"etcd://127.0.0.1:{port}") as store:
            assert list(await scanned(store)) == [b"%02d" % number for number in range(20)]


# What the server refuses


async def test_a_server_that_takes_smaller_requests_is_named_in_the_error(tmp_path: Path) -> None:
    with etcd.serve(tmp_path, "--max-request-bytes", "100000") as port:
        async with await kv.open(f"etcd://127.0.0.1:{port}") as store:
            with pytest.raises(kv.LimitExceeded, match="max-request-bytes"):
                await store.set(P, b"key", b"x" * 200_000)
            assert await scanned(store) == {}


async def fill(store: Store, keys: list[bytes]) -> None:
    """Write until it fails. *keys* are those that were."""
    while True:
        await store.set_if(P, b"%05d" % len(keys), b"x" * 100_000, ABSENT)
        keys.append(b"%05d" % len(keys))


async def test_a_full_database_refuses_writes_and_loses_nothing(tmp_path: Path) -> None:
    with etcd.serve(tmp_path, "--quota-backend-bytes", "2000000") as port:
        async with await kv.open(f"etcd://127.0.0.1:{port}") as store:
            keys: list[bytes] = []
            with pytest.raises(kv.StoreUnavailable, match="space exceeded"):
                await fill(store, keys)
            assert list(await scanned(store)) == keys


# Who may


PASSWORD = "only-for-tests"  # noqa: S105  (it is)


@asynccontextmanager
async def guarded(directory: Path) -> AsyncIterator[tuple[int, Any]]:
    """A server that wants to know who asks: its port, and the stub by which root turns that off and on."""
    with etcd.serve(directory) as port:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = rpc.AuthStub(channel)
            await stub.UserAdd(rpc.AuthUserAddRequest(name="root", password=PASSWORD))
            await stub.UserGrantRole(rpc.AuthUserGrantRoleRequest(user="root", role="root"))
            await stub.AuthEnable(rpc.AuthEnableRequest())
            yield port, stub


async def test_a_token_that_etcd_forgot_is_got_anew(tmp_path: Path) -> None:
    async with (
        guarded(tmp_path) as (port, stub),
        await kv.open(f"etcd://root@127.0.0.1:{port}", credentials={"password": PASSWORD}) as store,
    ):
        await store.set(P, b"key", b"old")
        token = (await stub.Authenticate(rpc.AuthenticateRequest(name="root", password=PASSWORD))).token
        await stub.AuthDisable(rpc.AuthDisableRequest(), metadata=(("token", token),))
        await stub.AuthEnable(rpc.AuthEnableRequest())
        await store.set(P, b"key", b"new")
        assert await value_of(store, b"key") == b"new"


async def test_a_wrong_password_is_refused_and_not_repeated(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (port, _):
        for opening in (
            kv.open(f"etcd://root@127.0.0.1:{port}", credentials={"password": "hunter2"}),
            kv.open(f"etcd://root:hunter2@127.0.0.1:{port}"),
            kv.open(f"etcd://127.0.0.1:{port}"),
        ):
            with pytest.raises(kv.CannotOpen, match=r"authentication failed|user name is empty") as refused:
                await opening
            assert "hunter2" not in repr(refused.value) + str(refused.value)


async def test_an_encrypted_server_is_read_by_who_knows_its_certificate(tmp_path: Path) -> None:
    with etcd.serve_encrypted(tmp_path) as (port, certificate):
        async with await kv.open(f"etcd://127.0.0.1:{port}?tls=true&ssl_ca={certificate}") as store:
            await store.set(P, b"key", b"value")
            assert await value_of(store, b"key") == b"value"
        with pytest.raises(kv.StoreUnavailable):
            await kv.open(f"etcd://127.0.0.1:{port}?tls=true&timeout=2")


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("etcd:///prefix", "host"),
        ("etcd://127.0.0.1:1?timeout=0", "timeout"),
        ("etcd://127.0.0.1:1/" + "p" * 65, "prefix"),
        ("etcd://127.0.0.1:1?tls=true&ssl_ca=/nowhere", "ssl_ca"),
        ("etcd://127.0.0.1:1?tls=perhaps", "tls"),
    ],
)
async def test_a_uri_that_cannot_be_right_says_why(uri: str, message: str) -> None:
    with pytest.raises(kv.CannotOpen, match=message):
        await kv.open(uri)


async def test_unknown_credentials_are_refused() -> None:
    with pytest.raises(kv.CannotOpen, match="password"):
        await kv.open("etcd://127.0.0.1:1", credentials={"pasword": "x"})
