"""What a workspace is read on: its layer, over what was committed of it last, or the commit that it was begun on."""

from __future__ import annotations

import msgspec

from headwater.engine.repository import Repository
from headwater.engine.workspaces.ids import parse_id
from headwater.engine.workspaces.layer import WorkspaceLayer
from headwater.engine.workspaces.state import State, usable
from headwater.index import Index


class WorkspaceGround(msgspec.Struct, frozen=True):
    """A workspace as it is: *layer* on *index*, which is that of the commit *base*."""

    base: str
    index: Index
    layer: WorkspaceLayer


async def ground_of_workspace(repository: Repository, id: str) -> WorkspaceGround:  # noqa: A002  (it is one)
    """What there is to read, or `WorkspaceClosed`. One request."""
    return await ground_at(repository, id, await usable(repository, id))


async def ground_at(repository: Repository, id: str, state: State) -> WorkspaceGround:  # noqa: A002  (it is one)
    """What there is to read in a workspace that is in this *state*."""
    base = state.landed[-1] if state.landed else parse_id(id).base
    landed = [await repository.index_of(commit) for commit in state.landed]
    return WorkspaceGround(base, await repository.index_of(base), WorkspaceLayer(repository.blobs, id, landed))
