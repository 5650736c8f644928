"""Workspaces, for garbage collection: what is in a live one is kept, and one that is abandoned is closed first."""

from __future__ import annotations

import msgspec

from headwater.engine.repository import Repository
from headwater.engine.workspaces.committing import is_under_way
from headwater.engine.workspaces.errors import WorkspaceBusy
from headwater.engine.workspaces.finding import list_workspaces
from headwater.engine.workspaces.state import read_state, swap_state


class Live(msgspec.Struct, frozen=True):
    """What live workspaces need: the prefixes of their objects, and the commits that they were begun on."""

    prefixes: tuple[str, ...]
    bases: tuple[str, ...]


async def live_workspaces(repository: Repository, idle_since: int) -> Live:
    """The workspaces that somebody may go on with: begun or written to since then."""
    found = [each for each in await list_workspaces(repository, idle_since=idle_since) if each.standing == "live"]
    return Live(
        tuple(prefix for each in found for prefix in each.prefixes), tuple(each.base for each in found if each.base)
    )


async def close_abandoned(repository: Repository, idle_since: int) -> list[str]:
    """Close what nobody went on with since then: who comes back is told, instead of finding a part gone. Which ones."""
    closed: list[str] = []
    for each in await list_workspaces(repository, idle_since=idle_since):
        if each.standing != "abandoned":
            continue
        seen = await read_state(repository, each.id)
        now = repository.outside.now()
        if seen.state.phase == "closed" or is_under_way(seen.state, now):
            continue
        attempt = repository.outside.random(8).hex()
        state = msgspec.structs.replace(seen.state, phase="closed", attempt=attempt, since=now)
        try:
            await swap_state(repository, seen, state)
        except WorkspaceBusy:  # somebody is committing it after all
            continue
        closed.append(each.id)
    return closed
