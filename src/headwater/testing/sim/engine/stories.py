"""Scenarios: who is there, what they do, and how bad the network is. The seed decides the rest."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from random import Random

import msgspec

from headwater.drive import drive
from headwater.testing.sim.engine import actors
from headwater.testing.sim.engine.actors import Actor, Deed, keep_acting
from headwater.testing.sim.engine.audit import audit
from headwater.testing.sim.engine.checker import check
from headwater.testing.sim.engine.mutations import Mutation
from headwater.testing.sim.engine.world import World
from headwater.testing.sim.explore import Scenario
from headwater.testing.sim.simulation import Simulation
from headwater.testing.toxics import ApplyLate, Delay, FailAfter, FailBefore, Throttle, Toxic

CALM: tuple[Toxic, ...] = (Delay(0.3, longest=0.5),)
ROUGH: tuple[Toxic, ...] = (
    Delay(0.3, longest=0.5),
    Delay(0.01, longest=100),
    FailBefore(0.01),
    Throttle(0.01),
    FailAfter(0.03),
    ApplyLate(0.03, longest=30),
)


SLOW: tuple[Toxic, ...] = (Delay(0.2, longest=0.5), Delay(0.08, longest=400))
"""Some requests take minutes: longer than the grace period."""

SLUGGISH: tuple[Toxic, ...] = (Delay(0.3, longest=5),)


class Story(msgspec.Struct, frozen=True):
    """How many of each kind of actor there are on `main`, what else may happen, and under which *toxics*."""

    writers: int = 2
    readers: int = 1
    committers: int = 2
    removes: bool = False
    conditions: bool = False
    """Writers that write only what is absent, all at the same two paths, and now and then something over it."""

    empty: bool = False
    """Committers who want a commit in any case."""

    merges: bool = False
    """A second branch, with writers and committers of its own, is merged into the first."""

    resets: bool = False
    parts: bool = False
    """Resets of one path, and of a prefix that is written on another branch alone, and comes by merges."""

    moves: bool = False
    """Hard resets."""

    recreations: bool = False
    """The second branch is deleted and made again."""

    compactions: bool = False
    cleanings: int = 12
    cleaning: float = 20
    """Seconds between two clean-ups, at most."""

    together: tuple[str, ...] = ()
    """What the names of those begin with who share one process and its engine: reads of branches, lanes, memory."""

    toxics: tuple[Toxic, ...] = CALM
    crash: float = 0.0
    pause: float = 2.0
    deeds: int = 5
    paths: int = 3


STORIES: dict[str, Story] = {
    "a clear day": Story(readers=2, removes=True),
    "a bad network": Story(removes=True, toxics=ROUGH, crash=0.005),
    "many committers": Story(committers=4, writers=3, readers=1, toxics=ROUGH),
    "first come": Story(conditions=True, compactions=True, toxics=ROUGH, crash=0.002),
    "resets": Story(resets=True, moves=True, empty=True, toxics=ROUGH, deeds=4),
    "merges": Story(merges=True, compactions=True, toxics=ROUGH, deeds=4),
    "compactions": Story(compactions=True, removes=True, toxics=ROUGH, crash=0.002),
    "parts": Story(merges=True, parts=True, compactions=True, removes=True, toxics=ROUGH, deeds=4),
    "branches come and go": Story(merges=True, recreations=True, toxics=ROUGH, deeds=4),
    "slow readers": Story(readers=4, removes=True, conditions=True, toxics=SLOW, pause=30, cleanings=60),
    "a crowd": Story(
        writers=4, readers=8, committers=3, together=("reader",), toxics=SLUGGISH, pause=2, cleanings=30, cleaning=2
    ),
    "one process": Story(
        writers=4,
        readers=4,
        committers=3,
        together=("writer", "reader", "committer"),
        toxics=ROUGH,
        crash=0.001,
        pause=1,
    ),
    "everything": Story(
        removes=True,
        conditions=True,
        empty=True,
        merges=True,
        resets=True,
        parts=True,
        moves=True,
        recreations=True,
        compactions=True,
        toxics=ROUGH,
        crash=0.003,
        deeds=4,
    ),
}


def scenario(story: Story | None = None, *, without: Mutation | None = None) -> Scenario:
    """*story*, or all of them in turn, to be run under a seed; with one guard switched off, if *without* says so."""
    stories = list(STORIES.values())

    def run(simulation: Simulation) -> None:
        told = story or stories[simulation.seed % len(stories)]
        world = World(simulation, told.toxics)
        drive(world.begin())
        with nullcontext() if without is None else without.applied():
            _tell(world, told)

    return run


def _tell(world: World, story: Story) -> None:
    simulation = world.simulation
    company = cast(story, world.random)
    sharing = [actor for actor in company if actor.name.startswith(story.together)]
    alone = [[actor] for actor in company if actor not in sharing]
    for actors_in_one in [sharing, *alone] if sharing else alone:
        name = "server" if actors_in_one is sharing else actors_in_one[0].name
        simulation.spawn(f"init of {name}", keep_acting(world, name, actors_in_one, story.crash))
    simulation.run()
    auditing = simulation.spawn("auditor", audit(world))
    simulation.run()
    check(world.record, auditing.result())


def cast(story: Story, random: Random) -> list[Actor]:
    """Each actor and all that it is going to do."""
    found = [Actor("cleaner", [actors.clean_up] * story.cleanings, story.cleaning)]
    for branch in ["main", "dev"] if story.merges else ["main"]:
        paths = [f"{branch}/{number}" for number in range(story.paths)]
        found += _on_branch(story, branch, paths, random)
    if story.merges:
        found.append(Actor("brancher", [actors.create_branch("dev", "main"), *_comings(story)], story.pause))
        found.append(Actor("merger", [actors.merge_into("dev", "main") for _ in range(story.deeds)], story.pause))
    if story.resets:
        found.append(Actor("resetter", [actors.drop_staged("main")] * 2, story.pause))
    if story.parts:
        giving_up = [actors.give_up("main", path="main/0"), actors.give_up("main", prefix="dev/")] * 2
        found.append(Actor("giver-up", giving_up, story.pause))
    if story.moves:
        moving = [actors.move_back("main", random.choice(["main", "main~1"])) for _ in range(2)]
        found.append(Actor("mover", moving, story.pause))
    return found


def _on_branch(story: Story, branch: str, paths: list[str], random: Random) -> list[Actor]:
    def writing() -> Deed:
        if story.conditions and random.random() < 0.5:
            once = f"{branch}/once{random.randrange(2)}"
            return actors.write_if_absent(branch, once) if random.random() < 0.8 else actors.write(branch, once)
        if story.removes and random.random() < 0.3:
            return actors.remove(branch, random.choice(paths))
        return actors.write(branch, random.choice(paths))

    def looking() -> Deed:
        return actors.list_all(branch) if random.random() < 0.3 else actors.look(branch, random.choice(paths))

    def committing() -> Deed:
        return actors.make_commit(branch, allow_empty=story.empty and random.random() < 0.5)

    def several(role: str, number: int, deed: Callable[[], Deed]) -> list[Actor]:
        return [
            Actor(f"{role} {nth} of {branch}", [deed() for _ in range(story.deeds)], story.pause)
            for nth in range(number)
        ]

    found = several("writer", story.writers, writing)
    found += several("reader", story.readers, looking)
    found += several("committer", story.committers, committing)
    if story.compactions:
        found.append(Actor(f"compactor of {branch}", [actors.compact(branch)] * 3, story.pause))
    return found


def _comings(story: Story) -> list[Deed]:
    return [actors.delete_branch("dev"), actors.create_branch("dev", "main")] * (2 if story.recreations else 0)
