"""Appenders under simulation: what they append to one file counts once, in order, whatever the network does.

    explore(appending(), range(100))

An appender goes on with an append until it is acknowledged, under one id, also after it crashed. The promises are those
of `docs/files.md`.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Protocol

import msgspec

from headwater.drive import drive
from headwater.engine.commit import Description, commit
from headwater.engine.compaction import compact
from headwater.engine.errors import PathNotFound
from headwater.engine.read import get
from headwater.engine.repository import Repository
from headwater.files.append import append
from headwater.files.ranges import read_file
from headwater.kv import StoreUnavailable, UnknownOutcome
from headwater.staging.errors import Contended, NothingToCommit
from headwater.testing.sim.engine.mutations import Mutation
from headwater.testing.sim.engine.stories import ROUGH
from headwater.testing.sim.engine.world import World
from headwater.testing.sim.explore import Scenario
from headwater.testing.sim.simulation import Simulation

FILE = "log"
TOKEN = re.compile(r"\[([^.\]]+)\.(\d+)\.(\d+)\]")

APPENDERS, COMMITTERS, APPENDS = 3, 2, 4
CRASH = 0.004
PAUSE = 2.0


class Token(msgspec.Struct, frozen=True):
    """What one append adds: who, in which of their lives, and the how manieth."""

    who: str
    life: int
    number: int

    def __str__(self) -> str:
        return f"[{self.who}.{self.life}.{self.number}]"


class Told(msgspec.Struct):
    """What appenders were told so far: *made* appends have begun, *done* ones are acknowledged."""

    made: set[Token] = set()
    done: set[Token] = set()


class Part(Protocol):
    """Somebody who works on the lake until nothing is left, over any number of crashes."""

    name: str

    @property
    def left(self) -> bool: ...

    async def act(self, world: World, repository: Repository) -> None: ...


class Appender:
    """Appends, each until it is acknowledged. Crashes end a life; what was under way is repeated in the next."""

    def __init__(self, name: str, told: Told) -> None:
        self.name = name
        self._told = told
        self._life = 0
        self._made = 0
        self._pending: tuple[str, Token] | None = None

    @property
    def left(self) -> bool:
        return self._made < APPENDS or self._pending is not None

    async def act(self, world: World, repository: Repository) -> None:
        self._life += 1
        while self.left:
            if world.random.random() < 0.5:  # else two of them are in one millisecond
                await asyncio.sleep(world.random.random() * PAUSE)
            again = self._pending is not None
            identity, token = self._pending or (repository.stamps.take(), Token(self.name, self._life, self._made))
            if not again:
                self._made += 1
                self._pending = identity, token
                self._told.made.add(token)
            if await _did(append(repository, "main", FILE, str(token).encode(), id=identity, again=again)):
                world.simulation.note("appended {}", str(token))
                self._told.done.add(token)
                self._pending = None


class Worker:
    """Does one thing so many times, whatever comes of it."""

    def __init__(self, name: str, times: int, deed: Callable[[World, Repository], Awaitable[object]]) -> None:
        self.name = name
        self._times = times
        self._deed = deed

    @property
    def left(self) -> bool:
        return self._times > 0

    async def act(self, world: World, repository: Repository) -> None:
        while self.left:
            await asyncio.sleep(world.random.random() * PAUSE)
            self._times -= 1
            await _did(self._deed(world, repository))


async def keep_at_it(world: World, part: Part) -> None:
    """Have *part* work in a process of its own, which is started again whenever it crashes."""

    async def act() -> None:
        await part.act(world, await world.engine())

    while part.left:
        await world.simulation.spawn(part.name, act(), crash=CRASH).over()


def appending(*, without: Mutation | None = None) -> Scenario:
    """Appenders, committers, a reader and a compactor on one branch; with a guard switched off, if *without* says."""

    def run(simulation: Simulation) -> None:
        world, told = World(simulation, ROUGH), Told(set(), set())
        drive(world.begin("append"))
        with nullcontext() if without is None else without.applied():
            for part in _cast(told):
                simulation.spawn(f"init of {part.name}", keep_at_it(world, part))
            simulation.run()
            simulation.spawn("auditor", _audit(world, told))
            simulation.run()

    return run


def _cast(told: Told) -> list[Part]:
    async def reading(_: World, repository: Repository) -> None:
        done = set(told.done)
        check_text(await _text(repository, "main"), done, told.made)

    async def committing(_: World, repository: Repository) -> None:
        await commit(repository, "main", _description(repository))

    async def compacting(_: World, repository: Repository) -> None:
        await compact(repository, "main")

    parts: list[Part] = [Appender(f"appender {number}", told) for number in range(APPENDERS)]
    parts += [Worker(f"committer {number}", APPENDS, committing) for number in range(COMMITTERS)]
    return [*parts, Worker("reader", APPENDS, reading), Worker("compactor", 2, compacting)]


async def _audit(world: World, told: Told) -> None:
    """All that was acknowledged is there once; and each commit's file begins with that of the one before."""
    repository = await world.undisturbed()
    check_text(await _text(repository, "main"), told.done, told.made)
    await _did(commit(repository, "main", _description(repository)))
    heads = list(dict.fromkeys(move.record.commit for move in world.record.moves if move.record.commit))
    before, older = "", heads[0]
    for head in heads:
        text = await _text(repository, head)
        assert text.startswith(before), f"commit {head} changed what was appended before: {before!r} to {text!r}"
        if before:
            reading = await read_file(repository, FILE, since=older, until=head)
            added = b"".join([chunk async for chunk in reading.chunks]).decode()
            assert before + added == text, f"from {older} to {head} there is {added!r}, not the rest of {text!r}"
        before, older = text, head
    check_text(before, told.done, told.made)


