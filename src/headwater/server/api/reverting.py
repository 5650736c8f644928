"""Undoing a commit, and being told the commit that did."""

from __future__ import annotations

import msgspec

from headwater.engine import merge
from headwater.engine.looking import commit_of
from headwater.server.api.answers import Commit, commit_answer
from headwater.server.api.calling import Call
from headwater.server.api.commits import committing, description_of
from headwater.server.api.operation import BRANCH, Group, needs

group = Group("reverting")


class Revert(msgspec.Struct, frozen=True):
    """The commit to undo; of a merge, against which parent, from 1; and what is to be said."""

    ref: str
    message: str = ""
    parent: int | None = None
    metadata: dict[str, str] = {}


@group.operation(
    "POST",
    "/repositories/{repository}/branches/{branch}/reverts",
    "revertCommit",
    needs("fs:RevertBranch", BRANCH),
    status=201,
)
async def revert_commit(call: Call, body: Revert) -> Commit:
    """Undo a commit, in a new one that is answered: on a protected branch, too"""
    repository = await call.repository()
    undone = await commit_of(repository, body.ref)
    description = description_of(call, body.message or f"Revert {undone.id}", body.metadata)
    async with call.around(repository, committing(call["branch"], description, "revert")) as done:
        made = await merge.revert(
            repository, undone.id, call["branch"], description, parent=body.parent, check=done.check
        )
        done.commit = made.id
    return commit_answer(made)
