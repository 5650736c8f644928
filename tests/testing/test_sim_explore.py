"""One seed is one run, to the byte; and exploring many finds what is broken."""

from __future__ import annotations

import asyncio
import gc
import random
import subprocess
import sys
from collections.abc import Generator

import pytest

from headwater.testing.sim import (
    NotCaught,
    NotDeterministic,
    SeedFailed,
    Simulation,
    explore,
    first_failure,
    must_catch,
)


async def noisy(sim: Simulation, names: set[str]) -> None:
    """Everything whose order might come from an address, a hash or the collector."""

    async def stay(name: str) -> None:
        try:
            await asyncio.sleep(sim.random.random())
            sim.note("{} slept", name)
            await asyncio.sleep(1000)
        finally:
            sim.note("{} cancelled", name)

    async def fail() -> None:
        await asyncio.sleep(0.5)
        raise ValueError

    try:
        async with asyncio.TaskGroup() as group:
            for name in sorted(names):
                group.create_task(stay(name))
            group.create_task(fail())
    except ExceptionGroup:
        pass
    waiting = {asyncio.ensure_future(asyncio.sleep(1, name)) for name in sorted(names)}
    done, _ = await asyncio.wait(waiting)
    for task in done:
        sim.note("{} done", task.result())


def trace_of(seed: int) -> str:
    with Simulation(seed) as sim:
        for number in range(3):
            sim.spawn(f"noisy-{number}", noisy(sim, set("abcdefgh")), crash=0.001)
        sim.run()
        return sim.trace


def test_a_seed_is_a_run_to_the_byte() -> None:
    assert trace_of(7) == trace_of(7)
    assert len({trace_of(seed) for seed in range(50)}) == 50


def test_a_seed_is_the_same_run_in_another_process_whatever_its_hash_seed() -> None:
    program = f"import runpy; print(runpy.run_path({__file__!r})['trace_of'](7), end='')"
    for hash_seed in ("0", "1", "random", "random"):
        ran = subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert ran.stdout == trace_of(7)


def test_the_collector_does_not_clean_up_in_the_midst_of_a_run() -> None:
    cleaned = []

    def generate() -> Generator[None, object, None]:
        itself = yield
        try:
            yield
        finally:
            cleaned.append(itself)

    async def main() -> list[object]:
        for _ in range(2000):
            held = generate()
            next(held)
            held.send(held)  # a cycle
            await asyncio.sleep(0)
        return list(cleaned)

    with Simulation(1) as sim:
        process = sim.spawn("main", main())
        sim.run()
        assert process.result() == []
    gc.collect()
    assert cleaned


def test_the_trace_has_every_step_and_the_timeline_only_what_was_noted() -> None:
    async def main(sim: Simulation) -> None:
        sim.note("begins")
        await asyncio.sleep(1.5)
        sim.note("has {} and {}", b"bytes", "text")

    with Simulation(1) as sim:
        sim.note("setting up")
        sim.spawn("main", main(sim))
        sim.run()
        assert [line.split(maxsplit=2) for line in sim.timeline.splitlines()] == [
            ["0.000000", "scenario", "setting up"],
            ["0.000000", "main", "begins"],
            ["1.500000", "main", "has b'bytes' and text"],
            ["1.500000", "main", "ended"],
        ]
        assert set(sim.timeline.splitlines()) < set(sim.trace.splitlines())
        assert sum("step" in line for line in sim.trace.splitlines()) >= 3


def test_a_large_argument_of_a_note_is_shown_shortened() -> None:
    with Simulation(1) as sim:
        sim.note("wrote {}", b"x" * 400_000)
        assert len(sim.timeline) < 300


def racy(sim: Simulation) -> None:
    """Fails where the second of two ready tasks is picked first."""
    order: list[str] = []

    async def arrive(name: str) -> None:
        sim.note("{} arrives", name)
        order.append(name)

    for name in ("first", "second"):
        sim.spawn(name, arrive(name))
    sim.run()
    assert order == ["first", "second"], "out of order"


def sound(sim: Simulation) -> None:
    sim.spawn("main", asyncio.sleep(1))
    sim.run()


def test_exploring_tells_the_seed_and_shows_what_happened_there() -> None:
    failure = first_failure(racy)
    assert failure is not None
    with pytest.raises(SeedFailed, match=rf"(?s)seed {failure.seed} failed.*out of order.*second arrives") as failed:
        explore(racy)
    assert isinstance(failed.value.__cause__, AssertionError)
    with pytest.raises(SeedFailed, match=f"seed {failure.seed} failed"):
        explore(racy, seeds=[failure.seed])


def test_exploring_what_is_sound_finds_nothing() -> None:
    explore(sound)
    assert first_failure(sound) is None


def test_a_guard_whose_absence_nobody_notices_is_not_caught() -> None:
    assert must_catch("order", racy).tried > 0
    with pytest.raises(NotCaught, match="order"):
        must_catch("order", sound)


def test_a_scenario_that_breaks_otherwise_has_caught_nothing() -> None:
    def broken(sim: Simulation) -> None:
        raise TypeError(sim.seed)

    with pytest.raises(SeedFailed, match="broke otherwise"):
        must_catch("order", broken)


def test_a_seed_that_gives_two_different_runs_is_found_out() -> None:
    def unseeded(sim: Simulation) -> None:
        sim.note("drew {}", random.random())  # noqa: S311  (unseeded on purpose)
        raise AssertionError

    with pytest.raises(NotDeterministic, match="drew"):
        explore(unseeded)
