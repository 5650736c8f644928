"""Bringing changes from one place to another: merge, cherry-pick and revert are one three-way merge of indexes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from headwater.engine.advance import Made, advance
from headwater.engine.commit import Check, Description
from headwater.engine.errors import BadRequest, MergeConflict, NothingToMerge
from headwater.engine.looking import commit_of
from headwater.engine.paths import prefix_of
from headwater.engine.repository import Repository
from headwater.engine.weaving import weave_conflicts
from headwater.history import Commit, merge_base
from headwater.index import Behaviour, Index, Merged, Strategy, apply
from headwater.index import merge as merge_indexes
from headwater.refs.branch import Branch

NO_PREFIXES: Mapping[str, Behaviour] = {}

Appends: TypeAlias = Literal["conflict", "ours-then-theirs"]
"""Of a file that both sides appended to: a conflict, or what the destination appended and then what the
source did."""


async def merge(
    repository: Repository,
    source: str,
    destination: str,
    description: Description,
    *,
    strategy: Strategy = Strategy.REPORT,
    squash: bool = False,
    prefixes: Mapping[str, Behaviour] = NO_PREFIXES,
    appends: Appends = "conflict",
    check: Check | None = None,
) -> Commit:
    """Merge the commit *source* into the branch *destination*, in one commit. `MergeConflict` if they disagree.

    What is staged on the destination stays staged, on top. With *squash* the source is not a parent of the commit.
    *prefixes* say what is done with changes under some prefixes of paths, the longest deciding. *appends* says what
    becomes of a file that both sides appended to. *check* may refuse the commit before it lands.
    """
    theirs = await commit_of(repository, source)
    behaviours = {prefix_of(prefix): behaviour for prefix, behaviour in prefixes.items()}

    async def make(branch: Branch) -> Made:
        ours = await repository.commits.get(branch.commit)
        base = await merge_base(repository.commits, ours, theirs)
        if base is not None and base.id == theirs.id:
            raise NothingToMerge(f"{source!r} has nothing that {destination!r} has not")
        base_index = repository.empty_index() if base is None else await repository.index_of(base.id)
        merged = await merge_indexes(
            base_index,
            await repository.index_of(theirs.id),
            await repository.index_of(ours.id),
            strategy=strategy,
            prefixes=behaviours,
        )
        if appends == "ours-then-theirs":
            merged = await weave_conflicts(repository, merged)
        index = await _applied(repository, ours.id, merged, f"merging {source!r} into {destination!r}")
        return ([ours.id] if squash else [ours.id, theirs.id]), index

    return await advance(repository, destination, description, make, check)


async def cherry_pick(
    repository: Repository,
    ref: str,
    branch: str,
    description: Description,
    *,
    parent: int | None = None,
    check: Check | None = None,
) -> Commit:
    """Do on *branch* what the commit *ref* did against its parent: *parent* says which, from 1, if it has several."""
    picked = await commit_of(repository, ref)
    before = await _parent_index(repository, picked, parent)
    after = await repository.index_of(picked.id)
    return await _redo(
        repository, branch, description, (before, after), f"cherry-picking {ref!r} onto {branch!r}", check=check
    )


async def revert(
    repository: Repository,
    ref: str,
    branch: str,
    description: Description,
    *,
    parent: int | None = None,
    check: Check | None = None,
) -> Commit:
    """Undo on *branch* what the commit *ref* did against its parent: *parent* says which, from 1, if it has several."""
    undone = await commit_of(repository, ref)
    before = await _parent_index(repository, undone, parent)
    after = await repository.index_of(undone.id)
    return await _redo(
        repository, branch, description, (after, before), f"reverting {ref!r} on {branch!r}", check=check
    )


async def _redo(
    repository: Repository,
    branch: str,
    description: Description,
    step: tuple[Index, Index],
    what: str,
    *,
    check: Check | None,
) -> Commit:
    """Bring to *branch* what changes from the one index of *step* to the other."""
    one, other = step

    async def make(ground: Branch) -> Made:
        merged = await merge_indexes(one, other, await repository.index_of(ground.commit))
        index = await _applied(repository, ground.commit, merged, what)
        if not index.record.own_count:
            raise NothingToMerge(f"{what} changes nothing: it is so already")
        return [ground.commit], index

    return await advance(repository, branch, description, make, check)


async def _applied(repository: Repository, destination: str, merged: Merged, what: str) -> Index:
    if merged.conflict_count:
        raise MergeConflict(what, merged.conflicts, merged.conflict_count)
    return await apply(await repository.index_of(destination), merged.edits)


async def _parent_index(repository: Repository, commit: Commit, number: int | None) -> Index:
    """The index of the parent that a commit is compared with: its only one, or the one with that number."""
    parents = commit.parents
    if number is None and len(parents) > 1:
        raise BadRequest(f"commit {commit.id} has {len(parents)} parents: say which to compare it with, from 1")
    if number is not None and not 1 <= number <= max(len(parents), 1):
        raise BadRequest(f"parent={number}: commit {commit.id} has {len(parents)} parents, counted from 1")
    if not parents:
        return repository.empty_index()
    return await repository.index_of(parents[(number or 1) - 1])
