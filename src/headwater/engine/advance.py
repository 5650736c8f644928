"""Landing a commit that is not of what is staged: a merge, a revert, an import. What is staged stays on top of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from headwater.engine.commit import Check, Description, land_on, plan_commit
from headwater.engine.compaction import rebased
from headwater.engine.nesting import check_nesting
from headwater.engine.repository import Repository
from headwater.history import Commit
from headwater.index import Index
from headwater.refs.branch import Branch
from headwater.staging.landing import Plan

Made = tuple[list[str], Index]
"""The parents of a commit, the branch's head first, and its index."""


async def advance(
    repository: Repository,
    branch: str,
    description: Description,
    make: Callable[[Branch], Awaitable[Made]],
    check: Check | None = None,
) -> Commit:
    """Land the commit that *make* makes of the head of *branch*; made anew whenever somebody else moved the head."""
    repository.check_writable()

    async def prepare(ground: Branch) -> Plan:
        parents, index = await make(ground)
        await check_nesting(repository, ground.commit, index)
        plan = await plan_commit(repository, ground, parents, index, description, check=check)
        if not ground.base:
            return plan
        return msgspec.structs.replace(plan, base=await rebased(repository, ground, plan.commit))

    async with repository.lanes.lane(branch):
        seen = await repository.branches.fresh(branch)
        landed = await land_on(repository, seen, (), prepare)
    return await repository.commits.get(landed)
