"""Pull requests: made, listed, changed and merged."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from headwater.engine.errors import BadRequest, NothingToMerge
from headwater.engine.limits import MAX_PAGE
from headwater.engine.log import log
from headwater.engine.repository import Repository
from headwater.server.api.answers import Page, PageQuery, iso, page_of
from headwater.server.api.calling import Call
from headwater.server.api.operation import REPOSITORY, Group, Needs, needs
from headwater.server.api.refs import Merge, MergeResult, merged
from headwater.server.pulls import Pull, check_open

group = Group("pulls")

ORIGIN = ".lakefs.pull-request.id"
"""The metadata of the commit that merged a pull request, by which a merge is found that was cut off before it was
written down."""


class PullRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """A proposal to merge *source_branch* into *destination_branch*."""

    id: str
    status: str
    title: str
    description: str
    creation_date: datetime
    author: str
    source_branch: str
    destination_branch: str
    merged_commit_id: str | None = None
    closed_date: datetime | None = None


class PullRequestCreation(msgspec.Struct, frozen=True):
    """A pull request to be."""

    title: str
    source_branch: str
    destination_branch: str
    description: str = ""


class PullRequestCreationResponse(msgspec.Struct, frozen=True):
    """The id of a new pull request."""

    id: str


class PullRequestBasic(msgspec.Struct, frozen=True):
    """What a pull request is to say instead; what is not given stays."""

    status: Literal["open", "closed", "merged"] | None = None
    title: str | None = None
    description: str | None = None


class PullListQuery(PageQuery, frozen=True):
    """Which page of pull requests: all, open ones, or those that are open no more."""

    status: Literal["open", "closed", "all"] = "all"


def pull_answer(pull: Pull) -> PullRequest:
    return PullRequest(
        id=pull.id,
        status=pull.status,
        title=pull.title,
        description=pull.description,
        creation_date=iso(pull.created),
        author=pull.author,
        source_branch=pull.source,
        destination_branch=pull.destination,
        merged_commit_id=pull.merged_commit or None,
        closed_date=None if pull.closed is None else iso(pull.closed),
    )


@group.operation(
    "GET", "/repositories/{repository}/pulls", "listPullRequests", needs("pr:ListPullRequests", REPOSITORY)
)
async def list_pull_requests(call: Call, query: PullListQuery) -> Page[PullRequest]:
    """List pull requests, the oldest first"""
    repository = await call.repository()
    found = await call.services.pulls.list(
        repository, prefix=query.prefix, after=query.after, amount=query.size + 1, status=query.status
    )
    return page_of(found, query.size, pull_answer, lambda pull: pull.id)


@group.operation(
    "POST",
    "/repositories/{repository}/pulls",
    "createPullRequest",
    needs("pr:WritePullRequest", REPOSITORY),
    status=201,
)
async def create_pull_request(call: Call, body: PullRequestCreation) -> PullRequestCreationResponse:
    """Propose to merge a branch into another"""
    repository = await call.repository()
    if body.source_branch == body.destination_branch:
        raise BadRequest(f"source_branch: {body.source_branch!r} cannot be merged into itself")
    for name in (body.source_branch, body.destination_branch):
        await repository.branches.fresh(name)
    made = await call.services.pulls.create(
        repository,
        title=body.title,
        description=body.description,
        author=call.caller.name,
        source=body.source_branch,
        destination=body.destination_branch,
    )
    return PullRequestCreationResponse(made.id)


@group.operation(
    "GET",
    "/repositories/{repository}/pulls/{pull_request}",
    "getPullRequest",
    needs("pr:ReadPullRequest", REPOSITORY),
)
async def get_pull_request(call: Call) -> PullRequest:
    """A pull request"""
    return pull_answer(await call.services.pulls.get(await call.repository(), call["pull_request"]))


@group.operation(
    "PATCH",
    "/repositories/{repository}/pulls/{pull_request}",
    "updatePullRequest",
    needs("pr:WritePullRequest", REPOSITORY),
    status=204,
)
async def update_pull_request(call: Call, body: PullRequestBasic) -> None:
    """Give a pull request another title or description, close it, or open it again"""
    await call.services.pulls.update(
        await call.repository(),
        call["pull_request"],
        title=body.title,
        description=body.description,
        status=body.status,
    )


@group.operation(
    "PUT",
    "/repositories/{repository}/pulls/{pull_request}/merge",
    "mergePullRequest",
    (Needs("pr:WritePullRequest", REPOSITORY),),
    checks_inside=True,
)
async def merge_pull_request(call: Call) -> MergeResult:
    """Merge what an open pull request proposes"""
    repository = await call.repository()
    pull = await call.services.pulls.get(repository, call["pull_request"])
    call.require("fs:CreateCommit", f"arn:lakefs:fs:::repository/{repository.name}/branch/{pull.destination}")
    check_open(pull)
    body = Merge(message=f"Merge pull request {pull.id}: {pull.title}", metadata={ORIGIN: pull.id})
    try:
        commit = await merged(call, pull.source, pull.destination, body)
    except NothingToMerge:
        found = await _merged_before(repository, pull)
        if found is None:
            raise
        commit = found
    await call.services.pulls.merged(repository, pull.id, commit)
    return MergeResult(commit)


async def _merged_before(repository: Repository, pull: Pull) -> str | None:
    """The commit in which *pull* was merged already, by a call that did not live to write it down."""
    page = await log(repository, pull.destination, amount=MAX_PAGE, first_parents=True, since=pull.created)
    return next((commit.id for commit in page.commits if commit.metadata.get(ORIGIN) == pull.id), None)
