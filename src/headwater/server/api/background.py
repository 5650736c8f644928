"""Commits and merges that a client does not wait for: begun, asked about, cancelled."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Generic, TypeVar

import msgspec

from headwater.server.api.answers import Commit, Error, encode, iso
from headwater.server.api.calling import Call
from headwater.server.api.commits import CommitCreation, CommitQuery, committed, refuse_metarange
from headwater.server.api.errors import status_of_kind
from headwater.server.api.operation import BRANCH, Group, Needs
from headwater.server.api.refs import DESTINATION, Merge, MergeResult, merged
from headwater.server.tasks import Progress, TaskRecord

group = Group("commits")
merges = Group("refs")

_COMMITS = "/repositories/{repository}/branches/{branch}/commits/async"
_MERGES = "/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}/async"
_MAY_COMMIT = (Needs("fs:CreateCommit", BRANCH),)
_MAY_MERGE = (Needs("fs:CreateCommit", DESTINATION),)

Result = TypeVar("Result")


class TaskCreation(msgspec.Struct, frozen=True):
    """The id of a task that has begun."""

    id: str


class TaskStatus(msgspec.Struct, Generic[Result], frozen=True, omit_defaults=True):
    """How a task stands: once it is *completed* it has a *result*, or an *error* and the status that goes with it."""

    task_id: str
    completed: bool
    update_time: datetime
    result: Result | None = None
    error: Error | None = None
    status_code: int | None = None


def status_answer(task: TaskRecord, kind: type[Result]) -> TaskStatus[Result]:
    """How *task* stands, whose result is of *kind*."""
    told = TaskStatus[Result](task.id, task.done, iso(task.updated))
    if task.failure is not None:
        error = Error(task.failure.message, task.failure.kind)
        return msgspec.structs.replace(told, error=error, status_code=status_of_kind(error.kind))
    return msgspec.structs.replace(told, result=msgspec.json.decode(task.result, type=kind)) if task.result else told


@group.operation("POST", _COMMITS, "commitAsync", _MAY_COMMIT, status=202)
async def commit_async(call: Call, query: CommitQuery, body: CommitCreation) -> TaskCreation:
    """Begin to commit what is staged on a branch"""
    refuse_metarange(query.source_metarange)
    repository, branch = await call.repository(), call["branch"]
    repository.check_writable()
    await call.services.rules.check_committable(repository, branch)
    await repository.branches.fresh(branch)
    work = partial(_commit, call, body)
    return TaskCreation(await call.services.tasks.start("commit", repository.record.id, work, subject=branch))


@group.operation("GET", f"{_COMMITS}/{{id}}/status", "commitAsyncStatus", _MAY_COMMIT)
async def commit_async_status(call: Call) -> TaskStatus[Commit]:
    """How a commit stands"""
    scope = (await call.repository()).record.id
    return status_answer(await call.services.tasks.find("commit", scope, call["id"], subject=call["branch"]), Commit)


@group.operation("DELETE", f"{_COMMITS}/{{id}}", "commitAsyncCancel", _MAY_COMMIT, status=204)
async def commit_async_cancel(call: Call) -> None:
    """Stop a commit. Nothing is lost: what was staged stays staged, unless it is committed already"""
    scope = (await call.repository()).record.id
    await call.services.tasks.cancel("commit", scope, call["id"], subject=call["branch"])


@merges.operation("POST", _MERGES, "mergeIntoBranchAsync", _MAY_MERGE, status=202)
async def merge_async(call: Call, body: Merge) -> TaskCreation:
    """Begin to merge a reference into a branch"""
    repository = await call.repository()
    repository.check_writable()
    await repository.branches.fresh(call["destinationBranch"])
    work = partial(_merge, call, body)
    return TaskCreation(await call.services.tasks.start("merge", repository.record.id, work, subject=_merging(call)))


@merges.operation("GET", f"{_MERGES}/{{id}}/status", "mergeIntoBranchAsyncStatus", _MAY_MERGE)
async def merge_async_status(call: Call) -> TaskStatus[MergeResult]:
    """How a merge stands"""
    scope = (await call.repository()).record.id
    return status_answer(
        await call.services.tasks.find("merge", scope, call["id"], subject=_merging(call)), MergeResult
    )


@merges.operation("DELETE", f"{_MERGES}/{{id}}", "mergeIntoBranchAsyncCancel", _MAY_MERGE, status=204)
async def merge_async_cancel(call: Call) -> None:
    """Stop a merge, unless it is done already"""
    scope = (await call.repository()).record.id
    await call.services.tasks.cancel("merge", scope, call["id"], subject=_merging(call))


async def _commit(call: Call, body: CommitCreation, progress: Progress) -> bytes:
    made = await committed(call, body)
    progress.add(1)
    return encode(made)


async def _merge(call: Call, body: Merge, progress: Progress) -> bytes:
    made = await merged(call, call["sourceRef"], call["destinationBranch"], body)
    progress.add(1)
    return encode(MergeResult(made))


def _merging(call: Call) -> str:
    return f"{call['sourceRef']} {call['destinationBranch']}"
