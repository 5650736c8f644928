"""Objects that are somewhere already, as a client tells them: one that is linked, or a table that is committed."""

from __future__ import annotations

import asyncio

import msgspec
import pyarrow as pa

from headwater.engine import write
from headwater.engine.errors import BadRequest
from headwater.engine.importing import as_table, import_table
from headwater.server.addresses import check_addresses, source_from_client
from headwater.server.api.answers import Commit, commit_answer
from headwater.server.api.calling import Call
from headwater.server.api.commits import committing, description_of
from headwater.server.api.objects import ObjectStats, stats_answer
from headwater.server.api.objects import description_of as described_in
from headwater.server.api.operation import ANYWHERE, BRANCH, EVERYTHING, OBJECT, Group, Needs
from headwater.server.config import Settings
from headwater.server.limits import MAX_TABLE

group = Group("linking")


class LinkQuery(msgspec.Struct, frozen=True):
    """At which path."""

    path: str
    details: bool = False


class LinkCreation(msgspec.Struct, frozen=True):
    """An object that is somewhere already, by its URI. What is told of it is believed."""

    physical_address: str
    size_bytes: int
    checksum: str | None = None
    content_type: str | None = None
    metadata: dict[str, str] = {}


class TableQuery(msgspec.Struct, frozen=True):
    """What the commit is to say. Its metadata is in the header that describes objects."""

    message: str = "Import"


@group.operation(
    "POST",
    "/repositories/{repository}/branches/{branch}/objects/link",
    "linkObject",
    (
        Needs("fs:WriteObject", OBJECT),
        Needs("fs:ImportFromStorage", "arn:lakefs:fs:::namespace/{body.physical_address}"),
    ),
    status=201,
)
async def link_object(call: Call, query: LinkQuery, body: LinkCreation) -> ObjectStats:
    """Stage an object that is somewhere already; nothing is read"""
    repository = await call.repository()
    await call.services.rules.check_stageable(repository, call["branch"])
    entry = await write.link(
        repository,
        call["branch"],
        query.path,
        source_from_client(call.services.settings, body.physical_address),
        size=body.size_bytes,
        checksum=body.checksum,
        content_type=body.content_type,
        metadata=body.metadata,
    )
    return stats_answer(call, repository, entry, details=query.details)


@group.operation(
    "POST",
    "/repositories/{repository}/branches/{branch}/imports",
    "importTable",
    (
        Needs("fs:CreateCommit", BRANCH),
        Needs("fs:ReadObject", EVERYTHING),
        Needs("fs:WriteObject", EVERYTHING),
        Needs("fs:ImportFromStorage", ANYWHERE),
    ),
    status=201,
    raw="application/vnd.apache.arrow.stream",
)
async def import_from_table(call: Call, query: TableQuery) -> Commit:
    """Commit the objects that a table tells: an Arrow stream of `path`, `address`, `size`, and maybe more"""
    repository = await call.repository()
    await call.services.rules.check_committable(repository, call["branch"])
    body = await call.request.body(MAX_TABLE)
    table = await asyncio.to_thread(_importable_table, call.services.settings, body)
    told = described_in(call.request)
    metadata = {} if told is None else dict(told.metadata)
    description = description_of(call, query.message, metadata)
    async with call.around(repository, committing(call["branch"], description)) as done:
        made = await import_table(repository, call["branch"], table, description, done.check)
        done.commit = made.id
    return commit_answer(made)


def _importable_table(settings: Settings, body: bytes) -> pa.Table:
    """The table that *body* is, if all of it may be imported."""
    try:
        table = as_table(pa.ipc.open_stream(body).read_all())
        check_addresses(settings, table.column("address"))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadRequest(f"the body is no Arrow stream of entries: {error}") from None
    return table
