"""`hbase://` against a real HBase and its gateway, and through a proxy that breaks connections at chosen moments."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest

from dev.servers import hbase
from dev.servers.hbase import Server
from headwater import kv
from headwater.kv import ABSENT, Store
from headwater.kv.drivers.hbase.failures import failure
from headwater.kv.drivers.hbase.gateway import Gateway
from headwater.kv.drivers.hbase.service import table_name, thrift
from headwater.kv.limits import MAX_VALUE
from headwater.testing.kv_suite import KVStoreSuite, P, predicate_of, scanned, value_of
from tests.conftest import Servers
from tests.kv.broken_connections import BrokenConnections
from tests.kv.proxies import Fault, Proxy

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
def server(servers: Servers) -> Server:
    return servers.start("hbase", hbase.serve)


@pytest.fixture
def port(server: Server) -> int:
    return server.port


async def opened(port: int, table: str = "tests", options: str = "") -> Store:
    return await kv.open(f"hbase://127.0.0.1:{port}/{table}?connections=4{options}")


@pytest.fixture
async def store(port: int) -> AsyncIterator[Store]:
    """A tenant of one test's own."""
    async with await opened(port, options=f"&tenant=t{uuid4().hex}") as store:
        yield store


@pytest.fixture
async def gateway(port: int) -> AsyncIterator[Gateway]:
    """HBase as its own service shows it."""
    gateway = Gateway("127.0.0.1", port, connections=1, timeout=60, encryption=None)
    yield gateway
    await gateway.aclose()


class TestHBase(KVStoreSuite):
    many = 10_000
    examples = 15

    @pytest.fixture
    def uri(self, port: int) -> str:
        return f"hbase://127.0.0.1:{port}/suite"


class TestHBaseOverABadNetwork(BrokenConnections):
    @pytest.fixture
    def port(self, server: Server) -> int:
        return server.port

    async def opened(self, port: int, tenant: str, *, patience: float, connections: int) -> Store:
        return await kv.open(
            f"hbase://127.0.0.1:{port}/suite?timeout={patience}&tenant={tenant}&connections={connections}"
        )

    async def test_calls_are_one_round_trip_and_a_refused_swap_is_two(self, proxied: Store, proxy: Proxy) -> None:
        async def cost_of(call: Awaitable[object]) -> int:
            before = proxy.requests
            await call
            return proxy.requests - before

        few = {b"%d" % number: b"" for number in range(50)}
        assert await cost_of(proxied.set(P, b"a", b"1")) == 1
        assert await cost_of(proxied.set_if(P, b"b", b"1", ABSENT)) == 1
        assert await cost_of(proxied.get(P, b"a")) == 1
        assert await cost_of(proxied.delete(P, b"a")) == 1
        assert await cost_of(proxied.set_many(P, few)) == 1
        assert await cost_of(proxied.get_many(P, list(few))) == 1
        assert await cost_of(proxied.delete_many(P, list(few))) == 1
        assert await cost_of(scanned(proxied)) == 1
        before = proxy.requests
        for _ in range(10):
            with pytest.raises(kv.PredicateFailed):
                await proxied.set_if(P, b"b", b"", ABSENT)
        assert proxy.requests - before == 20

    async def test_a_refused_swap_has_an_unknown_outcome_when_it_cannot_be_asked_whose_the_value_is(
        self, proxied: Store, direct: Store, proxy: Proxy
    ) -> None:
        """The gateway may have tried twice, and the refusal be that of its second try."""
        await direct.set(P, b"key", b"value")
        proxy.fault, proxy.spared = Fault.LOSE_REQUEST, 1
        with pytest.raises(kv.UnknownOutcome):
            await proxied.set_if(P, b"key", b"", ABSENT)


# Order without clocks


async def test_writes_and_deletes_keep_their_order_through_files_and_compactions(server: Server) -> None:
    """Without the table's own setting a delete would hide what is written after it, until files are merged."""
    table = f"order-{uuid4().hex[:8]}"
    keys = [b"%02d" % number for number in range(30)]
    expected: dict[bytes, bytes] = {}
    async with await opened(server.port, table) as store:
        held = await store.set_if(P, b"held", b"", ABSENT)
        for step in range(12):
            gone = keys[step::3]
            await store.set_many(P, dict.fromkeys(keys, b"%d" % step))
            await store.delete_many(P, gone)
            expected = {key: b"%d" % step for key in keys if key not in gone} | {b"held": b""}
            await store.set_many(b"filler", {b"%d" % part: os.urandom(MAX_VALUE) for part in range(5)})
            assert await scanned(store) == dict(sorted(expected.items()))
            held = await store.set_if(P, b"held", b"", held)
            await store.set(P, gone[0], b"back")
            assert await value_of(store, gone[0]) == b"back"
    files = [file for file in server.tables.glob(f"{table}/*/h/*") if file.is_file()]
    assert files, "nothing went from memory to files: then this test shows nothing"


