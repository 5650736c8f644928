"""Ingesting a place on the object store that others fill: what would change, and changing it, as a task."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from functools import partial

import msgspec

from headwater.engine.commit import Description
from headwater.engine.ingesting import Source, ingest, plan_ingest
from headwater.engine.repository import Repository
from headwater.sdk.results import Change, changed_of
from headwater.server.addresses import source_from_client
from headwater.server.api.answers import Commit, Error, commit_answer, encode, iso
from headwater.server.api.background import TaskCreation
from headwater.server.api.calling import Call
from headwater.server.api.commits import committing, description_of
from headwater.server.api.operation import BRANCH, Group, needs
from headwater.server.api.streaming import lines
from headwater.server.http import Response
from headwater.server.tasks import Progress

group = Group("ingest")

KIND = "ingest"


class IngestQuery(msgspec.Struct, frozen=True):
    """Which place is to be which directory. *immutable*: names there are never written twice."""

    source: str
    directory: str = ""
    immutable: bool = False


class IngestCreation(IngestQuery, frozen=True):
    """The same, and what the commit is to say."""

    message: str = ""
    metadata: dict[str, str] = {}


@group.operation(
    "GET",
    "/repositories/{repository}/branches/{branch}/ingest",
    "diffIngest",
    needs("fs:ReadBranch", BRANCH),
    checks_inside=True,
)
async def diff_ingest(call: Call, query: IngestQuery) -> Response:
    """What ingesting would change: a change a line"""
    repository = await call.repository()
    source = _source(call, repository, query)

    async def changes() -> AsyncIterator[Change]:
        plan = await plan_ingest(repository, call["branch"], source)
        for change in plan.changes():
            yield changed_of(change)

    return await lines(changes(), lambda change: change)


class IngestStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """How an ingest stands: how many objects it *listed* so far; once *completed*, its *commit* or an *error*."""

    id: str
    completed: bool
    update_time: datetime
    listed: int = 0
    commit: Commit | None = None
    error: Error | None = None


@group.operation(
    "POST",
    "/repositories/{repository}/branches/{branch}/ingest",
    "ingestStart",
    needs("fs:CreateCommit", BRANCH),
    status=202,
    checks_inside=True,
)
async def ingest_start(call: Call, body: IngestCreation) -> TaskCreation:
    """Begin to commit what is new, changed or gone below a place, as a directory; it fails if nothing is"""
    repository = await call.repository()
    branch = call["branch"]
    source = _source(call, repository, body)
    objects = f"arn:lakefs:fs:::repository/{repository.name}/object/{source.prefix.destination}*"
    call.require("fs:WriteObject", objects)
    call.require("fs:DeleteObject", objects)
    repository.check_writable()
    await call.services.rules.check_committable(repository, branch)
    await repository.branches.fresh(branch)
    description = description_of(call, body.message or f"Ingest {body.source}", body.metadata)
    work = partial(_ingest, call, repository, source, description)
    return TaskCreation(await call.services.tasks.start(KIND, repository.record.id, work, subject=branch))


@group.operation(
    "GET",
    "/repositories/{repository}/branches/{branch}/ingest/{id}/status",
    "ingestStatus",
    needs("fs:ReadBranch", BRANCH),
)
async def ingest_status(call: Call) -> IngestStatus:
    """How an ingest stands"""
    scope = (await call.repository()).record.id
    task = await call.services.tasks.find(KIND, scope, call["id"], subject=call["branch"])
    error = None if task.failure is None else Error(task.failure.message, task.failure.kind)
    commit = msgspec.json.decode(task.result, type=Commit) if task.result else None
    return IngestStatus(task.id, task.done, iso(task.updated), task.progress, commit, error)


@group.operation(
    "DELETE",
    "/repositories/{repository}/branches/{branch}/ingest/{id}",
    "ingestCancel",
    needs("fs:ImportCancel", BRANCH),
    status=204,
)
async def ingest_cancel(call: Call) -> None:
    """Stop an ingest. Nothing of it is kept, unless its commit is there already"""
    scope = (await call.repository()).record.id
    await call.services.tasks.cancel(KIND, scope, call["id"], subject=call["branch"])


async def _ingest(
    call: Call, repository: Repository, source: Source, description: Description, progress: Progress
) -> bytes:
    branch = call["branch"]
    async with call.around(repository, committing(branch, description)) as done:
        made = await ingest(repository, branch, source, description, found=progress.add, check=done.check)
        done.commit = made.id
    return encode(commit_answer(made))


def _source(call: Call, repository: Repository, told: IngestQuery) -> Source:
    call.require("fs:ImportFromStorage", f"arn:lakefs:fs:::namespace/{told.source}")
    call.require("fs:ListObjects", f"arn:lakefs:fs:::repository/{repository.name}")
    return Source(source_from_client(call.services.settings, told.source), told.directory, told.immutable)
