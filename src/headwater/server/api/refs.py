"""References: their history, what is different between them, and bringing one into another."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from headwater.actions import Occasion
from headwater.engine import merge
from headwater.engine.diff import diff
from headwater.engine.errors import BadRequest, NothingToMerge
from headwater.engine.log import log
from headwater.engine.looking import commit_of
from headwater.history import merge_base
from headwater.index import Behaviour, Strategy
from headwater.sdk.results import milliseconds_of
from headwater.server.api.answers import Commit, Page, Pagination, commit_answer, page_of, size_of
from headwater.server.api.calling import Call
from headwater.server.api.commits import description_of
from headwater.server.api.differences import Diff, detailed_answer, difference_answer, offset_of
from headwater.server.api.operation import REPOSITORY, Group, Needs, needs
from headwater.server.limits import DEFAULT_PAGE, MAX_PAGE

group = Group("refs")

DESTINATION = "arn:lakefs:fs:::repository/{repository}/branch/{destinationBranch}"


class LogQuery(msgspec.Struct, frozen=True):
    """Which commits: those that changed one of *objects*, or something under one of *prefixes*, if any are named."""

    after: str = ""
    amount: int = DEFAULT_PAGE
    objects: list[str] = []
    prefixes: list[str] = []
    limit: bool = False
    """Whether to stop at *amount* commits for good: then the answer does not say that there is more."""
    first_parent: bool = False
    since: datetime | None = None
    until: datetime | None = None
    stop_at: str = ""


class DiffRefsQuery(msgspec.Struct, frozen=True):
    """Which page, and of what: `two_dot` compares the two, `three_dot` what the right one did since they parted."""

    after: str = ""
    amount: int = DEFAULT_PAGE
    prefix: str = ""
    delimiter: str = ""
    type: Literal["two_dot", "three_dot"] = "three_dot"
    include_right_stats: bool = False
    details: bool = False


class Merge(msgspec.Struct, frozen=True):
    """How to merge. With a *strategy*, conflicts are decided in favour of one side.

    *prefixes* say what is done with changes under some prefixes: `normal`, `force` or `drop`, the longest deciding.
    *merge_appends* says what becomes of files that both sides only appended to.
    """

    message: str = ""
    metadata: dict[str, str] = {}
    strategy: Literal["", "source-wins", "dest-wins"] = ""
    force: bool = False
    allow_empty: bool = False
    squash_merge: bool = False
    prefixes: dict[str, Literal["normal", "force", "drop"]] = {}
    merge_appends: merge.Appends = "conflict"


class MergeResult(msgspec.Struct, frozen=True):
    """The id of the commit that merged, and the commit."""

    reference: str
    commit: Commit | None = None


class FindMergeBaseResult(msgspec.Struct, frozen=True):
    """The commits of both sides, and the one that they parted at."""

    source_commit_id: str
    destination_commit_id: str
    base_commit_id: str


@group.operation(
    "GET",
    "/repositories/{repository}/refs/{ref}/commits",
    "logCommits",
    needs("fs:ReadBranch", REPOSITORY + "/branch/{ref}"),
)
async def log_commits(call: Call, query: LogQuery) -> Page[Commit]:
    """The commits that led to a reference, the newest first"""
    repository = await call.repository()
    for name, moment in (("since", query.since), ("until", query.until)):
        if moment is not None and moment.tzinfo is None:
            raise BadRequest(f"{name}: say in which time zone, as 2026-01-31T12:00:00Z")
    paths = [path.rstrip("/") for path in query.objects]
    paths += [prefix if prefix.endswith("/") else f"{prefix}/" for prefix in query.prefixes]
    size = size_of(query.amount)
    found = await log(
        repository,
        call["ref"],
        after=query.after,
        amount=size,
        paths=[path for path in paths if path],
        first_parents=query.first_parent,
        since=None if query.since is None else milliseconds_of(query.since),
        until=None if query.until is None else milliseconds_of(query.until),
        stop_at=query.stop_at or None,
    )
    more = found.after is not None and not query.limit
    pagination = Pagination(more, (found.after or "") if more else "", len(found.commits), MAX_PAGE)
    return Page(pagination, [commit_answer(each) for each in found.commits])


@group.operation(
    "GET",
    "/repositories/{repository}/refs/{leftRef}/diff/{rightRef}",
    "diffRefs",
    needs("fs:ListObjects", REPOSITORY),
)
async def diff_refs(call: Call, query: DiffRefsQuery) -> Page[Diff]:
    """What is different between two references"""
    repository = await call.repository()
    size = size_of(query.amount)
    found = await diff(
        repository,
        call["leftRef"],
        call["rightRef"],
        three_dot=query.type == "three_dot",
        prefix=query.prefix,
        delimiter=query.delimiter,
        after=query.after,
        amount=size + 1,
    )
    return page_of(found, size, detailed_answer if query.details else difference_answer, offset_of)


@group.operation(
    "POST",
    "/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}",
    "mergeIntoBranch",
    (Needs("fs:CreateCommit", DESTINATION),),
)
async def merge_into_branch(call: Call, body: Merge) -> MergeResult:
    """Merge a reference into a branch, in one commit"""
    source, destination = call["sourceRef"], call["destinationBranch"]
    made = await merged(call, source, destination, body)
    return MergeResult(made, commit_answer(await commit_of(await call.repository(), made)))


async def merged(call: Call, source: str, destination: str, body: Merge) -> str:
    """Merge *source* into *destination*, with the hooks around it. Returns the id of the commit."""
    repository = await call.repository()
    message = body.message or f"Merge '{source}' into '{destination}'"
    description = description_of(call, message, body.metadata)
    strategy = Strategy(body.strategy) if body.strategy else Strategy.REPORT
    theirs = await commit_of(repository, source)
    occasion = Occasion(
        "merge", branch=destination, source=source, commit=theirs.id, message=message, metadata=body.metadata
    )
    async with call.around(repository, occasion) as done:
        try:
            made = await merge.merge(
                repository,
                theirs.id,
                destination,
                description,
                strategy=strategy,
                squash=body.squash_merge,
                prefixes={prefix: Behaviour(behaviour) for prefix, behaviour in body.prefixes.items()},
                appends=body.merge_appends,
                check=done.check,
            )
        except NothingToMerge:
            if not (body.allow_empty or body.force):
                raise
            made = await commit_of(repository, destination)
        done.commit = made.id
    return made.id


@group.operation(
    "GET",
    "/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}",
    "findMergeBase",
    needs("fs:ListCommits", REPOSITORY),
)
async def find_merge_base(call: Call) -> FindMergeBaseResult:
    """The commit at which two references parted"""
    repository = await call.repository()
    source = await commit_of(repository, call["sourceRef"])
    destination = await commit_of(repository, call["destinationBranch"])
    base = await merge_base(repository.commits, source, destination)
    return FindMergeBaseResult(source.id, destination.id, "" if base is None else base.id)
