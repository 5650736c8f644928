"""`FaultyStore` without toxics is a store like any other; each toxic does what it says, and only that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from functools import partial
from random import Random
from typing import Any, TypeVar

import pytest

from headwater.kv import (
    ABSENT,
    Delete,
    Operation,
    PredicateFailed,
    Set,
    SetIf,
    SlowDown,
    Store,
    StoreError,
    StoreUnavailable,
    UnknownOutcome,
)
from headwater.kv.drivers.memory import MemoryStore
from headwater.kv.gate import Gate, tenant_prefix
from headwater.testing.counting import CountingStore, Trips
from headwater.testing.faulty import FaultyStore
from headwater.testing.kv_suite import KVStoreSuite
from headwater.testing.sim import Simulation
from headwater.testing.toxics import ApplyLate, Delay, FailAfter, FailBefore, Throttle, Toxic

T = TypeVar("T")
Write = Callable[[Store], Awaitable[Any]]

P = b"partition"

SEEDED = Random(1)  # noqa: S311  (seeded on purpose)


async def keys_of(store: Store) -> list[bytes]:
    return [entry.key async for page in store.scan(P, page=2) for entry in page]


WRITES: dict[str, Write] = {
    "set": lambda store: store.set(P, b"new", b"value"),
    "set_if": lambda store: store.set_if(P, b"new", b"value", ABSENT),
    "delete": lambda store: store.delete(P, b"old"),
    "set_many": lambda store: store.set_many(P, {b"new": b"value"}),
    "delete_many": lambda store: store.delete_many(P, [b"old"]),
    "pipeline": lambda store: store.pipeline([Set(P, b"new", b"value")]),
}

READS: dict[str, Callable[[Store], Awaitable[Any]]] = {
    "get": lambda store: store.get(P, b"old"),
    "get_many": lambda store: store.get_many(P, [b"old", b"new"]),
    "scan": keys_of,
}


class TestFaultyMemoryWithoutFaults(KVStoreSuite):
    survives_reopening = False
    shared_between_processes = False
    many = 2_000

    @pytest.fixture
    def uri(self) -> str:
        return "mem://"

    @pytest.fixture
    async def store(self) -> AsyncIterator[Store]:
        async with Gate(FaultyStore(MemoryStore(), SEEDED, [Delay(0.2, 0.0)]), tenant_prefix("")) as store:
            yield store


def simulated(main: Callable[[Random], Coroutine[Any, Any, T]], seed: int = 1) -> T:
    """What *main* returns when it is run alone, in virtual time."""
    with Simulation(seed) as sim:
        process = sim.spawn("main", main(sim.random))
        sim.run()
        return process.result()


async def holding(*keys: bytes) -> MemoryStore:
    memory = MemoryStore()
    await memory.set_many(P, dict.fromkeys(keys, b"value"))
    return memory


async def outcome_of(call: Awaitable[object]) -> type[StoreError] | None:
    try:
        await call
    except StoreError as error:
        return type(error)
    return None


async def changed_by(
    write: Write, toxics: Sequence[Toxic], random: Random
) -> tuple[type[StoreError] | None, bool, bool]:
    """How *write* ends under *toxics*; whether it shows at once; and whether it shows in the end."""
    memory = await holding(b"old")
    before = await keys_of(memory)
    store = FaultyStore(memory, random, toxics)
    outcome = await outcome_of(write(store))
    at_once = await keys_of(memory) != before
    await store.settle()
    return outcome, at_once, await keys_of(memory) != before


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize(
    ("toxics", "outcome", "at_once", "in_the_end"),
    [
        ([], None, True, True),
        ([Delay(1.0, 10.0)], None, True, True),
        ([FailBefore(1.0)], StoreUnavailable, False, False),
        ([Throttle(1.0)], SlowDown, False, False),
        ([FailAfter(1.0)], UnknownOutcome, True, True),
        ([ApplyLate(1.0, 10.0)], UnknownOutcome, False, True),
        ([FailBefore(0.0), Throttle(0.0), FailAfter(0.0), ApplyLate(0.0, 10.0)], None, True, True),
        ([Throttle(1.0), FailBefore(1.0), FailAfter(1.0)], SlowDown, False, False),
    ],
    ids=lambda value: " ".join(map(repr, value)) if isinstance(value, list) else None,
)
def test_a_write_ends_as_its_toxic_says(
    write: Write, toxics: list[Toxic], outcome: type[StoreError] | None, at_once: object, in_the_end: object
) -> None:
    assert simulated(partial(changed_by, write, toxics)) == (outcome, at_once, in_the_end)


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize(
    ("toxic", "outcome"),
    [
        (Delay(1.0, 10.0), None),
        (FailBefore(1.0), StoreUnavailable),
        (Throttle(1.0), SlowDown),
        (FailAfter(1.0), StoreUnavailable),
        (ApplyLate(1.0, 10.0), None),
    ],
    ids=repr,
)
def test_a_read_ends_as_its_toxic_says(
    read: Callable[[Store], Awaitable[Any]], toxic: Toxic, outcome: type[StoreError] | None
) -> None:
    async def main(random: Random) -> type[StoreError] | None:
        return await outcome_of(read(FaultyStore(await holding(b"old"), random, [toxic])))

    assert simulated(main) is outcome


def test_a_delay_takes_time_on_the_way_there_and_back_and_never_longer_than_it_says() -> None:
    async def main(random: Random) -> list[float]:
        loop = asyncio.get_running_loop()
        store = FaultyStore(await holding(), random, [Delay(1.0, 10.0)])
        took = []
        for _ in range(200):
            started = loop.time()
            await store.get(P, b"k")
            took.append(loop.time() - started)
        return took

    took = simulated(main)
    assert 0 < min(took) < 5
    assert 15 < max(took) <= 20


def test_a_late_write_lands_within_the_time_it_says() -> None:
    async def main(random: Random) -> float:
        loop = asyncio.get_running_loop()
        memory = await holding()
        store = FaultyStore(memory, random, [ApplyLate(1.0, 10.0)])
        assert await outcome_of(store.set(P, b"k", b"v")) is UnknownOutcome
        await store.settle()
        assert await memory.get(P, b"k") is not None
        return loop.time()

    assert 0 < simulated(main) <= 10


def test_a_late_compare_and_swap_lands_only_if_its_predicate_still_holds() -> None:
    async def main(random: Random) -> bytes:
        memory = await holding(b"k")
        store = FaultyStore(memory, random, [ApplyLate(1.0, 10.0)])
        seen = await memory.get(P, b"k")
        assert seen is not None
        assert await outcome_of(store.set_if(P, b"k", b"late", seen.predicate)) is UnknownOutcome
        await memory.set_if(P, b"k", b"in time", seen.predicate)
        await store.settle()
        last = await memory.get(P, b"k")
        assert last is not None
        return last.value

    assert simulated(main) == b"in time"


def test_a_refusal_by_the_store_itself_reaches_the_client() -> None:
    async def main(random: Random) -> None:
        store = FaultyStore(await holding(b"k"), random, [Delay(0.5, 1.0)])
        with pytest.raises(PredicateFailed, match="'k'"):
            await store.set_if(P, b"k", b"v", ABSENT)
        with pytest.raises(PredicateFailed, match="'k'"):
            await store.pipeline([Set(P, b"a", b""), SetIf(P, b"k", b"v", ABSENT), Set(P, b"b", b"")])
        assert await keys_of(store) == [b"a", b"k"]

    simulated(main)


PIPELINE = [b"1", b"2", b"3", b"4"]


@pytest.mark.parametrize("toxic", [FailAfter(1.0), ApplyLate(1.0, 10.0)], ids=repr)
def test_of_an_interrupted_pipeline_a_prefix_is_applied_and_every_prefix_occurs(toxic: Toxic) -> None:
    async def main(random: Random) -> set[int]:
        """How many operations had been applied, whenever one looked."""
        memory = await holding()
        store = FaultyStore(memory, random, [toxic, Delay(0.5, 3.0)])
        seen = set()
        writing = asyncio.ensure_future(outcome_of(store.pipeline([Set(P, key, b"") for key in PIPELINE])))
        for _ in range(60):
            applied = await keys_of(memory)
            assert applied == PIPELINE[: len(applied)]
            seen.add(len(applied))
            await asyncio.sleep(0.5)
        assert await writing is UnknownOutcome
        return {max(seen)} if isinstance(toxic, FailAfter) else seen

    seen = set().union(*(simulated(main, seed) for seed in range(40)))
    assert seen == ({1, 2, 3, 4} if isinstance(toxic, FailAfter) else {0, 1, 2, 3, 4})


def test_a_pipeline_over_a_store_that_fails_in_its_midst_does_not_say_that_nothing_was_written() -> None:
    async def main(random: Random) -> None:
        ends = set()
        for _ in range(100):
            memory = MemoryStore()
            flaky = FaultyStore(memory, random, [FailBefore(0.5)])
            outcome = await outcome_of(FaultyStore(flaky, random).pipeline([Set(P, b"1", b""), Set(P, b"2", b"")]))
            ends.add((outcome, *await keys_of(memory)))
        assert ends == {(None, b"1", b"2"), (StoreUnavailable,), (UnknownOutcome, b"1")}

    simulated(main)


def test_a_late_pipeline_stops_where_a_predicate_no_longer_holds() -> None:
    async def main(random: Random) -> None:
        memory = await holding()
        store = FaultyStore(memory, random, [ApplyLate(1.0, 10.0)])
        operations: list[Operation] = [Set(P, b"1", b""), SetIf(P, b"2", b"late", ABSENT), Set(P, b"3", b"")]
        assert await outcome_of(store.pipeline(operations)) is UnknownOutcome
        overtaken = await outcome_of(memory.set_if(P, b"2", b"in time", ABSENT)) is None
        await store.settle()
        assert await keys_of(memory) == ([b"1", b"2"] if overtaken else [b"1", b"2", b"3"])

    for seed in range(20):
        simulated(main, seed)


def test_the_operations_of_a_pipeline_let_others_in_between() -> None:
    async def main(random: Random) -> bool:
        memory = await holding()
        store = FaultyStore(memory, random, [Delay(1.0, 2.0)])
        writing = asyncio.ensure_future(store.pipeline([Set(P, b"1", b""), Set(P, b"2", b"")]))
        between = False
        while not writing.done():
            between = between or await keys_of(memory) == [b"1"]
            await asyncio.sleep(0.1)
        return between

    assert simulated(main)


def test_a_bulk_write_may_stop_in_the_middle_and_runs_in_no_order() -> None:
    async def main(random: Random) -> tuple[bytes, ...]:
        memory = await holding(*PIPELINE)
        store = FaultyStore(memory, random, [FailAfter(1.0)])
        assert await outcome_of(store.delete_many(P, PIPELINE)) is UnknownOutcome
        assert await outcome_of(store.set_many(b"other", dict.fromkeys(PIPELINE, b""))) is UnknownOutcome
        return tuple(await keys_of(memory))

    left = {simulated(main, seed) for seed in range(100)}
    assert {len(keys) for keys in left} == {0, 1, 2, 3}
    assert {keys for keys in left if len(keys) == 3} == {
        tuple(key for key in PIPELINE if key != gone) for gone in PIPELINE
    }


def test_a_scan_asks_for_each_page_anew_and_may_fail_at_any() -> None:
    failed: set[int] = set()

    async def main(random: Random) -> None:
        store = FaultyStore(await holding(*PIPELINE), random, [FailBefore(0.3)])
        seen: list[bytes] = []
        try:
            async for page in store.scan(P, page=1):
                seen += [entry.key for entry in page]
        except StoreUnavailable:
            failed.add(len(seen))
        else:
            assert seen == PIPELINE
        assert seen == PIPELINE[: len(seen)]

    for seed in range(100):
        simulated(main, seed)
    assert failed == {0, 1, 2, 3, 4}


def test_a_client_that_gives_up_does_not_stop_what_it_sent() -> None:
    async def main(random: Random) -> None:
        memory = await holding()
        store = FaultyStore(memory, random, [Delay(1.0, 10.0)])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await store.set(P, b"k", b"v")
        assert await memory.get(P, b"k") is None
        await store.settle()
        assert await memory.get(P, b"k") is not None

    simulated(main)


def test_an_operation_that_failed_before_never_reached_the_store() -> None:
    async def main(random: Random) -> None:
        inner = CountingStore(MemoryStore())
        store = FaultyStore(inner, random, [FailBefore(1.0)])
        with inner.counted() as trips:
            for write in WRITES.values():
                assert await outcome_of(write(store)) is StoreUnavailable
        assert trips == Trips()

    simulated(main)


def test_the_same_random_gives_the_same_faults() -> None:
    async def main(random: Random) -> list[type[StoreError] | None]:
        toxics: list[Toxic] = [FailBefore(0.3), Throttle(0.3), FailAfter(0.3), ApplyLate(0.3, 1.0)]
        store = FaultyStore(await holding(), random, toxics)
        return [await outcome_of(store.set(P, b"k", b"v")) for _ in range(50)]

    assert simulated(main, 1) == simulated(main, 1) != simulated(main, 2)
    assert set(simulated(main, 1)) == {None, StoreUnavailable, SlowDown, UnknownOutcome}


@pytest.mark.anyio
async def test_closing_waits_for_what_is_on_its_way_on_an_ordinary_loop_too() -> None:
    memory = await holding(b"k")
    async with FaultyStore(memory, SEEDED, [ApplyLate(1.0, 0.05)]) as store:
        await outcome_of(store.pipeline([Delete(P, b"k"), Set(P, b"1", b"")]))
    assert await keys_of(memory) == [b"1"]
