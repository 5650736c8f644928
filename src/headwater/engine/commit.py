"""Committing what is staged on a branch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeAlias

import msgspec

from headwater.engine.limits import EMPTY_TRIES
from headwater.engine.nesting import check_nesting
from headwater.engine.overlaying import staged_edits
from headwater.engine.repository import Repository, own_of
from headwater.engine.taking_along import says, was_taken_along
from headwater.engine.touches import touches_of
from headwater.history import Commit, has_landed
from headwater.index import Index, IndexRecord, apply, diff
from headwater.index.delta import encode_inherited
from headwater.refs.branch import Branch
from headwater.refs.branches import Seen
from headwater.staging.errors import NothingToCommit, TakenAlong
from headwater.staging.landing import Plan, Prepare, land
from headwater.staging.sealing import seal


class Description(msgspec.Struct, frozen=True):
    """What a commit says of itself."""

    message: str
    committer: str
    time: int
    """Milliseconds since 1970."""

    metadata: Mapping[str, str] = {}


Check: TypeAlias = Callable[[Commit, Index], Awaitable[None]]
"""Looks at a commit that is about to be landed, and at its index: it raises to have nothing landed.

What it sees is what lands, to the byte: if somebody else moves the branch meanwhile, it is asked again about the commit
that is made in its place. While it looks, other commits to the branch wait, in this process.
"""


async def commit(
    repository: Repository,
    branch: str,
    description: Description,
    *,
    allow_empty: bool = False,
    check: Check | None = None,
) -> Commit:
    """Commit all that was acknowledged on *branch* before this call, and perhaps some of what came later.

    `NothingToCommit` if that changes nothing, unless an empty commit is wanted. On a branch with nothing staged that is
    told without a look at staging. What *check* refuses stays staged.

    If there was something to commit when this was called, and others took it along, the commit lands behind theirs and
    changes nothing more; one of theirs that says the same is the answer itself. See `taking_along`.
    """
    repository.check_writable()
    async with repository.lanes.lane(branch, partial(repository.branches.fresh, branch)) as waiting:
        asked = waiting
        for left in reversed(range(EMPTY_TRIES)):
            seen = await seal(repository.branches, repository.outside, branch)
            behind = asked is not None and was_taken_along(asked.branch, seen.branch)
            clean = seen.branch.clean
            if clean and not allow_empty:
                if not behind:
                    raise NothingToCommit(f"branch {branch!r} has nothing staged")
                head = await repository.commits.get(seen.branch.commit)
                if says(head, description):
                    return head
            empty = allow_empty or (clean and behind)
            prepare = partial(_prepare, repository, description, allow_empty=empty, check=check)
            try:
                landed = await land_on(repository, seen, seen.branch.sealed, prepare)
            except TakenAlong:
                if not left:
                    raise
                asked = seen
            except NothingToCommit:
                if not behind or not left:
                    raise
            else:
                return await repository.commits.get(landed)
    raise AssertionError("the last try returns or raises")


async def land_on(repository: Repository, seen: Seen, tokens: tuple[str, ...], prepare: Prepare) -> str:
    """`land` for this repository: a commit of *tokens*, or with none, one that leaves what is staged where it is."""

    async def in_history(commit: str, head: str) -> bool:
        found = await repository.commits.find([commit, head])  # the first may never have been written
        return commit in found and await has_landed(repository.commits, found[commit], found[head])

    return await land(
        repository.branches,
        repository.outside,
        seen,
        tokens=tokens,
        partition=repository.partition,
        prepare=prepare,
        in_history=in_history,
    )


async def _prepare(
    repository: Repository, description: Description, branch: Branch, *, allow_empty: bool, check: Check | None
) -> Plan:
    index = await overlaid(repository, branch)
    if not allow_empty and not await is_change(repository, branch, index):
        return Plan(branch.commit, (), changes=False)
    await check_nesting(repository, branch.commit, index)
    if branch.base:
        index = told_by_a_diff(index)
    return await plan_commit(repository, branch, [branch.commit], index, description, check=check)


async def overlaid(repository: Repository, branch: Branch) -> Index:
    """What is staged on *branch* on top of its head. Overlaid anew for each head: it may have got there otherwise."""
    parent = await repository.index_of(branch.base or branch.commit)
    return await apply(parent, await staged_edits(repository, branch.sealed, parent))


async def is_change(repository: Repository, branch: Branch, index: Index) -> bool:
    """Whether a commit of *index*, which is that of `overlaid`, would change anything.

    Removing what is not there, or writing what is there, does not.
    """
    if not branch.base:
        return index.record.own_count > 0
    return bool(await diff(await repository.index_of(branch.commit), index, amount=1))


async def plan_commit(
    repository: Repository,
    branch: Branch,
    parents: list[str],
    index: Index,
    description: Description,
    *,
    check: Check | None = None,
) -> Plan:
    """A commit of *index* on *parents*, the first of which is the head of *branch*, and what lands it."""
    commits = await repository.commits.get_many(parents)
    record = index.record
    commit = Commit.create(
        commits,
        branch.incarnation,
        message=description.message,
        committer=description.committer,
        time=description.time,
        metadata=description.metadata,
        tree=record.tree or "",
        own=own_of(record),
        inherited=record.inherited or None,
    )
    repository.commits.remember(commit, record.inherited or None)
    repository.remember_index(commit.id, index)
    if check is not None:
        await check(commit, index)
    first = commits[0] if commits else None
    landing = repository.commits.landing(commit, first, record.inherited or None)
    return Plan(commit.id, (*touches_of(repository, first), *landing))


def told_by_a_diff(index: Index) -> Index:
    """*index* as that of a commit whose own changes are not those since its index's parent: the two are compared."""
    inherited = encode_inherited(index.delta)
    return Index(index.store, IndexRecord(index.record.tree, None, own_in_tree=True, inherited=inherited))
