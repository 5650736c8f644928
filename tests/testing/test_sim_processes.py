"""Processes of a simulation: they crash as by kill -9, end as under asyncio.run, and are named when they are stuck."""

from __future__ import annotations

import asyncio
import gc
import itertools
import warnings
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar

import pytest

from headwater.kv.drivers.memory import MemoryStore
from headwater.testing.faulty import FaultyStore
from headwater.testing.sim import Deadlock, LimitReached, Process, Simulation, SimulationError
from headwater.testing.toxics import Delay


async def crash_after(seconds: float, process: Process[None]) -> None:
    await asyncio.sleep(seconds)
    process.crash()


def test_a_run_lasts_until_every_process_ended() -> None:
    with Simulation(1) as sim:
        processes = [sim.spawn(f"sleeper-{n}", asyncio.sleep(n, n)) for n in range(5)]
        sim.run()
        assert [process.result() for process in processes] == [0, 1, 2, 3, 4]
        assert sim.time == 4


def test_what_a_process_raises_ends_the_run() -> None:
    async def fail() -> None:
        await asyncio.sleep(1)
        raise ValueError("a defect")

    with Simulation(1) as sim:
        sim.spawn("bystander", asyncio.sleep(1000))
        sim.spawn("failing", fail())
        with pytest.raises(ValueError, match="a defect"):
            sim.run()
        assert sim.time == 1


def test_tasks_that_a_process_leaves_behind_are_cancelled() -> None:
    events = []

    async def forever() -> None:
        try:
            await asyncio.sleep(1e9)
        finally:
            events.append("cancelled")

    async def main() -> None:
        events.append(asyncio.create_task(forever()).get_name())
        await asyncio.sleep(1)

    with Simulation(1) as sim:
        sim.spawn("main", main())
        sim.run()
        assert events == ["main/1", "cancelled"]
        assert sim.time == 1


def test_a_process_does_not_inherit_the_context_of_who_spawns_it() -> None:
    colour = ContextVar("colour", default="none")
    colour.set("red")

    async def child() -> str:
        return colour.get()

    async def parent(sim: Simulation) -> Process[str]:
        colour.set("blue")
        return sim.spawn("child", child())

    with Simulation(1) as sim:
        spawned = sim.spawn("parent", parent(sim))
        sim.run()
        assert spawned.result().result() == "none"


def test_a_crash_runs_no_clean_up_in_any_task_of_the_process() -> None:
    cleaned = []

    async def careful(name: str) -> None:
        try:
            async with asyncio.timeout(1000):
                await asyncio.sleep(100)
        except BaseException:
            cleaned.append(f"except in {name}")
            raise
        finally:
            cleaned.append(f"finally in {name}")
            await asyncio.sleep(1)
            cleaned.append(f"later in {name}")

    async def generate() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
                await asyncio.sleep(1)
        finally:
            cleaned.append("generator")

    async def consume() -> None:
        async for _ in generate():
            await asyncio.sleep(0)

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(careful("child"))
            group.create_task(consume())
            await careful("main")

    for seed in range(30):
        with Simulation(seed) as sim:
            victim = sim.spawn("victim", main())
            sim.spawn("killer", crash_after(5, victim))
            sim.run()
            gc.collect()
            assert victim.crashed
            assert cleaned == []
        cleaned.clear()


@pytest.mark.parametrize("seconds", [0, 10])
def test_what_only_a_pending_callback_of_the_dead_holds_is_not_cleaned_up_either(seconds: float) -> None:
    cleaned, resumed = [], []

    def generate() -> Iterator[None]:
        try:
            yield
        finally:
            cleaned.append("generator")

    def resume(held: Iterator[None]) -> None:
        resumed.append("generator")
        next(held, None)

    async def main() -> None:
        held = generate()
        next(held)
        asyncio.get_running_loop().call_later(seconds, resume, held)
        del held
        for _ in range(3):
            await asyncio.sleep(0)

    crashes = 0
    for seed in range(50):
        with Simulation(seed) as sim:
            victim = sim.spawn("victim", main(), crash=0.3)
            sim.run()
            crashes += victim.crashed
            assert cleaned == resumed
        cleaned.clear()
        resumed.clear()
    assert crashes > 10


def test_letting_go_of_crashed_processes_says_nothing() -> None:
    async def stubborn() -> None:
        while True:
            try:
                await asyncio.sleep(1)
            finally:
                await asyncio.sleep(1)

    async def main() -> None:
        waiting = asyncio.create_task(stubborn())
        never_started = stubborn()
        await asyncio.gather(waiting, stubborn(), asyncio.get_running_loop().create_future())
        await never_started

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with Simulation(1) as sim:
            victim = sim.spawn("victim", main())
            sim.spawn("killer", crash_after(5.5, victim))
            sim.run()
        del victim, sim
        gc.collect()
    assert warned == []


def test_the_trace_ends_where_the_block_does() -> None:
    async def main(sim: Simulation) -> None:
        try:
            await asyncio.sleep(1)
        finally:
            sim.note("cleaned up")

    with Simulation(1) as sim:
        victim = sim.spawn("victim", main(sim))
        sim.spawn("killer", crash_after(0.5, victim))
        sim.run()
        trace = sim.trace
    assert sim.trace == trace
    assert "crashed" in trace
    assert "cleaned up" not in trace


