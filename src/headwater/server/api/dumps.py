"""Dumping all references of a repository, and restoring them: at once, or as a task.

A dump has one id here, which vouches for all of it. Clients of lakeFS know three, of commits, tags and branches: they
are told the same one three times, and give it back.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial

import msgspec

from headwater.engine.dump import dump, restore
from headwater.engine.errors import BadRequest
from headwater.engine.repository import Repository
from headwater.server.api.answers import encode, iso
from headwater.server.api.calling import Call
from headwater.server.api.operation import REPOSITORY, Group, Needs
from headwater.server.tasks import Progress

group = Group("repositories")
internal = Group("internal")

_MAY_DUMP = tuple(Needs(action, REPOSITORY) for action in ("fs:ListBranches", "fs:ListTags", "fs:ListCommits"))
_MAY_RESTORE = tuple(Needs(action, REPOSITORY) for action in ("fs:CreateBranch", "fs:CreateTag", "fs:CreateCommit"))


class RefsDump(msgspec.Struct, frozen=True):
    """A dump by its id, three times."""

    commits_meta_range_id: str
    tags_meta_range_id: str
    branches_meta_range_id: str


class RefsRestore(RefsDump, frozen=True):
    """The dump to restore. A repository that has references takes none, *force* or not."""

    force: bool = False


class TaskInfo(msgspec.Struct, frozen=True):
    """The id of a task that has begun."""

    id: str


class TaskQuery(msgspec.Struct, frozen=True):
    """Which task."""

    task_id: str


class RepositoryDumpStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a dump stands; once it is done without an error, which it is."""

    id: str
    done: bool
    update_time: datetime
    error: str | None = None
    refs: RefsDump | None = None


class RepositoryRestoreStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a restoring stands."""

    id: str
    done: bool
    update_time: datetime
    error: str | None = None


@internal.operation("PUT", "/repositories/{repository}/refs/dump", "dumpRefs", _MAY_DUMP, status=201)
async def dump_refs(call: Call) -> RefsDump:
    """Write all references, and the commits they lead to, into the storage"""
    return _told(await dump(await call.repository()))


@internal.operation("PUT", "/repositories/{repository}/refs/restore", "restoreRefs", _MAY_RESTORE)
async def restore_refs(call: Call, body: RefsRestore) -> None:
    """Make the references of a dump those of a repository that was made bare"""
    await restore(await call.repository(), identity_of(body))


@group.operation("POST", "/repositories/{repository}/dump", "dumpSubmit", _MAY_DUMP, status=202)
async def dump_submit(call: Call) -> TaskInfo:
    """Begin a dump"""
    repository = await call.repository()
    return TaskInfo(await call.services.tasks.start("dump", repository.record.id, partial(_dump, repository)))


@group.operation("GET", "/repositories/{repository}/dump", "dumpStatus", _MAY_DUMP)
async def dump_status(call: Call, query: TaskQuery) -> RepositoryDumpStatus:
    """How a dump stands"""
    task = await call.services.tasks.find("dump", (await call.repository()).record.id, query.task_id)
    refs = msgspec.json.decode(task.result, type=RefsDump) if task.result else None
    error = None if task.failure is None else task.failure.message
    return RepositoryDumpStatus(task.id, task.done, iso(task.updated), error, refs)


@group.operation("DELETE", "/repositories/{repository}/dump", "dumpCancel", _MAY_DUMP, status=204)
async def dump_cancel(call: Call, query: TaskQuery) -> None:
    """Stop a dump"""
    await call.services.tasks.cancel("dump", (await call.repository()).record.id, query.task_id)


@group.operation("POST", "/repositories/{repository}/restore", "restoreSubmit", _MAY_RESTORE, status=202)
async def restore_submit(call: Call, body: RefsRestore) -> TaskInfo:
    """Begin to restore a dump"""
    repository = await call.repository()
    repository.check_writable()
    work = partial(_restore, repository, identity_of(body))
    return TaskInfo(await call.services.tasks.start("restore", repository.record.id, work))


@group.operation("GET", "/repositories/{repository}/restore", "restoreStatus", _MAY_RESTORE)
async def restore_status(call: Call, query: TaskQuery) -> RepositoryRestoreStatus:
    """How a restoring stands"""
    task = await call.services.tasks.find("restore", (await call.repository()).record.id, query.task_id)
    error = None if task.failure is None else task.failure.message
    return RepositoryRestoreStatus(task.id, task.done, iso(task.updated), error)


@group.operation("DELETE", "/repositories/{repository}/restore", "restoreCancel", _MAY_RESTORE, status=204)
async def restore_cancel(call: Call, query: TaskQuery) -> None:
    """Stop a restoring. It can be begun again: what it made already is as it should be"""
    await call.services.tasks.cancel("restore", (await call.repository()).record.id, query.task_id)


def identity_of(told: RefsDump) -> str:
    """The id of the one dump that is *told* three times."""
    if len({told.commits_meta_range_id, told.tags_meta_range_id, told.branches_meta_range_id}) > 1:
        raise BadRequest("a dump of this server has one id, the same for commits, tags and branches: give it as it was")
    return told.commits_meta_range_id


async def _dump(repository: Repository, progress: Progress) -> bytes:
    identity = await dump(repository, gathered=progress.add)
    return encode(_told(identity))


async def _restore(repository: Repository, identity: str, progress: Progress) -> bytes:
    progress.add((await restore(repository, identity)).commits)
    return b"{}"


def _told(identity: str) -> RefsDump:
    return RefsDump(identity, identity, identity)
