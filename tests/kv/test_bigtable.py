"""`bigtable://` against the vendor's emulator, and through a proxy that breaks connections."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import uuid4

import pytest
from google.cloud import bigtable_v2 as bigtable

from dev.servers import bigtable as emulator
from headwater import kv
from headwater.kv import ABSENT, Store
from headwater.kv.drivers.bigtable_admin import create_table
from headwater.kv.drivers.bigtable_channels import Channels
from headwater.kv.drivers.bigtable_table import FAMILY
from headwater.testing.kv_suite import KVStoreSuite, P, predicate_of, scanned, value_of
from tests.conftest import Servers
from tests.kv.broken_connections import meeting, write_once_up
from tests.kv.proxies import Fault, Proxy

pytestmark = pytest.mark.anyio

INSTANCE = "projects/tests/instances/emulated"


@pytest.fixture
def endpoint(servers: Servers) -> str:
    return servers.start("bigtable", emulator.serve)


class TestBigtable(KVStoreSuite):
    examples = 30

    @pytest.fixture
    def uri(self, endpoint: str) -> str:
        return f"bigtable://tests/emulated/suite?endpoint={endpoint}"


async def opened(endpoint: str | int, table: str, options: str = "") -> Store:
    where = endpoint if isinstance(endpoint, str) else f"http://127.0.0.1:{endpoint}"
    return await kv.open(f"bigtable://tests/emulated/{table}?endpoint={where}{options}")


@pytest.fixture
def table() -> str:
    """A name that no other test uses."""
    return f"test-{uuid4().hex[:12]}"


@pytest.fixture
async def direct(endpoint: str, table: str) -> AsyncIterator[Store]:
    """A store that no proxy disturbs."""
    async with await opened(endpoint, table) as store:
        yield store


@pytest.fixture
async def channels(endpoint: str) -> AsyncIterator[Channels]:
    """Bigtable as its vendor's library shows it."""
    channels = Channels(endpoint)
    yield channels
    await channels.aclose()


@pytest.fixture
async def proxy(endpoint: str) -> AsyncIterator[Proxy]:
    async with Proxy(int(endpoint.rpartition(":")[2])) as proxy:
        yield proxy


def writes(store: Store) -> list[Callable[[], Awaitable[object]]]:
    """Every way to write a key that is not there."""
    return [
        lambda: store.set(P, b"key", b""),
        lambda: store.set_if(P, b"key", b"", ABSENT),
        lambda: store.set_many(P, {b"key": b""}),
    ]


def reads(store: Store) -> list[Callable[[], Awaitable[object]]]:
    return [lambda: store.get(P, b"key"), lambda: store.get_many(P, [b"key", b"other"]), lambda: scanned(store)]


# Cells and their timestamps


async def timestamps(channels: Channels, table: str) -> list[int]:
    """Of every cell that a table has, superseded ones included."""
    request = bigtable.ReadRowsRequest(table_name=f"{INSTANCE}/tables/{table}")
    answers = await channels.data.read_rows(request)
    return [chunk.timestamp_micros async for answer in answers for chunk in answer.chunks]


async def test_a_row_has_one_cell_and_no_clock_decides_which(direct: Store, channels: Channels, table: str) -> None:
    """Among several the latest timestamp would win, and a slow clock's write be lost behind a fast clock's."""
    held = await direct.set_if(P, b"key", b"0", ABSENT)
    await direct.set_if(P, b"key", b"1", held)
    await direct.set(P, b"key", b"2")
    await direct.set_many(P, {b"key": b"3"})
    assert await timestamps(channels, table) == [0]
    assert await value_of(direct, b"key") == b"3"


async def test_a_swap_sees_every_set_and_a_set_overtakes_no_swap(direct: Store) -> None:
    for number in range(30):
        await direct.set(P, b"key", b"set")
        held = await predicate_of(direct, b"key")
        outcomes = await asyncio.gather(
            direct.set(P, b"key", b"meanwhile"), direct.set_if(P, b"key", b"swapped", held), return_exceptions=True
        )
        if isinstance(outcomes[1], kv.PredicateFailed):
            assert await value_of(direct, b"key") == b"meanwhile"
        with pytest.raises(kv.PredicateFailed):
            await direct.set_if(P, b"key", b"%d" % number, held)
        await direct.delete(P, b"key")
        await direct.set_if(P, b"key", b"new", ABSENT)
        assert await value_of(direct, b"key") == b"new"


async def test_pages_of_more_bytes_than_a_message_holds(direct: Store) -> None:
    values = {b"%02d" % number: os.urandom(400_000) for number in range(30)}
    await direct.set_many(P, values)
    assert await scanned(direct) == values
    assert [found.value for found in await direct.get_many(P, list(values)) if found] == list(values.values())


# Connections that break

