"""Who works on the simulated lake. An actor is a list of things to do, which outlives its crashes.

Each thing is tried once, whatever comes of it: trying again is the engine's business, or another client's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

import msgspec

from headwater.engine import branches, compaction, read, reset
from headwater.engine.commit import Description, commit
from headwater.engine.conditional import IfAbsent
from headwater.engine.errors import MergeConflict, NothingToMerge, PathNotFound, PreconditionFailed
from headwater.engine.merge import merge
from headwater.engine.paths import key_of
from headwater.engine.repository import Repository
from headwater.engine.write import delete, stage
from headwater.history import NoSuchAncestor
from headwater.index import Entry
from headwater.kv import StoreUnavailable, UnknownOutcome
from headwater.refs.errors import RefExists, RefNotFound
from headwater.staging.cleaning import clean
from headwater.staging.errors import Contended, NothingToCommit
from headwater.testing.sim.engine.record import Kind, Operation, Outcome
from headwater.testing.sim.engine.world import World

Deed = Callable[[World, Repository], Coroutine[Any, Any, None]]
"""One thing that an actor does, and has recorded."""

ALL = 1000


def write(branch: str, path: str) -> Deed:
    async def deed(world: World, repository: Repository) -> None:
        operation = world.record.begin(Kind.WRITE, branch, name=_name(world, "w"), path=path)
        await attempt(world, operation, stage(repository, branch, Entry(key_of(path), checksum=operation.name)))

    return deed


def write_if_absent(branch: str, path: str) -> Deed:
    async def deed(world: World, repository: Repository) -> None:
        operation = world.record.begin(Kind.WRITE_IF_ABSENT, branch, name=_name(world, "o"), path=path)
        entry = Entry(key_of(path), checksum=operation.name, modified=operation.start)
        await attempt(world, operation, stage(repository, branch, entry, IfAbsent()))

    return deed


def remove(branch: str, path: str) -> Deed:
    async def deed(world: World, repository: Repository) -> None:
        operation = world.record.begin(Kind.WRITE, branch, name=_name(world, "x"), path=path, removes=True)
        await attempt(world, operation, delete(repository, branch, [path]))

    return deed


def look(branch: str, path: str) -> Deed:
    async def deed(world: World, repository: Repository) -> None:
        operation = world.record.begin(Kind.READ, branch, path=path)

        async def seen() -> None:
            try:
                operation.seen = {path: (await read.stat(repository, branch, path)).checksum}
            except PathNotFound:
                operation.seen = {path: None}

        await attempt(world, operation, seen())

    return deed


def list_all(branch: str) -> Deed:
    """Seeing all paths at once: *path* stays empty, and what is not seen is not there."""

    async def deed(world: World, repository: Repository) -> None:
        operation = world.record.begin(Kind.READ, branch)

        async def seen() -> None:
            entries = await read.list_entries(repository, branch, amount=ALL)
            operation.seen = {
                entry.key.removeprefix("f/"): entry.checksum for entry in entries if isinstance(entry, Entry)
            }

        await attempt(world, operation, seen())

    return deed


def make_commit(branch: str, *, allow_empty: bool = False) -> Deed:
    async def deed(world: World, repository: Repository) -> None:
        operation = world.record.begin(Kind.COMMIT, branch, name=_name(world, "c"), empty=allow_empty)

        async def committed() -> None:
            description = _description(repository, operation)
            operation.commit = (await commit(repository, branch, description, allow_empty=allow_empty)).id

        await attempt(world, operation, committed())

    return deed


def merge_into(source: str, destination: str) -> Deed:
    async def deed(world: World, repository: Repository) -> None:
        operation = world.record.begin(Kind.MERGE, destination, name=_name(world, "m"))

        async def merged() -> None:
            description = _description(repository, operation)
            operation.commit = (await merge(repository, source, destination, description)).id

        await attempt(world, operation, merged())

    return deed


def drop_staged(branch: str) -> Deed:
    return _dropping("reset", branch, lambda repository: reset.reset(repository, branch))


def give_up(branch: str, *, path: str = "", prefix: str = "") -> Deed:
    """Dropping what is staged at one *path*, or under a *prefix*, and nothing else."""
    where = f"{path}{prefix}"
    if path:
        return _dropping("part", branch, lambda repository: reset.reset_path(repository, branch, path), where)
    return _dropping("part", branch, lambda repository: reset.reset_prefix(repository, branch, prefix), where)


def move_back(branch: str, ref: str) -> Deed:
    return _dropping("move", branch, lambda repository: reset.hard_reset(repository, branch, ref))


def delete_branch(branch: str) -> Deed:
    return _dropping("deletion", branch, lambda repository: branches.delete_branch(repository, branch))


def create_branch(branch: str, source: str) -> Deed:
    """Bringing a branch (back) is no drop: it was empty before."""

    async def deed(world: World, repository: Repository) -> None:
        del world
        await _told(branches.create_branch(repository, branch, source))

    return deed


def compact(branch: str) -> Deed:
    async def deed(world: World, repository: Repository) -> None:
        del world
        await _told(compaction.compact(repository, branch))

    return deed


async def clean_up(world: World, repository: Repository) -> None:
    del world
    await _told(clean(repository.store, repository.partition, repository.outside))


def _dropping(what: str, branch: str, call: Callable[[Repository], Awaitable[object]], path: str = "") -> Deed:
    async def deed(world: World, repository: Repository) -> None:
        await attempt(world, world.record.begin(Kind.DROP, branch, name=what, path=path), call(repository))

    return deed


async def attempt(world: World, operation: Operation, call: Awaitable[object]) -> None:
    """Await *call*, and record what the client was told of it."""
    outcome = await _told(call)
    world.record.end(operation, outcome)
    world.simulation.note("{} {}: {}", str(operation.kind), operation.name or operation.path, str(outcome))


async def _told(call: Awaitable[object]) -> Outcome:
    try:
        await call
    except (NothingToCommit, NothingToMerge, PreconditionFailed):
        return Outcome.NOTHING
    except StoreUnavailable:
        return Outcome.UNAVAILABLE
    except (UnknownOutcome, Contended, MergeConflict, RefNotFound, RefExists, NoSuchAncestor):
        return Outcome.UNKNOWN
    return Outcome.DONE


def _name(world: World, letter: str) -> str:
    return f"{letter}{len(world.record.operations)}"


def _description(repository: Repository, operation: Operation) -> Description:
    return Description(operation.name, "", repository.outside.now())


class Actor(msgspec.Struct, frozen=True):
    """A list of things to do, with up to *pause* seconds between. Each is struck off before it is begun."""

    name: str
    deeds: list[Deed]
    pause: float

    async def act(self, world: World, repository: Repository) -> None:
        while self.deeds:
            await asyncio.sleep(world.random.random() * self.pause)
            await self.deeds.pop(0)(world, repository)


async def keep_acting(world: World, name: str, actors: Sequence[Actor], crash: float) -> None:
    """Let *actors* work side by side in one process, with one engine, which is started again whenever it crashes."""

    async def act() -> None:
        repository = await world.engine()
        await asyncio.gather(*(actor.act(world, repository) for actor in actors))

    while any(actor.deeds for actor in actors):
        await world.simulation.spawn(name, act(), crash=crash).over()