def kill_the_server(directory: Path) -> None:
    """The process whose data is in *directory*."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (process / "cmdline").read_bytes().split(b"\0")
            if (
                b"org.apache.hadoop.hbase.master.HMaster" in command
                and b"-Djava.io.tmpdir=" + bytes(directory) in command
            ):
                os.kill(int(process.name), signal.SIGKILL)


async def test_what_was_acknowledged_survives_a_crash_of_the_server(tmp_path: Path) -> None:
    with hbase.serve(tmp_path) as server:
        async with await opened(server.port, options="&timeout=5") as store:
            for number in range(20):
                await store.set(P, b"%02d" % number, b"acknowledged")
            await store.delete(P, b"07")
            await store.set_if(P, b"07", b"again", ABSENT)
            kill_the_server(tmp_path)
            with pytest.raises(kv.StoreUnavailable):
                await store.get(P, b"00")
    with hbase.serve(tmp_path) as server:
        async with await opened(server.port) as store:
            expected = {b"%02d" % number: b"acknowledged" for number in range(20)} | {b"07": b"again"}
            assert list((await scanned(store)).items()) == sorted(expected.items())


async def test_a_delete_and_a_write_at_the_same_moment_leave_one_of_the_two(store: Store) -> None:
    for number in range(100):
        await store.set(P, b"key", b"%d" % number)
        await store.delete(P, b"key")
        await store.set_if(P, b"key", b"again %d" % number, ABSENT)
        assert await value_of(store, b"key") == b"again %d" % number
        await asyncio.gather(store.delete(P, b"key"), store.set(P, b"key", b"raced"))
        assert await value_of(store, b"key") in {None, b"raced"}


async def test_a_value_that_looks_like_text_stays_bytes(store: Store) -> None:
    await store.set("größe".encode(), "schlüssel".encode(), b"Wert")
    assert await scanned(store, "größe".encode()) == {"schlüssel".encode(): b"Wert"}


async def test_bulk_calls_of_more_bytes_than_a_request_holds(store: Store) -> None:
    values = {b"%02d" % number: os.urandom(MAX_VALUE) for number in range(30)}
    await store.set_many(P, values)
    assert await scanned(store) == values
    assert [found.value for found in await store.get_many(P, list(values)) if found] == list(values.values())


async def test_a_cancelled_write_lets_the_next_one_go_ahead(store: Store) -> None:
    for _ in range(10):
        going = [asyncio.create_task(store.set(P, b"%d" % number, b"")) for number in range(12)]
        await asyncio.sleep(0)
        for write in going[::2]:
            write.cancel()
        await asyncio.gather(*going, return_exceptions=True)
    held = await store.set_if(P, b"key", b"", ABSENT)
    assert await predicate_of(store, b"key") == held


SPLITTING = "org.apache.hadoop.hbase.NotServingRegionException: lake,,17.ce34. is closing\n\tat HRegion.java:8221"
LOST = "java.net.SocketTimeoutException: callTimeout=60000, callDuration=60104\n\tat Call.java:12"


CLOSED = (
    "org.apache.hadoop.hbase.exceptions.ScannerResetException: Scanner is closed on the server-side\n\tat Scan.java:1"
)


@pytest.mark.parametrize(
    ("tries", "told"),
    [([SPLITTING], kv.SlowDown), ([SPLITTING, CLOSED], kv.SlowDown), ([SPLITTING, LOST], kv.UnknownOutcome)],
)
async def test_a_write_is_known_not_to_have_run_if_that_holds_of_each_try(tries: list[str], told: type) -> None:
    head = "2026-11-19T21:27:38.615Z, RpcRetryingCaller{globalStartTime=2026-11-19T21:27:38.480Z, maxAttempts=2}, "
    message = f"Failed after attempts={len(tries)}, exceptions:\n" + "\n".join(f"{head}{each}\n" for each in tries)
    error = failure(thrift.TIOError(message=message, canRetry=True), writes=True)
    assert isinstance(error, told)
    assert tries[0].partition("\n")[0] in str(error)


# Opening


async def test_many_may_open_a_table_that_is_not_there_at_once(port: int) -> None:
    table = f"many-{uuid4().hex[:8]}"
    stores = await asyncio.gather(*(opened(port, table) for _ in range(4)))
    for number, store in enumerate(stores):
        await store.set(P, b"%d" % number, b"")
    assert len(await scanned(stores[0])) == 4
    for store in stores:
        await store.aclose()


async def test_no_table_is_made_for_who_asks_for_none(port: int) -> None:
    for _ in range(2):
        with pytest.raises(kv.CannotOpen, match="nothing-such"):
            await opened(port, "nothing-such", "&create=false")


async def test_a_table_that_forgets_what_follows_a_delete_is_refused(port: int, gateway: Gateway) -> None:
    table = f"plain-{uuid4().hex[:8]}"
    family = thrift.TColumnFamilyDescriptor(name=b"h")
    await gateway.ask("createTable", thrift.TTableDescriptor(tableName=table_name(table), columns=[family]), None)
    with pytest.raises(kv.CannotOpen, match="NEW_VERSION_BEHAVIOR"):
        await opened(port, table)


async def test_a_namespace_that_is_not_there_is_an_error_that_names_it(port: int) -> None:
    with pytest.raises(kv.CannotOpen, match="nowhere"):
        await opened(port, "nowhere:table")


@pytest.mark.parametrize(
    "uri",
    [
        "hbase://",
        "hbase://127.0.0.1",
        "hbase://127.0.0.1/a/b",
        "hbase://127.0.0.1/a b",
        "hbase://user@127.0.0.1/lake",
        "hbase://127.0.0.1/lake?timeout=0",
        "hbase://127.0.0.1/lake?connections=0",
        "hbase://127.0.0.1/lake?durability=none",
    ],
)
async def test_a_uri_that_cannot_be_right_is_refused(uri: str) -> None:
    with pytest.raises(kv.CannotOpen):
        await kv.open(uri)


async def test_credentials_are_refused() -> None:
    with pytest.raises(kv.CannotOpen, match="no credentials"):
        await kv.open("hbase://127.0.0.1/lake", credentials={"password": "x"})
