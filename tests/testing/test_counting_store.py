"""`CountingStore` is a store like any other, and its counts are exact."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from headwater import kv
from headwater.kv import ABSENT, Delete, PredicateFailed, Set, Store
from headwater.kv.drivers.memory import MemoryStore
from headwater.testing.counting import CountingStore, Trips
from headwater.testing.kv_suite import KVStoreSuite

pytestmark = pytest.mark.anyio


class TestCountingMemory(KVStoreSuite):
    survives_reopening = False
    shared_between_processes = False
    many = 2_000

    @pytest.fixture
    def uri(self) -> str:
        return "mem://"

    @pytest.fixture
    async def store(self, tenant_uri: str) -> AsyncIterator[Store]:
        async with CountingStore(await kv.open(tenant_uri)) as store:
            yield store


@pytest.fixture
def store() -> CountingStore:
    return CountingStore(MemoryStore())


async def test_each_kind_of_call_is_one_trip_of_its_kind(store: CountingStore) -> None:
    with store.counted() as trips:
        await store.get(b"p", b"k")
        await store.set(b"p", b"k", b"v")
        await store.set_if(b"p", b"other", b"v", ABSENT)
        await store.delete(b"p", b"k")
        await store.get_many(b"p", [b"a", b"b", b"c"])
        await store.set_many(b"p", {b"a": b"1", b"b": b"2"})
        await store.delete_many(b"p", [b"a", b"b"])
        await store.pipeline([Set(b"p", b"k", b"v"), Delete(b"p", b"k")])
    assert trips == Trips(get=1, set=1, set_if=1, delete=1, get_many=1, set_many=1, delete_many=1, pipeline=1)
    assert trips.total == 8


@pytest.mark.parametrize(("keys", "pages"), [(0, 1), (1, 1), (10, 1), (11, 2), (30, 3)])
async def test_each_page_of_a_scan_is_one_trip_and_so_is_finding_nothing(
    store: CountingStore, keys: int, pages: int
) -> None:
    await store.set_many(b"p", {bytes([n]): b"" for n in range(keys)})
    with store.counted() as trips:
        found = [entry async for page in store.scan(b"p", page=10) for entry in page]
    assert len(found) == keys
    assert trips == Trips(scan=pages)


async def test_pages_that_nobody_asked_for_are_not_counted(store: CountingStore) -> None:
    await store.set_many(b"p", {bytes([n]): b"" for n in range(30)})
    with store.counted() as trips:
        scan = aiter(store.scan(b"p", page=10))
        assert trips == Trips()
        await anext(scan)
    assert trips == Trips(scan=1)


async def test_a_call_that_fails_is_a_trip(store: CountingStore) -> None:
    await store.set(b"p", b"k", b"v")
    with store.counted() as trips, pytest.raises(PredicateFailed):
        await store.set_if(b"p", b"k", b"v", ABSENT)
    assert trips == Trips(set_if=1)


async def test_counting_one_partition_leaves_out_the_others(store: CountingStore) -> None:
    with store.counted() as everything, store.counted(b"staging") as staging:
        await store.get(b"branches", b"main")
        await store.get(b"staging", b"file")
        await store.pipeline([Set(b"branches", b"main", b""), Set(b"staging", b"file", b""), Delete(b"staging", b"x")])
    assert everything == Trips(get=2, pipeline=1)
    assert staging == Trips(get=1, pipeline=1)


async def test_counting_stops_with_its_block(store: CountingStore) -> None:
    with store.counted() as outer:
        with store.counted() as inner:
            await store.get(b"p", b"k")
        await store.get(b"p", b"k")
    await store.get(b"p", b"k")
    assert (inner, outer) == (Trips(get=1), Trips(get=2))


async def test_trips_show_as_the_budget_that_they_would_meet() -> None:
    assert repr(Trips(get=1, set_if=2)) == "Trips(get=1, set_if=2)"
