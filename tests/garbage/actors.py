"""Who uses a repository while its garbage is collected: in the simulator, or for real."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from random import Random
from typing import Any, Protocol

from headwater.engine import branches, compaction, reset, write
from headwater.engine.commit import Description, commit
from headwater.engine.lake import Lake
from headwater.engine.merge import merge
from headwater.engine.repository import Repository
from headwater.errors import HeadwaterError
from headwater.staging.cleaning import clean

PATHS = ["a", "b", "c"]


class World(Protocol):
    """Where a repository `lake` is, with the branches `main` and `dev`, and `PATHS` in both."""

    random: Random

    def lake(self, *, calm: bool = False) -> Lake: ...

    def description(self, message: str) -> Description: ...


def acting(world: World, seed: int) -> Coroutine[Any, Any, None]:
    """One client: it does something, rests, and does something else. What it may not do just fails."""
    random = Random(seed)  # noqa: S311  (a seed decides what happens)

    async def act() -> None:
        repository = await world.lake().open("lake")
        for _ in range(10):
            with suppress(HeadwaterError):
                await _something(world, repository, random)
            await asyncio.sleep(random.random() * 4)

    return act()


async def _something(world: World, repository: Repository, random: Random) -> None:
    branch, other = random.sample(["main", "dev"], 2)
    path = random.choice(PATHS)
    match random.randrange(12):
        case 0 | 1 | 2 | 3:  # a move: to another branch or name, and the old place is given up at once
            moved = f"moved {random.randrange(3)}"
            source = random.choice([path, f"moved {random.randrange(3)}"])
            target, where = random.choice([(other, source), (branch, moved)])
            await write.copy(repository, target, where, branch, source)
            if target == other:
                await reset.reset(repository, branch)
            else:
                await write.delete(repository, branch, [source])
        case 4:
            await write.put(repository, branch, path, random.randbytes(4))
        case 5 | 6:
            await commit(repository, branch, world.description("new"))
        case 7:
            await merge(repository, branch, other, world.description("merge"))
        case 8:
            await reset.hard_reset(repository, branch, random.choice([branch, other]))
        case 9:
            await compaction.compact(repository, branch)
        case 10:
            await branches.delete_branch(repository, "dev")
            await branches.create_branch(repository, "dev", "main")
        case _:
            await clean(repository.store, repository.partition, repository.outside)


async def hopping(world: World, path: str) -> None:
    """One old object that is never long where it is: copied to the other branch, and deleted behind it."""
    repository = await world.lake(calm=True).open("lake")
    here, there = "main", "dev"
    hopped = f"hopping {path}"
    for hop in range(100):
        source = hopped if hop else path
        await write.copy(repository, there, hopped, here, source)
        await write.delete(repository, here, [source])
        here, there = there, here
        await asyncio.sleep(world.random.random())
