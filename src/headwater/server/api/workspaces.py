"""Workspaces: begun, looked at, committed and given up. Objects in one are those of the reference `branch+id`."""

from __future__ import annotations

import msgspec

from headwater.engine.diff import uncommitted
from headwater.engine.errors import BadRequest
from headwater.engine.repository import Repository
from headwater.engine.workspaces import clearing
from headwater.engine.workspaces.beginning import begin, resume
from headwater.engine.workspaces.committing import commit_workspace
from headwater.engine.workspaces.finding import FoundWorkspace, Standing, list_workspaces
from headwater.engine.workspaces.ids import WorkspaceRef, parse_id
from headwater.engine.workspaces.places import place_of
from headwater.server.api.answers import Commit, Page, commit_answer, page_of, size_of
from headwater.server.api.branches import DiffQuery
from headwater.server.api.calling import Call
from headwater.server.api.commits import committing, description_of
from headwater.server.api.differences import Diff, difference_answer, offset_of
from headwater.server.api.operation import BRANCH, REPOSITORY, Group, Needs, needs
from headwater.server.limits import MAX_PAGE

group = Group("workspaces")

_ONE = "/repositories/{repository}/branches/{branch}/workspaces/{workspace}"
_OBJECTS = f"{REPOSITORY}/object/*"
_DAY = 86_400_000


class WorkspaceAnswer(msgspec.Struct, frozen=True):
    """A workspace. Objects are read and written at *ref*; any tool writes at *location*."""

    id: str
    branch: str
    base: str
    ref: str
    location: str
    creation_date: int


class FoundAnswer(msgspec.Struct, frozen=True):
    """A workspace that something was written to, as it stands."""

    id: str
    standing: Standing
    base: str
    landed: list[str]
    creation_date: int


class ListingQuery(msgspec.Struct, frozen=True):
    """After how many days without a write an open workspace counts as abandoned, and which page."""

    idle_days: int = 30
    after: str = ""
    amount: int = 100


class WorkspaceCommit(msgspec.Struct, frozen=True):
    """What is committed: what matches one of *patterns*; or, without any, all of it, which closes the workspace."""

    message: str
    metadata: dict[str, str] = {}
    patterns: list[str] | None = None
    retry: bool = False


class Patterns(msgspec.Struct, frozen=True):
    """Paths, by patterns as of a glob."""

    patterns: list[str] = []


class Count(msgspec.Struct, frozen=True):
    """How many there were."""

    count: int


@group.operation(
    "POST",
    "/repositories/{repository}/branches/{branch}/workspaces",
    "createWorkspace",
    needs("fs:ReadBranch", BRANCH),
    status=201,
)
async def create_workspace(call: Call) -> WorkspaceAnswer:
    """Begin a workspace on the last commit of a branch. Nothing is recorded"""
    repository = await call.repository()
    return _answer(repository, await begin(repository, call["branch"]))


@group.operation("GET", "/repositories/{repository}/workspaces", "listWorkspaces", needs("fs:ListObjects", REPOSITORY))
async def list_all(call: Call, query: ListingQuery) -> Page[FoundAnswer]:
    """List the workspaces that something was written to"""
    repository = await call.repository()
    size = size_of(query.amount)
    if query.idle_days < 0:
        raise BadRequest(f"idle_days={query.idle_days}: 0 or more")
    idle_since = call.services.outside.now() - query.idle_days * _DAY
    found = [each for each in await list_workspaces(repository, idle_since=idle_since) if each.id > query.after]
    return page_of(found[: size + 1], size, _found_answer, lambda each: each.id)


@group.operation("GET", _ONE, "getWorkspace", needs("fs:ReadBranch", BRANCH))
async def get_workspace(call: Call) -> WorkspaceAnswer:
    """A workspace that is open"""
    repository = await call.repository()
    return _answer(repository, await _workspace(call, repository))


@group.operation("GET", f"{_ONE}/diff", "diffWorkspace", needs("fs:ListObjects", REPOSITORY))
async def diff_workspace(call: Call, query: DiffQuery) -> Page[Diff]:
    """What is in a workspace, and different from what it is based on"""
    repository = await call.repository()
    size = size_of(query.amount)
    found = await uncommitted(
        repository,
        str(await _workspace(call, repository)),
        prefix=query.prefix,
        delimiter=query.delimiter,
        after=query.after,
        amount=min(size + 1, MAX_PAGE),
    )
    return page_of(found, min(size, MAX_PAGE - 1), difference_answer, offset_of)


@group.operation("POST", f"{_ONE}/commits", "commitWorkspace", needs("fs:CreateCommit", BRANCH), status=201)
async def make_commit(call: Call, body: WorkspaceCommit) -> Commit:
    """Commit a workspace, or a part of it, to its branch"""
    repository = await call.repository()
    workspace = await _workspace(call, repository)
    await call.services.rules.check_committable(repository, workspace.branch)
    if body.patterns == []:
        raise BadRequest("patterns: none match anything; leave them out to commit all of the workspace")
    description = description_of(call, body.message, body.metadata)
    async with call.around(repository, committing(workspace.branch, description)) as done:
        made = await commit_workspace(
            repository, workspace, description, patterns=body.patterns, retry=body.retry, check=done.check
        )
        done.commit = made.id
    return commit_answer(made)


@group.operation("POST", f"{_ONE}/revert", "revertWorkspace", (Needs("fs:DeleteObject", _OBJECTS),))
async def revert_workspace(call: Call, body: Patterns) -> Count:
    """Give up what matches patterns; without any, everything"""
    repository = await call.repository()
    workspace = await _workspace(call, repository)
    return Count(await clearing.revert(repository, workspace.id, body.patterns or clearing.EVERYTHING))


@group.operation("POST", f"{_ONE}/remove", "removeFromWorkspace", (Needs("fs:DeleteObject", _OBJECTS),))
async def remove_from_workspace(call: Call, body: Patterns) -> Count:
    """Delete what matches patterns, also of what is committed"""
    repository = await call.repository()
    workspace = await _workspace(call, repository)
    if not body.patterns:
        raise BadRequest("patterns: say what is to be deleted")
    return Count(await clearing.remove(repository, workspace.id, body.patterns))


@group.operation("DELETE", _ONE, "discardWorkspace", (Needs("fs:DeleteObject", _OBJECTS),), status=204)
async def discard_workspace(call: Call) -> None:
    """Give a workspace up, and close it"""
    repository = await call.repository()
    await clearing.discard(repository, (await _workspace(call, repository)).id)


async def _workspace(call: Call, repository: Repository) -> WorkspaceRef:
    return await resume(repository, call["branch"], call["workspace"])


def _answer(repository: Repository, workspace: WorkspaceRef) -> WorkspaceAnswer:
    parsed = parse_id(workspace.id)
    location = ""
    if not repository.record.namespace.startswith("mem:"):
        location = place_of(repository.record.namespace, repository.blobs.directory, workspace.id, "")
    return WorkspaceAnswer(
        workspace.id, workspace.branch, parsed.base, str(workspace), location, parsed.started // 1000
    )


def _found_answer(found: FoundWorkspace) -> FoundAnswer:
    return FoundAnswer(found.id, found.standing, found.base, list(found.landed), found.started // 1000)
