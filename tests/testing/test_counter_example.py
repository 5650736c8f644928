"""The example of `docs/simulator.md`: clients that count over a bad network, and crash, yet never count wrong."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import msgspec
import pytest

from headwater.kv import ABSENT, PredicateFailed, Store, StoreUnavailable, UnknownOutcome
from headwater.kv.drivers.memory import MemoryStore
from headwater.testing.faulty import FaultyStore
from headwater.testing.sim import Simulation, explore, must_catch
from headwater.testing.toxics import ApplyLate, Delay, FailAfter, FailBefore, Throttle, Toxic

CLIENTS = 4
INCREMENTS = 5
TOXICS: list[Toxic] = [
    Delay(0.3, longest=2),
    FailBefore(0.05),
    Throttle(0.05),
    FailAfter(0.05),
    ApplyLate(0.05, longest=5),
]

GUARDS = {
    "compare-and-swap": "the counter is written only if nobody wrote it since it was read",
    "unknown outcome": "who cannot know if an increment was counted looks for its name before counting it again",
}


async def increment(store: Store, name: str, without: str) -> None:
    """Count the increment called *name* once. When this returns, it has been."""
    while True:
        try:
            now = await store.get(b"counters", b"total")
            counted = [] if now is None else msgspec.json.decode(now.value, type=list[str])
            if name in counted and without != "unknown outcome":
                return
            value = msgspec.json.encode([*counted, name])
            if without == "compare-and-swap":
                await store.set(b"counters", b"total", value)
            else:
                await store.set_if(b"counters", b"total", value, ABSENT if now is None else now.predicate)
        except StoreUnavailable:
            await asyncio.sleep(0.5)
        except (PredicateFailed, UnknownOutcome):
            continue  # reading again tells
        else:
            return


def counting(sim: Simulation, without: str = "") -> None:
    """Each client has a list of increments to make, which outlives its crashes; what is acknowledged is struck off."""
    memory = MemoryStore()
    store = FaultyStore(memory, sim.random, TOXICS, note=sim.note)
    acknowledged: list[str] = []

    async def client(todo: list[str]) -> None:
        while todo:
            await increment(store, todo[0], without)
            sim.note("{} acknowledged", todo[0])
            acknowledged.append(todo.pop(0))

    async def keep_running(name: str, todo: list[str]) -> None:
        while todo:
            await sim.spawn(name, client(todo), crash=0.02).over()

    for number in range(CLIENTS):
        todo = [f"{number}.{n}" for n in range(INCREMENTS)]
        sim.spawn(f"init-{number}", keep_running(f"client-{number}", todo))
    sim.run()
    reading = sim.spawn("reader", memory.get(b"counters", b"total"))
    sim.run()
    total = reading.result()
    counted = [] if total is None else msgspec.json.decode(total.value, type=list[str])
    assert len(acknowledged) == CLIENTS * INCREMENTS
    assert sorted(set(acknowledged) - set(counted)) == [], "acknowledged, and not counted"
    assert sorted({name for name in counted if counted.count(name) > 1}) == [], "counted more than once"


def test_no_increment_is_lost_or_counted_twice_under_500_seeds() -> None:
    explore(counting, range(500))


@pytest.mark.parametrize("guard", GUARDS)
def test_a_guard_that_is_switched_off_is_missed_within_200_seeds(guard: str) -> None:
    must_catch(guard, partial(counting, without=guard), range(200))


def timeline_of(seed: int) -> str:
    with Simulation(seed) as sim:
        counting(sim)
        return sim.trace


def test_a_seed_is_the_same_run_in_any_process() -> None:
    program = f"import runpy; print(runpy.run_path({__file__!r})['timeline_of'](5), end='')"
    for hash_seed in ("0", "1", "random"):
        ran = subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert ran.stdout == timeline_of(5)


def test_every_kind_of_trouble_occurs() -> None:
    with Simulation(5) as sim:
        counting(sim)
        for trouble in ("StoreUnavailable", "SlowDown", "UnknownOutcome", "late", "PredicateFailed", "crashed"):
            assert trouble in sim.timeline


def test_the_page_shows_this_code() -> None:
    page = (Path(__file__).parents[2] / "docs" / "simulator.md").read_text()
    shown = re.findall(r"^```python example\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(shown) == 2
    source = Path(__file__).read_text()
    for block in shown:
        assert block in source
