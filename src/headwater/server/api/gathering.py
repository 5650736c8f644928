"""Commits in progress: begun, found, finished, dropped. What one gathers is written to the branch `+` and its id."""

from __future__ import annotations

import msgspec

from headwater.actions import Occasion
from headwater.files import in_progress
from headwater.files.in_progress import InProgress
from headwater.server.api.answers import Commit, commit_answer
from headwater.server.api.calling import Call
from headwater.server.api.commits import description_of
from headwater.server.api.files import Saying
from headwater.server.api.operation import REPOSITORY, Group, Needs, needs

group = Group("commits in progress")

_BRANCH = "arn:lakefs:fs:::repository/{repository}/branch/{name}"


class CommitStart(msgspec.Struct, frozen=True):
    """The branch that a commit is to be on; and the commit that it must be on top of, if any."""

    branch: str
    parent: str | None = None


@group.operation(
    "POST",
    "/repositories/{repository}/commits_in_progress",
    "startCommit",
    (Needs("fs:CreateCommit", "arn:lakefs:fs:::repository/{repository}/branch/{body.branch}"),),
    status=201,
)
async def start_commit(call: Call, body: CommitStart) -> InProgress:
    """Begin a commit that is gathered beside its branch"""
    repository = await call.repository()
    await call.services.rules.check_committable(repository, body.branch)
    return await in_progress.start(repository, body.branch, parent=body.parent, by=call.caller.name)


@group.operation(
    "GET",
    "/repositories/{repository}/commits_in_progress",
    "listCommitsInProgress",
    needs("fs:ListCommits", REPOSITORY),
)
async def list_commits_in_progress(call: Call) -> list[InProgress]:
    """All commits in progress, in the order in which they were begun"""
    return await in_progress.list_open(await call.repository())


@group.operation(
    "GET",
    "/repositories/{repository}/commits_in_progress/{id}",
    "getCommitInProgress",
    needs("fs:ReadCommit", REPOSITORY),
)
async def get_commit_in_progress(call: Call) -> InProgress:
    """A commit in progress"""
    return await in_progress.find(await call.repository(), call["id"])


@group.operation(
    "POST",
    "/repositories/{repository}/commits_in_progress/{id}/finish",
    "finishCommit",
    needs("fs:ReadCommit", REPOSITORY),
    status=201,
    checks_inside=True,
)
async def finish_commit(call: Call, body: Saying) -> Commit:
    """Land what was gathered as one commit, which also needs `fs:CreateCommit` on its branch"""
    repository = await call.repository()
    begun = await in_progress.find(repository, call["id"])
    call.require("fs:CreateCommit", _BRANCH.format(repository=repository.name, name=begun.branch))
    await call.services.rules.check_committable(repository, begun.branch)
    description = description_of(call, body.message, body.metadata)
    occasion = Occasion("commit", branch=begun.branch, message=body.message, metadata=body.metadata)
    async with call.around(repository, occasion) as done:
        made = await in_progress.finish(repository, begun.id, description, check=done.check)
        done.commit = made.id
    return commit_answer(made)


@group.operation(
    "DELETE",
    "/repositories/{repository}/commits_in_progress/{id}",
    "dropCommit",
    needs("fs:ReadCommit", REPOSITORY),
    status=204,
    checks_inside=True,
)
async def drop_commit(call: Call) -> None:
    """Give up a commit in progress, which also needs `fs:CreateCommit` on its branch"""
    repository = await call.repository()
    begun = await in_progress.find(repository, call["id"])
    call.require("fs:CreateCommit", _BRANCH.format(repository=repository.name, name=begun.branch))
    await in_progress.drop(repository, begun.id)
