"""Compacting staging: what is staged becomes part of an index, so that a listing need not pass over it entry by entry.

A compaction is like a commit that nobody sees: the sealed tokens are overlaid on the head and the result is written as
an internal commit, which the branch reads in place of its head. The next commit starts from there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias

from headwater.engine.commit import Description, land_on, overlaid, plan_commit
from headwater.engine.repository import Repository
from headwater.engine.weaving import weave_all
from headwater.index import Index, Strategy, apply, diff, merge
from headwater.refs.branch import Branch
from headwater.staging.errors import LimitExceeded, NothingToCommit
from headwater.staging.landing import Plan
from headwater.staging.sealing import seal

_INTERNAL = "what is staged, compacted"

GiveUp: TypeAlias = Callable[[Index, Index], Awaitable[Index]]
"""Given the index of the head, and that with all on top which is staged: the latter, with a part as it is committed."""


async def compact(repository: Repository, branch: str) -> None:
    """Bring all that is staged on *branch* into one index. Readers see no difference; what is staged stays staged."""
    repository.check_writable()

    async def prepare(ground: Branch) -> Plan:
        index = await overlaid(repository, ground)
        if not index.record.own_count:
            return Plan(ground.commit, (), base=ground.base)
        return await _internal(repository, ground, ground.commit, index)

    async with repository.lanes.lane(branch):
        try:
            seen = await seal(repository.branches, repository.outside, branch)
        except LimitExceeded:  # what is sealed already is compacted, which makes room
            seen = await repository.branches.fresh(branch)
        if seen.branch.sealed:
            with suppress(NothingToCommit):  # somebody committed it meanwhile: there is nothing to compact
                await land_on(repository, seen, seen.branch.sealed, prepare)


async def compact_without(repository: Repository, branch: str, give_up: GiveUp) -> None:
    """Bring what is staged on *branch* into one index, but for a part that is given up, in one step.

    Whatever was acknowledged in that part before this call is gone. What is committed while it runs is what there is.
    """
    repository.check_writable()

    async def prepare(ground: Branch) -> Plan:
        head = await repository.index_of(ground.commit)
        index = await give_up(head, await overlaid(repository, ground))
        if not await diff(head, index, amount=1):
            return Plan(ground.commit, ())
        return await _internal(repository, ground, ground.commit, index)

    async with repository.lanes.lane(branch):
        seen = await seal(repository.branches, repository.outside, branch)
        if not seen.branch.clean:
            with suppress(NothingToCommit):  # somebody committed it meanwhile, or gave up all of it
                await land_on(repository, seen, seen.branch.sealed, prepare)


async def rebased(repository: Repository, branch: Branch, head: str) -> str:
    """The base of *branch* as it has to be when its head becomes *head*: what was compacted, on top of that."""
    before, base, after = [await repository.index_of(each) for each in (branch.commit, branch.base, head)]
    edits = (await merge(before, base, after, strategy=Strategy.SOURCE_WINS)).edits
    if repository.grows:
        edits = await weave_all(repository, edits, before, base, after)
    plan = await _internal(repository, branch, branch.commit, await apply(after, edits))
    await repository.store.pipeline(plan.operations)
    return plan.base


async def _internal(repository: Repository, branch: Branch, head: str, index: Index) -> Plan:
    """A plan that leaves the head where it is and has the branch read *index* in its place."""
    description = Description(_INTERNAL, "", repository.outside.now())
    plan = await plan_commit(repository, branch, [head], index, description)
    return Plan(head, plan.operations, base=plan.commit)