def check_text(text: str, done: set[Token], made: set[Token]) -> None:
    """Each of *done* is in it exactly once, others of *made* at most once, those of one life in their order."""
    found = [Token(who, int(life), int(number)) for who, life, number in TOKEN.findall(text)]
    assert "".join(map(str, found)) == text, f"appends are torn: {text!r}"
    counted = Counter(found)
    for token in counted:
        assert token in made, f"{token} was never appended"
        assert counted[token] == 1, f"{token} counts {counted[token]} times in {text!r}"
    for token in done:
        assert token in counted, f"{token} was acknowledged, and is not in {text!r}"
    for who, life in {(token.who, token.life) for token in found}:
        numbers = [token.number for token in found if (token.who, token.life) == (who, life)]
        assert numbers == sorted(numbers), f"{who} appended in another order than {numbers} in {text!r}"


async def _text(repository: Repository, ref: str) -> str:
    try:
        reading = await get(repository, ref, FILE)
    except PathNotFound:
        return ""
    return b"".join([chunk async for chunk in reading.chunks]).decode()


async def _did(call: Awaitable[object]) -> bool:
    try:
        await call
    except (StoreUnavailable, UnknownOutcome, Contended, NothingToCommit):
        return False
    return True


def _description(repository: Repository) -> Description:
    return Description("appended", "", repository.outside.now())


# What goes in the guards' places.


def _never(*_: object) -> bool:
    return False


def _at_random(self: object) -> str:
    outside = vars(self)["_outside"]
    return f"{outside.now():012x}{outside.random(10).hex()}"


APPEND_MUTATIONS: dict[str, Mutation] = {
    "append-not-looked-for": Mutation(
        "whoever folds an append that is tried again takes it for one that was never made",
        "appending",
        {"headwater.engine.folding:may_be_there": _never},
    ),
    "stamps-at-random": Mutation(
        "stamps of one moment are in no order",
        "appending",
        {"headwater.staging.journal:Stamps.take": _at_random},
    ),
}
"""Guards of appends, each to be switched off by name."""
