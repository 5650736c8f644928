"""Runs of hooks: listed, described, and what each hook said."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from headwater.actions import HookRun as KeptHookRun
from headwater.actions import Run
from headwater.server.api.answers import Page, iso, page_of, size_of
from headwater.server.api.calling import Call
from headwater.server.api.operation import REPOSITORY, Group, needs
from headwater.server.http import Response
from headwater.server.limits import DEFAULT_PAGE

group = Group("actions")

Status = Literal["failed", "completed"]

_RUN = "/repositories/{repository}/actions/runs/{run_id}"
_MAY_READ = needs("ci:ReadAction", REPOSITORY)
_TEXT = (b"content-type", b"text/plain; charset=utf-8")


class ActionRun(msgspec.Struct, frozen=True):
    """What hooks were run on one event, and whether all went well. *branch* is empty for events of tags."""

    run_id: str
    branch: str
    start_time: datetime
    end_time: datetime
    event_type: str
    status: Status
    commit_id: str


class HookRun(msgspec.Struct, frozen=True):
    """One hook of a run."""

    hook_run_id: str
    action: str
    hook_id: str
    start_time: datetime
    end_time: datetime
    status: Status


class RunsQuery(msgspec.Struct, frozen=True):
    """Which page of runs, the newest first: all, or those on a branch, or about a commit."""

    after: str = ""
    amount: int = DEFAULT_PAGE
    branch: str = ""
    commit: str = ""


class HooksQuery(msgspec.Struct, frozen=True):
    """Which page of a run's hooks."""

    after: str = ""
    amount: int = DEFAULT_PAGE


def status_of(passed: bool) -> Status:  # noqa: FBT001  (it is what is translated)
    return "completed" if passed else "failed"


def run_answer(run: Run) -> ActionRun:
    return ActionRun(
        run_id=run.id,
        branch=run.branch,
        start_time=iso(run.started),
        end_time=iso(run.ended),
        event_type=run.event,
        status=status_of(run.passed),
        commit_id=run.commit,
    )


def hook_answer(hook: KeptHookRun) -> HookRun:
    return HookRun(
        hook_run_id=hook.id,
        action=hook.action,
        hook_id=hook.hook,
        start_time=iso(hook.started),
        end_time=iso(hook.ended),
        status=status_of(hook.passed),
    )


@group.operation("GET", "/repositories/{repository}/actions/runs", "listRepositoryRuns", _MAY_READ)
async def list_repository_runs(call: Call, query: RunsQuery) -> Page[ActionRun]:
    """List runs of hooks, the newest first"""
    repository = await call.repository()
    size = size_of(query.amount)
    found = await call.services.actions.runs.page(
        repository, branch=query.branch, commit=query.commit, after=query.after, amount=size + 1
    )
    return page_of(found, size, run_answer, lambda run: run.id)


@group.operation("GET", _RUN, "getRun", _MAY_READ)
async def get_run(call: Call) -> ActionRun:
    """A run of hooks"""
    return run_answer(await _run(call))


@group.operation("GET", f"{_RUN}/hooks", "listRunHooks", _MAY_READ)
async def list_run_hooks(call: Call, query: HooksQuery) -> Page[HookRun]:
    """List the hooks of a run, in their order"""
    size = size_of(query.amount)
    hooks = [hook for hook in (await _run(call)).hooks if hook.id > query.after]
    return page_of(hooks, size, hook_answer, lambda hook: hook.id)


@group.operation("GET", f"{_RUN}/hooks/{{hook_run_id}}/output", "getRunHookOutput", _MAY_READ)
async def get_run_hook_output(call: Call) -> Response:
    """What a hook said"""
    repository = await call.repository()
    said = await call.services.actions.runs.output(repository, call["run_id"], call["hook_run_id"])
    return Response(200, (_TEXT,), said)


async def _run(call: Call) -> Run:
    return await call.services.actions.runs.get(await call.repository(), call["run_id"])
