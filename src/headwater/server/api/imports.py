"""Importing objects that are in the storage already, as a task: started, asked about, cancelled."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Literal

import msgspec

from headwater.actions import Occasion
from headwater.engine.errors import BadRequest
from headwater.engine.importing import ImportObject, ImportPrefix, import_objects
from headwater.engine.repository import Repository
from headwater.server.addresses import source_from_client
from headwater.server.api.answers import Commit, Error, commit_answer, encode, iso
from headwater.server.api.calling import Call
from headwater.server.api.commits import CommitCreation, description_of
from headwater.server.api.operation import BRANCH, Group, needs
from headwater.server.limits import MAX_SOURCES
from headwater.server.tasks import Progress, TaskRecord

group = Group("import")

KIND = "import"


class ImportLocation(msgspec.Struct, frozen=True):
    """What is to be imported: the object at *path*, or all that begin with it; and where to."""

    type: Literal["common_prefix", "object"]
    path: str
    destination: str


class ImportCreation(msgspec.Struct, frozen=True):
    """An import to be, which is one commit."""

    paths: list[ImportLocation]
    commit: CommitCreation
    force: bool = False


class ImportCreationResponse(msgspec.Struct, frozen=True):
    """The id of an import that has begun."""

    id: str


class ImportStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """How an import stands. It is *completed* when its commit is there; if it failed, it has an *error* instead."""

    completed: bool
    update_time: datetime
    ingested_objects: int = 0
    metarange_id: str | None = None
    commit: Commit | None = None
    error: Error | None = None


class ImportQuery(msgspec.Struct, frozen=True):
    """Which import."""

    id: str


@group.operation(
    "POST",
    "/repositories/{repository}/branches/{branch}/import",
    "importStart",
    needs("fs:CreateCommit", BRANCH),
    status=202,
    checks_inside=True,
)
async def import_start(call: Call, body: ImportCreation) -> ImportCreationResponse:
    """Begin an import: what is imported replaces what is at the same paths, and nothing is removed"""
    repository = await call.repository()
    branch = call["branch"]
    if not 1 <= len(body.paths) <= MAX_SOURCES:
        raise BadRequest(f"paths: an import has 1 to {MAX_SOURCES} sources, not {len(body.paths)}")
    for each in body.paths:
        call.require("fs:ImportFromStorage", f"arn:lakefs:fs:::namespace/{each.path}")
        call.require("fs:WriteObject", f"arn:lakefs:fs:::repository/{repository.name}/object/{each.destination}")
    sources = [_source(call, each) for each in body.paths]
    repository.check_writable()
    await call.services.rules.check_committable(repository, branch)
    await repository.branches.fresh(branch)
    work = partial(_import, call, repository, sources, body.commit)
    identity = await call.services.tasks.start(KIND, repository.record.id, work, subject=branch)
    return ImportCreationResponse(identity)


@group.operation(
    "GET",
    "/repositories/{repository}/branches/{branch}/import",
    "importStatus",
    needs("fs:ReadBranch", BRANCH),
)
async def import_status(call: Call, query: ImportQuery) -> ImportStatus:
    """How an import stands"""
    repository = await call.repository()
    return import_answer(await call.services.tasks.find(KIND, repository.record.id, query.id, subject=call["branch"]))


def import_answer(task: TaskRecord) -> ImportStatus:
    """How *task* stands, whose result is a commit."""
    if task.failure is not None or not task.done:
        error = None if task.failure is None else Error(task.failure.message, task.failure.kind)
        return ImportStatus(False, iso(task.updated), task.progress, error=error)  # noqa: FBT003
    commit = msgspec.json.decode(task.result, type=Commit)
    return ImportStatus(True, iso(task.updated), task.progress, commit.meta_range_id, commit)  # noqa: FBT003


@group.operation(
    "DELETE",
    "/repositories/{repository}/branches/{branch}/import",
    "importCancel",
    needs("fs:ImportCancel", BRANCH),
    status=204,
)
async def import_cancel(call: Call, query: ImportQuery) -> None:
    """Stop an import. Nothing of it is kept, unless its commit is there already"""
    repository = await call.repository()
    await call.services.tasks.cancel(KIND, repository.record.id, query.id, subject=call["branch"])


def _source(call: Call, told: ImportLocation) -> ImportPrefix | ImportObject:
    uri = source_from_client(call.services.settings, told.path)
    kind = ImportPrefix if told.type == "common_prefix" else ImportObject
    return kind(uri, told.destination)


async def _import(
    call: Call,
    repository: Repository,
    sources: list[ImportPrefix | ImportObject],
    creation: CommitCreation,
    progress: Progress,
) -> bytes:
    branch = call["branch"]
    message = creation.message or "Import objects"
    description = description_of(call, message, creation.metadata, creation.date)
    occasion = Occasion("commit", branch=branch, message=message, metadata=creation.metadata)
    async with call.around(repository, occasion) as done:
        made = await import_objects(repository, branch, sources, description, gathered=progress.add, check=done.check)
        done.commit = made.id
    return encode(commit_answer(made))