LOST = [Fault.LOSE_ANSWER, Fault.RESET_INSTEAD_OF_ANSWER]


@pytest.mark.parametrize("fault", LOST)
async def test_a_write_whose_answer_is_lost_has_an_unknown_outcome(
    proxy: Proxy, table: str, direct: Store, fault: Fault
) -> None:
    for number in range(3):
        async with await opened(proxy.port, table) as store:
            await direct.delete(P, b"key")
            await meeting(proxy, fault, store, writes(store)[number])
    async with await opened(proxy.port, table) as store:
        assert await store.get(P, b"nobody") is None


@pytest.mark.parametrize("fault", LOST)
async def test_a_read_whose_answer_is_lost_finds_the_store_unavailable(
    proxy: Proxy, table: str, direct: Store, fault: Fault
) -> None:
    await direct.set(P, b"key", b"value")
    for number in range(3):
        async with await opened(proxy.port, table) as store:
            proxy.fault = fault
            with pytest.raises(kv.StoreUnavailable):
                await reads(store)[number]()
            proxy.fault = Fault.NONE


async def test_a_write_that_is_sent_to_a_silent_server_is_not_sent_twice(
    proxy: Proxy, table: str, direct: Store
) -> None:
    async with await opened(proxy.port, table, "&timeout=1") as store:
        await write_once_up(store, b"key", b"old")
        proxy.fault = Fault.SILENCE
        outcomes = await asyncio.gather(store.set(P, b"key", b"new"), store.get(P, b"key"), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [kv.UnknownOutcome, kv.StoreUnavailable]
        assert await value_of(direct, b"key") == b"new"
        held = await predicate_of(direct, b"key")
        proxy.fault = Fault.NONE
        assert await value_of(store, b"key") == b"new"
        assert await predicate_of(direct, b"key") == held


async def test_a_server_that_is_not_there_has_certainly_written_nothing(
    proxy: Proxy, table: str, direct: Store
) -> None:
    await proxy.go_down()
    with pytest.raises(kv.StoreUnavailable):
        await opened(proxy.port, table)
    assert await scanned(direct) == {}


async def test_writes_to_a_server_that_went_down_are_told_as_not_written(
    proxy: Proxy, table: str, direct: Store
) -> None:
    async with await opened(proxy.port, table) as store:
        await proxy.go_down()
        with pytest.raises(kv.StoreError):
            await store.get(P, b"notices")
        for write in writes(store):
            with pytest.raises(kv.StoreUnavailable):
                await write()
    assert await scanned(direct) == {}


async def test_a_cancelled_call_leaves_the_store_fit_for_the_next(proxy: Proxy, table: str, direct: Store) -> None:
    async with await opened(proxy.port, table) as store:
        await store.set(P, b"key", b"old")
        proxy.heard.clear()
        write = asyncio.create_task(store.set(P, b"key", b"new"))
        await asyncio.wait_for(proxy.heard.wait(), 30)
        write.cancel()
        with pytest.raises(asyncio.CancelledError):
            await write
        assert await value_of(store, b"key") == await value_of(direct, b"key")


# Opening


async def test_many_may_open_a_table_that_is_not_there_at_once(endpoint: str, table: str) -> None:
    stores = await asyncio.gather(*(opened(endpoint, table) for _ in range(8)))
    for number, store in enumerate(stores):
        await store.set(P, b"%d" % number, b"")
    assert len(await scanned(stores[0])) == 8
    for store in stores:
        await store.aclose()


async def test_no_table_is_made_for_who_asks_for_none(endpoint: str, table: str) -> None:
    for _ in range(2):
        with pytest.raises(kv.CannotOpen, match=table):
            await opened(endpoint, table, "&create=false")


async def test_a_table_of_another_shape_is_refused(endpoint: str, channels: Channels, table: str) -> None:
    await create_table(channels, INSTANCE, table, "other", 60)
    with pytest.raises(kv.CannotOpen, match=f"not one of Headwater's tables.*{FAMILY}"):
        await opened(endpoint, table)


@pytest.mark.parametrize(
    "uri",
    [
        "bigtable://",
        "bigtable://project",
        "bigtable://project/instance",
        "bigtable://project/instance/table/more",
        "bigtable://user@project/instance/table",
        "bigtable://project/instance/table?timeout=0",
        "bigtable://project/instance/table?endpoint=nonsense",
        "bigtable://project/instance/table?tabel=x",
    ],
)
async def test_a_uri_that_cannot_be_right_is_refused(uri: str) -> None:
    with pytest.raises(kv.CannotOpen):
        await kv.open(uri)


async def test_credentials_beside_the_uri_are_refused() -> None:
    with pytest.raises(kv.CannotOpen, match="standard chain"):
        await kv.open("bigtable://project/instance/table", credentials={"key": "x"})
