"""Giving up what is staged: all of it, under a prefix, or at a path; and moving a branch to another commit."""

from __future__ import annotations

import msgspec

from headwater.engine.branches import existing_record, reborn
from headwater.engine.compaction import compact_without
from headwater.engine.looking import commit_of
from headwater.engine.paths import key_of, prefix_of
from headwater.engine.ref_changes import Planned, change_reference
from headwater.engine.repository import Repository
from headwater.engine.slots import BranchSlot
from headwater.history import Commit
from headwater.index import TOMBSTONE, Behaviour, Index, apply, merge
from headwater.kv import PredicateFailed, UnknownOutcome
from headwater.refs.branch import Branch
from headwater.staging.certainty import certainty
from headwater.staging.tokens import leaving, new_token
from headwater.staging.tries import tries


async def reset(repository: Repository, branch: str) -> None:
    """Drop all that is staged on *branch*, in one step."""
    repository.check_writable()
    await _swap_until_done(repository, branch)


async def hard_reset(repository: Repository, branch: str, ref: str, *, by: str = "") -> Commit:
    """Make *branch* point at the commit *ref*, and drop all that is staged on it, in one step. It is logged."""
    repository.check_writable()
    commit = await commit_of(repository, ref)

    def plan(record: Branch | None, mark: bytes) -> Planned[Branch]:
        now = existing_record(branch, record)
        heads = now.moved(commit.id, repository.outside.now())
        moved = msgspec.structs.replace(emptied(now, new_token(repository.outside)), commit=commit.id, heads=heads)
        return Planned("move", now.commit, commit.id, reborn(moved, mark), tokens=(*now.sealed, now.token))

    await change_reference(repository, BranchSlot(repository, branch), by, plan)
    return commit


async def reset_prefix(repository: Repository, branch: str, prefix: str) -> None:
    """Give up what is staged under *prefix*, and leave the rest, in one step."""
    beginning = prefix_of(prefix)

    async def give_up(head: Index, index: Index) -> Index:
        within = {"": Behaviour.DROP, beginning: Behaviour.FORCE}
        return await apply(index, (await merge(index, head, index, prefixes=within)).edits)

    await compact_without(repository, branch, give_up)


async def reset_path(repository: Repository, branch: str, path: str) -> None:
    """Give up what is staged at *path*: `reset_prefix` of that path alone."""
    key = key_of(path)

    async def give_up(head: Index, index: Index) -> Index:
        return await apply(index, {key: await head.get(key) or TOMBSTONE})

    await compact_without(repository, branch, give_up)


async def _swap_until_done(repository: Repository, name: str) -> None:
    """One swap: a fresh token, nothing sealed, nothing compacted."""
    what = f"resetting branch {name!r}"
    unsure: list[str] = []
    with certainty(unsure, what):
        async for _ in tries(repository.outside, what):
            seen = await repository.branches.fresh(name)
            if seen.branch.token in unsure:
                return
            token = new_token(repository.outside)
            first = leaving(repository.partition, name, (*seen.branch.sealed, seen.branch.token))
            try:
                await repository.branches.swap_among(first, seen, emptied(seen.branch, token))
            except PredicateFailed:
                continue
            except UnknownOutcome:
                unsure.append(token)
                continue
            return


def emptied(branch: Branch, token: str) -> Branch:
    """*branch* with nothing staged. The *token* is a fresh one: under the old one there may be something, or soon."""
    return msgspec.structs.replace(branch, token=token, sealed=(), dirty=False, base="")
