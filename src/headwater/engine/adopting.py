"""Adopting a tree: segments that executors wrote, in the place where the engine would have, become one commit."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pyarrow as pa

from headwater.engine.advance import Made, advance
from headwater.engine.commit import Check, Description, told_by_a_diff
from headwater.engine.copies import note
from headwater.engine.errors import UnfitTree
from headwater.engine.inspecting import Importable, inspect
from headwater.engine.limits import NOTED_TOGETHER
from headwater.engine.looking import commit_of
from headwater.engine.repository import Repository
from headwater.engine.workspaces.errors import ConcurrentCommit
from headwater.history import Commit, is_first_parent_ancestor
from headwater.index import Index, IndexRecord, Strategy, apply, diff, merge
from headwater.refs.branch import Branch
from headwater.staging.errors import NothingToCommit


class Proposal(msgspec.Struct, frozen=True):
    """A tree, by its name or None for that of nothing, which was made of the commit *base*.

    *relocated*: entries of *base* lie elsewhere in it, and nothing else is new.
    """

    base: str
    tree: str | None
    relocated: bool = False


async def adopt(
    repository: Repository,
    branch: str,
    proposal: Proposal,
    description: Description,
    *,
    importable: Importable,
    looked: Callable[[int], None] = lambda _: None,
    check: Check | None = None,
) -> Commit:
    """Land what was proposed as one commit on *branch*, if it is as it must be; `UnfitTree` says what is not.

    Whoever proposes is believed what cannot be looked at: what the objects hold that entries newly point to.
    """
    repository.check_writable()
    base = await commit_of(repository, proposal.base)
    head = await repository.commits.get((await repository.branches.fresh(branch)).branch.commit)
    if not await is_first_parent_ancestor(repository.commits, base, head):
        raise UnfitTree(f"{proposal.base!r} is no commit of branch {branch!r}: a tree is made of one")
    before = await repository.index_of(base.id)
    inspected = await inspect(
        repository.blobs,
        before,
        proposal.tree,
        importable=importable,
        relocated=proposal.relocated,
        looked=looked,
    )
    if proposal.relocated:
        return await land_relocated(repository, branch, base.id, proposal.tree, description, check=check)
    await _hold(repository, inspected.names)
    return await land_tree(repository, branch, base.id, proposal.tree, description, check=check)


async def land_tree(
    repository: Repository,
    branch: str,
    base: str,
    tree: str | None,
    description: Description,
    *,
    check: Check | None = None,
) -> Commit:
    """Land *tree*, which was made of the commit *base*, as one commit on *branch*.

    If the branch has gone on since, what *tree* changed is brought to where it is now; of a path that both changed,
    what is in *tree* is taken. `NothingToCommit` if it changed nothing.
    """
    before = await repository.index_of(base)
    made = Index(before.store, IndexRecord(tree, None, own_in_tree=True))
    if not await diff(before, made, amount=1):
        raise NothingToCommit(f"branch {branch!r} has all of these entries already")

    async def make(ground: Branch) -> Made:
        if ground.commit == base:
            return [base], made
        now = await repository.index_of(ground.commit)
        merged = await merge(before, made, now, strategy=Strategy.SOURCE_WINS)
        return [ground.commit], told_by_a_diff(await apply(now, merged.edits))

    return await advance(repository, branch, description, make, check)


async def land_relocated(
    repository: Repository,
    branch: str,
    base: str,
    tree: str | None,
    description: Description,
    *,
    check: Check | None = None,
) -> Commit:
    """Land *tree*, in which entries of *base* lie elsewhere and nothing else is new; on *base*, or not at all."""
    store = (await repository.index_of(base)).store

    async def make(ground: Branch) -> Made:
        if ground.commit != base:
            raise ConcurrentCommit(f"branch {branch!r} went on while the job ran: run it again")
        return [base], Index(store, IndexRecord(tree, None, own_in_tree=True))

    return await advance(repository, branch, description, make, check)


async def _hold(repository: Repository, names: pa.ChunkedArray) -> None:
    """Have the objects of these *names* count as written now: garbage collection may be about to take them."""
    for start in range(0, len(names), NOTED_TOGETHER):
        await note(repository, names.slice(start, NOTED_TOGETHER).to_pylist())
