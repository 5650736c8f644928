"""What a workspace is read on: its layer, over what was committed of it last, or the commit that it was begun on."""

from __future__ import annotations

import msgspec

from headwater.engine.repository import Repository
from headwater.engine.workspaces.ids import parse_id
from headwater.engine.workspaces.layer import WorkspaceLayer
from headwater.engine.workspaces.state import State, usable
from headwater.history import CommitNotFound
from headwater.index import Index
from headwater.refs.errors import RefNotFound


class WorkspaceGround(msgspec.Struct, frozen=True):
    """A workspace as it is: *layer* on *index*, which is that of the commit *base*."""

    base: str
    index: Index
    layer: WorkspaceLayer


async def ground_of_workspace(repository: Repository, id: str) -> WorkspaceGround:  # noqa: A002  (it is one)
    """What there is to read, or `WorkspaceClosed`; `RefNotFound` if nobody began it here. One request."""
    state = await usable(repository, id)
    try:
        return await ground_at(repository, id, state)
    except CommitNotFound:  # anybody can make up an id
        raise RefNotFound(f"there is no workspace {id}: {repository.name!r} has no such commit to base it on") from None


async def ground_at(repository: Repository, id: str, state: State) -> WorkspaceGround:  # noqa: A002  (it is one)
    """What there is to read in a workspace that is in this *state*."""
    base = state.landed[-1] if state.landed else parse_id(id).base
    landed = [await repository.index_of(commit) for commit in state.landed]
    return WorkspaceGround(base, await repository.index_of(base), WorkspaceLayer(repository.blobs, id, landed))
