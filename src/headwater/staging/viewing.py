"""Reading a branch: what one record of it says, layer by layer, as long as that can be believed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from headwater.outside import Outside
from headwater.refs.branch import Branch
from headwater.refs.branches import Branches, Seen
from headwater.staging.limits import GRACE
from headwater.staging.tries import tries

Answer = TypeVar("Answer")


def tokens_to_read(branch: Branch) -> tuple[str, ...]:
    """Where staged entries may be, the newest first."""
    newest = (branch.token,) if branch.dirty else ()
    return newest + branch.sealed[::-1]


async def view(branches: Branches, outside: Outside, name: str, look: Callable[[Branch], Awaitable[Answer]]) -> Answer:
    """What *look* finds in the branch as one record of it says.

    Clean-up leaves dropped tokens alone for `GRACE`, so a look that began with a fresh record and took less than half
    of that has seen the branch as it was then. One that took longer counts only if nothing in the record changed,
    *dirty* included; else it is begun again.
    """
    seen = await beginning(branches, name)
    answer = await look(seen.branch)
    if is_quick(outside, seen):
        return answer
    async for _ in tries(outside, f"reading branch {name!r}"):
        again = await branches.fresh(name)
        if is_unchanged(seen.branch, again.branch):
            return answer
        seen, answer = again, await look(again.branch)
        if is_quick(outside, seen):
            return answer
    raise AssertionError("tries never end quietly")


async def beginning(branches: Branches, name: str) -> Seen:
    """What a look begins with: a record from memory could lack a write that was acknowledged since."""
    return await branches.fresh(name)


def is_quick(outside: Outside, seen: Seen) -> bool:
    """Whether no token that *seen* names can have been cleaned up yet."""
    return outside.elapsed() - seen.at <= GRACE / 2


def is_unchanged(one: Branch, other: Branch) -> bool:
    """Whether the whole record is the same: then so is what it names."""
    return one == other
