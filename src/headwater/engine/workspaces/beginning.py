"""Beginning a workspace, and going on with one that somebody else began: neither writes anything anywhere."""

from __future__ import annotations

from headwater.engine.repository import Repository
from headwater.engine.workspaces.ids import WorkspaceRef, new_id, parse_id
from headwater.engine.workspaces.state import check_base, usable


async def begin(repository: Repository, branch: str) -> WorkspaceRef:
    """A workspace on the head of *branch*. One read."""
    repository.check_writable()
    head = (await repository.branches.fresh(branch)).branch.commit
    return WorkspaceRef(branch, new_id(repository.outside, head))


async def resume(repository: Repository, branch: str, id: str) -> WorkspaceRef:  # noqa: A002  (it is one)
    """The workspace *id*, for *branch*, which need not be the one that it was begun on. `WorkspaceClosed` if it is."""
    parse_id(id)
    await repository.branches.fresh(branch)
    await check_base(repository, id)
    await usable(repository, id)
    return WorkspaceRef(branch, id)
