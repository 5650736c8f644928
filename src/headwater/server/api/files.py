"""Files that grow: appended to, packed, and what a range of commits added to one."""

from __future__ import annotations

import msgspec

from headwater.files import ranges
from headwater.files.append import Receipt, append
from headwater.files.packing import pack
from headwater.server.api.answers import Commit, commit_answer
from headwater.server.api.bodies import uploaded
from headwater.server.api.calling import Call
from headwater.server.api.commits import committing, description_of
from headwater.server.api.objects import OCTETS, metadata_of
from headwater.server.api.objects import description_of as described_in
from headwater.server.api.operation import BRANCH, OBJECT, Group, Needs, needs
from headwater.server.http import Response
from headwater.server.limits import SENT_AT_ONCE

group = Group("files")


class AppendQuery(msgspec.Struct, frozen=True):
    """Where to; and, for an append that may have to be made *again*, the *id* under which it counts once."""

    path: str
    id: str = ""
    again: bool = False


class AddedQuery(msgspec.Struct, frozen=True):
    """What was added to *path* after the commit *since*; all of it without."""

    path: str
    since: str = ""


class PackQuery(msgspec.Struct, frozen=True):
    """Which file."""

    path: str


class Saying(msgspec.Struct, frozen=True):
    """What a commit is to say."""

    message: str = ""
    metadata: dict[str, str] = {}


@group.operation(
    "POST",
    "/repositories/{repository}/branches/{branch}/objects/append",
    "appendObject",
    needs("fs:WriteObject", OBJECT),
    status=201,
    raw=OCTETS,
)
async def append_object(call: Call, query: AppendQuery) -> Receipt:
    """Add the body to the end of a file, which is made if need be and never read"""
    repository = await call.repository()
    await call.services.rules.check_stageable(repository, call["branch"])
    request = call.request
    told = described_in(request)
    upload = await uploaded(request, call.services.settings.max_upload)
    return await append(
        repository,
        call["branch"],
        query.path,
        upload.body,
        id=query.id or None,
        again=query.again,
        content_type=upload.content_type if told is None else told.content_type,
        metadata=metadata_of(request) if told is None else told.metadata,
    )


@group.operation(
    "POST",
    "/repositories/{repository}/branches/{branch}/objects/pack",
    "packObject",
    (Needs("fs:CreateCommit", BRANCH), Needs("fs:WriteObject", OBJECT)),
    status=201,
)
async def pack_object(call: Call, query: PackQuery, body: Saying) -> Commit:
    """Write the many small blocks of a file as few large ones, in a commit that changes no content"""
    repository = await call.repository()
    await call.services.rules.check_committable(repository, call["branch"])
    description = description_of(call, body.message or f"Pack {query.path}", body.metadata)
    async with call.around(repository, committing(call["branch"], description)) as done:
        made = await pack(repository, call["branch"], query.path, description, check=done.check)
        done.commit = made.id
    return commit_answer(made)


@group.operation(
    "GET", "/repositories/{repository}/refs/{ref}/objects/added", "readAdded", needs("fs:ReadObject", OBJECT)
)
async def read_added(call: Call, query: AddedQuery) -> Response:
    """The bytes that were added to a file since a commit"""
    repository = await call.repository()
    reading = await ranges.read_file(repository, query.path, since=query.since or None, until=call["ref"])
    size = reading.end - reading.start
    headers = [
        (b"content-length", b"%d" % size),
        (b"content-type", (reading.entry.content_type or OCTETS).encode("latin-1", "replace")),
    ]
    if size <= SENT_AT_ONCE:
        return Response(200, headers, b"".join([chunk async for chunk in reading.chunks]))
    return Response(200, headers, reading.chunks)
