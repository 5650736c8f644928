"""Ingesting a place on the object store that others fill: what would change, and changing it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from headwater.engine.ingesting import Source, ingest, plan_ingest
from headwater.engine.repository import Repository
from headwater.sdk.results import Change, changed_of
from headwater.server.addresses import source_from_client
from headwater.server.api.answers import Commit, commit_answer
from headwater.server.api.calling import Call
from headwater.server.api.commits import committing, description_of
from headwater.server.api.operation import BRANCH, Group, needs
from headwater.server.api.streaming import lines
from headwater.server.http import Response

group = Group("ingest")


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


@group.operation(
    "POST",
    "/repositories/{repository}/branches/{branch}/ingest",
    "ingest",
    needs("fs:CreateCommit", BRANCH),
    status=201,
    checks_inside=True,
)
async def make_ingest(call: Call, body: IngestCreation) -> Commit:
    """Commit what is new, changed or gone below a place, as a directory; refused if nothing is"""
    repository = await call.repository()
    branch = call["branch"]
    source = _source(call, repository, body)
    objects = f"arn:lakefs:fs:::repository/{repository.name}/object/{source.prefix.destination}*"
    call.require("fs:WriteObject", objects)
    call.require("fs:DeleteObject", objects)
    await call.services.rules.check_committable(repository, branch)
    description = description_of(call, body.message or f"Ingest {body.source}", body.metadata)
    async with call.around(repository, committing(branch, description)) as done:
        made = await ingest(repository, branch, source, description, check=done.check)
        done.commit = made.id
    return commit_answer(made)


def _source(call: Call, repository: Repository, told: IngestQuery) -> Source:
    call.require("fs:ImportFromStorage", f"arn:lakefs:fs:::namespace/{told.source}")
    call.require("fs:ListObjects", f"arn:lakefs:fs:::repository/{repository.name}")
    return Source(source_from_client(call.services.settings, told.source), told.directory, told.immutable)
