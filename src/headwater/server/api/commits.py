"""Commits: made and described."""

from __future__ import annotations

from typing import Literal

import msgspec

from headwater.actions import Occasion
from headwater.engine.commit import Description, commit
from headwater.engine.errors import BadRequest
from headwater.engine.looking import commit_of
from headwater.server.api.answers import Commit, commit_answer, moment_of
from headwater.server.api.calling import Call
from headwater.server.api.operation import BRANCH, REPOSITORY, Group, needs

group = Group("commits")


class CommitCreation(msgspec.Struct, frozen=True):
    """What a commit is to say. *date* is in seconds since 1970, *creation_time_ms* the same in milliseconds."""

    message: str = ""
    metadata: dict[str, str] = {}
    date: int | None = None
    creation_time_ms: int | None = None
    allow_empty: bool = False
    force: bool = False


class CommitQuery(msgspec.Struct, frozen=True):
    """Clients may name a metarange to commit in place of what is staged; here there are none that they could make."""

    source_metarange: str = ""


def description_of(call: Call, message: str, metadata: dict[str, str], date: int | None = None) -> Description:
    """What a commit of the caller says of itself."""
    moment = call.services.outside.now() if date is None else moment_of(date, "date")
    return Description(message, call.caller.name, moment, metadata)


def committing(
    branch: str, description: Description, verb: Literal["commit", "revert", "cherry-pick"] = "commit"
) -> Occasion:
    """What hooks are told of a commit that is about to be made on *branch*."""
    return Occasion(verb, branch=branch, message=description.message, metadata=description.metadata)


@group.operation(
    "POST",
    "/repositories/{repository}/branches/{branch}/commits",
    "commit",
    needs("fs:CreateCommit", BRANCH),
    status=201,
)
async def make_commit(call: Call, query: CommitQuery, body: CommitCreation) -> Commit:
    """Commit what is staged on a branch"""
    refuse_metarange(query.source_metarange)
    return await committed(call, body)


async def committed(call: Call, body: CommitCreation) -> Commit:
    """Commit what is staged on the branch of *call*, with the hooks around it."""
    repository = await call.repository()
    branch = call["branch"]
    await call.services.rules.check_committable(repository, branch)
    description = description_of(call, body.message, body.metadata, body.date)
    if body.creation_time_ms is not None:
        description = msgspec.structs.replace(description, time=body.creation_time_ms)
    async with call.around(repository, committing(branch, description)) as done:
        made = await commit(repository, branch, description, allow_empty=body.allow_empty, check=done.check)
        done.commit = made.id
    return commit_answer(made)


@group.operation(
    "GET", "/repositories/{repository}/commits/{commitId}", "getCommit", needs("fs:ReadCommit", REPOSITORY)
)
async def get_commit(call: Call) -> Commit:
    """A commit"""
    repository = await call.repository()
    return commit_answer(await commit_of(repository, call["commitId"]))


def refuse_metarange(told: str) -> None:
    """Raise if a client names a metarange to commit."""
    if told:
        raise BadRequest(
            "source_metarange: a commit is made of what is staged; import entries to commit them as they are"
        )