def test_a_process_can_crash_at_every_await() -> None:
    async def main(reached: list[int]) -> None:
        for step in range(5):
            reached.append(step)
            await asyncio.sleep(0)
        reached.append(5)

    crashed_after = set()
    for seed in range(200):
        reached: list[int] = []
        with Simulation(seed) as sim:
            process = sim.spawn("main", main(reached), crash=0.2)
            sim.run()
            crashed_after.add(reached[-1] if reached else -1)
            assert process.crashed or reached[-1] == 5
    assert crashed_after == {-1, 0, 1, 2, 3, 4, 5}


def test_a_process_crashes_only_if_it_may() -> None:
    async def steps() -> None:
        for _ in range(1000):
            await asyncio.sleep(0)

    with Simulation(1) as sim:
        mortal, immortal = sim.spawn("mortal", steps(), crash=0.1), sim.spawn("immortal", steps())
        sim.run()
        assert (mortal.crashed, immortal.crashed) == (True, False)


def test_the_timers_of_the_dead_do_not_move_time() -> None:
    with Simulation(1) as sim:
        victim = sim.spawn("victim", asyncio.sleep(1000))
        sim.spawn("killer", crash_after(5, victim))
        sim.run()
        assert sim.time == 5


def test_what_a_crashed_client_sent_still_lands() -> None:
    memory = MemoryStore()
    with Simulation(1) as sim:
        store = FaultyStore(memory, sim.random, [Delay(1.0, 100.0)])
        client = sim.spawn("client", store.set(b"p", b"k", b"v"))
        sim.spawn("killer", crash_after(0.001, client))
        sim.run()
        assert sim.time > 1
        reader = sim.spawn("reader", memory.get(b"p", b"k"))
        sim.run()
        assert client.crashed
        assert reader.result() is not None


def test_a_crashed_process_can_be_started_again_under_its_name() -> None:
    async def work(done: list[int]) -> None:
        while len(done) < 20:
            await asyncio.sleep(1)
            done.append(len(done))

    async def supervise(sim: Simulation, done: list[int]) -> int:
        crashes = 0
        while True:
            worker = sim.spawn("worker", work(done), crash=0.1)
            await worker.over()
            if not worker.crashed:
                return crashes
            crashes += 1

    with Simulation(1) as sim:
        supervisor = sim.spawn("supervisor", supervise(sim, []))
        sim.run()
        crashes = supervisor.result()
        assert crashes > 0
        assert f"worker#{crashes + 1} " in sim.timeline


def test_a_process_cannot_crash_itself() -> None:
    async def main(itself: list[Process[None]]) -> None:
        itself[0].crash()

    with Simulation(1) as sim:
        itself: list[Process[None]] = []
        itself.append(sim.spawn("suicidal", main(itself)))
        with pytest.raises(SimulationError, match="suicidal cannot crash itself"):
            sim.run()


def test_the_result_of_a_process_without_one_is_refused() -> None:
    with Simulation(1) as sim:
        process = sim.spawn("sleeper", asyncio.sleep(1))
        with pytest.raises(SimulationError, match="sleeper has no result: it has not ended"):
            process.result()
        process.crash()
        with pytest.raises(SimulationError, match="sleeper has no result: it crashed"):
            process.result()


def test_a_deadlock_names_who_waits_and_where() -> None:
    async def hold(one: asyncio.Lock, other: asyncio.Lock) -> None:
        async with one:
            await asyncio.sleep(1)
            async with other:
                pass

    async def drained() -> AsyncIterator[int]:
        await asyncio.get_running_loop().create_future()
        yield 1

    async def drain() -> None:
        async for _ in drained():
            pass

    with Simulation(1) as sim:
        first, second = asyncio.Lock(), asyncio.Lock()
        sim.spawn("left", hold(first, second))
        sim.spawn("right", hold(second, first))
        sim.spawn("drain", drain())
        sim.spawn("innocent", asyncio.sleep(1))
        with pytest.raises(Deadlock) as stuck:
            sim.run()
    message = str(stuck.value)
    assert "innocent" not in message
    for name, place in [("left", "in hold > locks.py"), ("right", "in acquire"), ("drain", "in drained")]:
        assert any(name in line and place in line for line in message.splitlines()), message
    assert "test_sim_processes.py:" in message


def test_a_process_whose_partner_crashed_holding_a_lock_is_a_deadlock() -> None:
    async def hold(lock: asyncio.Lock) -> None:
        async with lock:
            await asyncio.sleep(10)

    with Simulation(1) as sim:
        lock = asyncio.Lock()
        holder = sim.spawn("holder", hold(lock))
        sim.spawn("killer", crash_after(1, holder))
        sim.run(seconds=2)
        sim.spawn("next", hold(lock))
        with pytest.raises(Deadlock, match="next"):
            sim.run()


@pytest.mark.parametrize(("pause", "limit"), [(0.0, {"steps": 1000}), (60.0, {"seconds": 3600.0})])
def test_a_run_without_end_reaches_its_limit(pause: float, limit: dict[str, float]) -> None:
    async def forever() -> None:
        for _ in itertools.count():
            await asyncio.sleep(pause)

    with Simulation(1) as sim:
        sim.spawn("busy", forever())
        with pytest.raises(LimitReached, match=r"busy at test_sim_processes\.py"):
            sim.run(**limit)  # type: ignore[arg-type]  # steps is a whole number above
        assert sim.time <= 3600


def test_after_its_block_a_simulation_is_over() -> None:
    with Simulation(1) as sim:
        sim.spawn("main", asyncio.sleep(1))
    with pytest.raises(SimulationError, match="over"):
        sim.run()
