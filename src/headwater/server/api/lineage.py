"""Questions about ancestry, and the commits that touched a path."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from headwater import history
from headwater.engine.log import all_commits
from headwater.engine.looking import commit_of
from headwater.engine.repository import Repository
from headwater.files.history import path_history
from headwater.history import between, is_ancestor, is_first_parent_ancestor
from headwater.sdk.wire.replies import Ancestry
from headwater.server.api.answers import Commit, Page, Pagination, commit_answer, size_of
from headwater.server.api.calling import Call
from headwater.server.api.operation import REPOSITORY, Group, needs
from headwater.server.api.streaming import lines
from headwater.server.http import Response
from headwater.server.limits import DEFAULT_PAGE, MAX_PAGE

group = Group("lineage")


class HistoryQuery(msgspec.Struct, frozen=True):
    """Which page, and of which path."""

    path: str
    after: str = ""
    amount: int = DEFAULT_PAGE


@group.operation(
    "GET", "/repositories/{repository}/refs/{ref}/history", "pathHistory", needs("fs:ListCommits", REPOSITORY)
)
async def history_of_path(call: Call, query: HistoryQuery) -> Page[Commit]:
    """The commits that changed a path, the newest first, along first parents"""
    repository = await call.repository()
    amount = size_of(query.amount)
    found = await path_history(repository, call["ref"], query.path, after=query.after, amount=amount)
    pagination = Pagination(found.after is not None, found.after or "", len(found.commits), MAX_PAGE)
    return Page(pagination, [commit_answer(each) for each in found.commits])


@group.operation(
    "GET",
    "/repositories/{repository}/refs/{ref}/ancestors/{ancestor}",
    "isAncestor",
    needs("fs:ListCommits", REPOSITORY),
)
async def ancestry(call: Call) -> Ancestry:
    """Whether one commit led to another"""
    repository = await call.repository()
    older, newer = await commit_of(repository, call["ancestor"]), await commit_of(repository, call["ref"])
    return Ancestry(
        first_parents=await is_first_parent_ancestor(repository.commits, older, newer),
        at_all=await is_ancestor(repository.commits, older, newer),
    )


@group.operation(
    "GET",
    "/repositories/{repository}/refs/{ref}/commits/after/{ancestor}",
    "commitsBetween",
    needs("fs:ListCommits", REPOSITORY),
)
async def commits_between(call: Call) -> Response:
    """The commits after an ancestor, the newest first, along first parents: one a line"""
    return await lines(_between(await call.repository(), call["ancestor"], call["ref"]), commit_answer)


@group.operation("GET", "/repositories/{repository}/commits", "allCommits", needs("fs:ListCommits", REPOSITORY))
async def every_commit(call: Call) -> Response:
    """Every commit that there is a record of, on whichever branch, in no order: one a line"""
    return await lines(all_commits(await call.repository()), commit_answer)


async def _between(repository: Repository, older: str, newer: str) -> AsyncIterator[history.Commit]:
    one, other = await commit_of(repository, older), await commit_of(repository, newer)
    async for batch in between(repository.commits, one, other):
        for commit in batch:
            yield commit
