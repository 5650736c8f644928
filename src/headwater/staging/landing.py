"""Landing a commit of sealed tokens: one swap if nobody was faster; if somebody was, what of it is still to be done.

What we set out to commit is a list of sealed tokens. Others may meanwhile have committed a prefix of it, or all; a
suffix of ours is then a prefix of what the branch still has sealed. That overlap is what remains to be committed, on
top of whatever the head is by now, and overlaid anew: the winner may have cleaned up tokens that our overlay read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from headwater.kv import Operation, PredicateFailed, UnknownOutcome
from headwater.outside import Outside
from headwater.refs.branch import Branch
from headwater.refs.branches import Branches, Seen
from headwater.staging.certainty import certainty
from headwater.staging.errors import NothingToCommit, TakenAlong
from headwater.staging.tokens import leaving
from headwater.staging.tries import tries


class Plan(msgspec.Struct, frozen=True):
    """A commit that is ready to be landed: its id, and what must be written before the branch may point at it."""

    commit: str
    operations: tuple[Operation, ...]
    changes: bool = True
    """False if what is staged changes nothing: then *commit* is the head, and the tokens are merely dropped."""

    base: str = ""
    """What the branch reads in place of the head, if what was compacted is still to be committed."""


Prepare: TypeAlias = Callable[[Branch], Awaitable[Plan]]
"""Overlay the sealed tokens of a branch, exactly as given, on its head; or raise `NothingToCommit`."""

InHistory: TypeAlias = Callable[[str, str], Awaitable[bool]]
"""Whether the first commit is in the first-parent history of the second."""


async def land(
    branches: Branches,
    outside: Outside,
    seen: Seen,
    *,
    tokens: tuple[str, ...],
    partition: bytes,
    prepare: Prepare,
    in_history: InHistory,
) -> str:
    """Land a commit of the sealed *tokens*, none for one that commits nothing staged. Returns the id of what landed.

    Exactly one commit ever lands. `NothingToCommit` if the plan has no changes, `TakenAlong` if others took them. A
    `StoreUnavailable` or `Contended` says that none did; whoever cannot know says `UnknownOutcome`.
    """
    what = f"committing to branch {seen.name!r}"
    sent: list[str] = []
    unsure: list[str] = []
    with certainty(sent, what):
        built_on: Branch | None = None
        plan: Plan | None = None
        async for _ in tries(outside, what):
            if (landed := await landed_unheard(unsure, seen.branch, in_history)) is not None:
                return landed
            left = overlap(tokens, seen.branch.sealed)
            if nothing_left(tokens, left, seen.branch):
                raise TakenAlong(f"a commit that began later took what was staged on branch {seen.name!r} along")
            target = msgspec.structs.replace(seen.branch, sealed=seen.branch.sealed[:left])
            if plan is None or built_on is None or not same_ground(built_on, target):
                plan, built_on = await prepare(target), target
            branch = with_head(seen.branch, plan, left, outside.now())
            before = (*plan.operations, *leaving(partition, seen.name, target.sealed))
            try:
                await branches.swap_among(before, seen, branch)
            except PredicateFailed:
                pass
            except UnknownOutcome:
                if plan.changes:
                    sent.append(plan.commit)
                if plan.changes and is_told_by_the_head(plan, seen.branch):
                    unsure.append(plan.commit)
            else:
                if not plan.changes:
                    raise NothingToCommit(f"what is staged on branch {seen.name!r} is what is committed already")
                return plan.commit
            seen = await branches.fresh(seen.name)
    raise AssertionError("tries never end quietly")


def is_told_by_the_head(plan: Plan, branch: Branch) -> bool:
    """Whether the head will tell if *plan* has landed. A compaction leaves it where it is, and is done again."""
    return plan.commit != branch.commit


async def landed_unheard(unsure: Sequence[str], branch: Branch, in_history: InHistory) -> str | None:
    """Which of the commits whose swap was never answered has landed, if any: it is in the history of the head.

    Or it was, and somebody moved the branch back since: then it is among its earlier heads.
    """
    heads = {head.commit for head in branch.heads}
    for commit in unsure:
        if commit in heads or await in_history(commit, branch.commit):
            return commit
    return None


def nothing_left(tokens: Sequence[str], left: int, branch: Branch) -> bool:
    """Whether all of *tokens* was committed, or dropped, by others: *left* of them are still sealed.

    On a branch with a base they may have been compacted instead, and are to be committed all the same.
    """
    return bool(tokens) and not left and not branch.base


def overlap(mine: Sequence[str], now: Sequence[str]) -> int:
    """How many sealed tokens *now* begins with that *mine* ends with."""
    longest = min(len(mine), len(now))
    return next((length for length in range(longest, 0, -1) if mine[-length:] == now[:length]), 0)


def same_ground(one: Branch, other: Branch) -> bool:
    """Whether a commit made on *one* is one on *other*, too: the head, its incarnation, the whole list overlaid.

    The incarnation, because a branch may have been moved, and be back at the same head: a commit that has the old one
    in its clock could take the place of one that landed in between.
    """
    return (one.commit, one.incarnation, one.base, one.sealed) == (
        other.commit,
        other.incarnation,
        other.base,
        other.sealed,
    )


def with_head(branch: Branch, plan: Plan, committed: int, now: int) -> Branch:
    """The record that lands *plan*, with the oldest *committed* sealed tokens gone and those that came since kept.

    *dirty* stays as it is: it speaks of the token, which stays.
    """
    return msgspec.structs.replace(
        branch,
        commit=plan.commit,
        sealed=branch.sealed[committed:],
        base=plan.base,
        heads=branch.moved(plan.commit, now),
    )
