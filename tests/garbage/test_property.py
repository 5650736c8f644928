"""Nothing that anybody needs is deleted: writers, committers, copiers and resetters against collectors of garbage."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress

from headwater.engine import branches, copies, read, write
from headwater.engine.commit import Description, commit
from headwater.engine.lake import Lake
from headwater.engine.paths import path_of
from headwater.engine.repository import Repository
from headwater.errors import HeadwaterError
from headwater.garbage import RetentionRules, make_plan, marking, sweep, write_rules
from headwater.garbage.limits import DAY, MIN_AGE
from headwater.index import Entry
from headwater.kv.drivers.memory import MemoryStore
from headwater.outside import Outside
from headwater.testing.faulty import FaultyStore
from headwater.testing.sim.explore import explore, must_catch
from headwater.testing.sim.simulation import Simulation
from headwater.testing.toxics import Delay
from tests.garbage.actors import PATHS, acting, hopping
from tests.garbage.blobs import SlowBlobs
from tests.garbage.oracle import needed

EPOCH = 1_700_000_000_000
RULES = RetentionRules(1)


class World:
    """A repository whose old days are over: what is written in it from now on is young, and all else is not."""

    def __init__(self, simulation: Simulation, *, rules: RetentionRules | None = RULES) -> None:
        self.simulation = simulation
        self.random = simulation.random
        self.start = 0.0
        self.rules = rules
        self.memory = MemoryStore()
        self.blobs = SlowBlobs(self.random, self.now, 0.5)
        self.faulty = FaultyStore(self.memory, self.random, [Delay(0.5, longest=1)])

    def now(self) -> int:
        return EPOCH + int((self.start + self.simulation.time) * 1000)

    def lake(self, *, calm: bool = False) -> Lake:
        async def opened(uri: str) -> SlowBlobs:
            del uri
            return self.blobs

        outside = Outside(
            now=self.now, elapsed=lambda: self.simulation.time, random=self.random.randbytes, sleep=asyncio.sleep
        )
        return Lake(self.memory if calm else self.faulty, opened, outside)

    async def begin(self) -> None:
        """Files of two branches, committed and staged, all of them days old by the time that anything else happens."""
        repository = await self.lake(calm=True).create("lake", "mem://lake")
        await write_rules(repository, self.rules)
        await branches.create_branch(repository, "dev", "main")
        for branch in ("main", "dev"):
            for number in range(3):
                for path in PATHS:
                    await write.put(repository, branch, path, f"{branch} {number} {path}".encode())
                if number < 2:
                    await commit(repository, branch, self.description(f"old {number}"))
        self.start += 3 * DAY / 1000

    def description(self, message: str) -> Description:
        return Description(message, "tests", self.now())


async def collecting(world: World) -> None:
    lake = world.lake()
    for _ in range(3):
        plan = await make_plan(lake, "lake", age=MIN_AGE)
        swept = await sweep(lake, "lake", plan.run, rate=world.random.choice([None, 2]))
        world.simulation.note("swept {} spared {}", swept.deleted, swept.spared)


async def check(world: World) -> None:
    """Whatever is needed is there."""
    repository = await world.lake(calm=True).open("lake")
    needs = await needed(repository, world.rules, world.now())
    gone = [f"{address} of {why}" for address, why in needs.items() if address not in world.blobs.objects]
    assert not gone
    for branch in ("main", "dev"):
        with suppress(HeadwaterError):
            for entry in await read.list_entries(repository, branch):
                assert isinstance(entry, Entry)
                await read.get(repository, branch, path_of(entry.key))


def scenario(simulation: Simulation, *, rules: RetentionRules | None = RULES) -> None:
    world = World(simulation, rules=rules)
    simulation.spawn("beginning", world.begin())
    simulation.run()
    before = len(world.blobs.objects)
    for number in range(3):
        simulation.spawn(f"client {number}", acting(world, simulation.random.randrange(1 << 30)))
    simulation.spawn("collector", collecting(world))
    simulation.run()
    assert before
    simulation.spawn("auditor", check(world))
    simulation.run()


def test_nothing_that_a_retained_commit_or_staging_needs_is_deleted_while_everything_goes_on() -> None:
    explore(scenario, range(60))


def test_without_rules_no_commit_loses_anything() -> None:
    explore(lambda simulation: scenario(simulation, rules=None), range(30))


@contextmanager
def replaced(module: object, name: str, replacement: object) -> Iterator[None]:
    kept = getattr(module, name)
    setattr(module, name, replacement)
    try:
        yield
    finally:
        setattr(module, name, kept)


def hops(simulation: Simulation) -> None:
    """Objects hop about while garbage is collected, and nobody else is there."""
    world = World(simulation)
    simulation.spawn("beginning", world.begin())
    simulation.run()
    for path in PATHS:
        simulation.spawn(f"hopper {path}", hopping(world, path))
    simulation.spawn("collector", collecting(world))
    simulation.run()
    simulation.spawn("auditor", check(world))
    simulation.run()


def test_an_object_that_hops_from_branch_to_branch_is_not_lost() -> None:
    explore(hops, range(20))


async def _no_note(repository: Repository, addresses: object) -> None:
    del repository, addresses


def test_an_object_that_hops_would_be_lost_without_the_notes_of_copies() -> None:
    def unguarded(simulation: Simulation) -> None:
        with replaced(copies, "note", _no_note):
            hops(simulation)

    must_catch("copies leave a note", unguarded, range(100))


async def _nothing(repository: Repository) -> AsyncIterator[list[str]]:
    del repository
    nothing: list[list[str]] = []
    for addresses in nothing:
        yield addresses


def test_what_is_staged_would_be_lost_if_nobody_looked_there() -> None:
    def unguarded(simulation: Simulation) -> None:
        with replaced(marking, "staged", _nothing):
            scenario(simulation)

    must_catch("staged entries are looked at", unguarded, range(300))


def test_the_collectors_of_the_property_test_do_delete() -> None:
    with Simulation(1) as simulation:
        world = World(simulation)
        simulation.spawn("beginning", world.begin())
        simulation.run()
        before = len([name for name in world.blobs.objects if name.startswith("data/")])
        simulation.spawn("collector", collecting(world))
        simulation.run()
        left = len([name for name in world.blobs.objects if name.startswith("data/")])
        assert (before, left) == (18, 12)
