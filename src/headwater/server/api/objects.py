"""Objects: what is at a path, its bytes, and listings. These are the paths that are hot."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast
from urllib.parse import quote

import msgspec

from headwater.engine import read, write
from headwater.engine.conditional import Condition, IfAbsent, IfMatch
from headwater.engine.errors import BadRequest
from headwater.engine.paths import path_of
from headwater.engine.redescribing import redescribe
from headwater.engine.repository import Repository
from headwater.errors import HeadwaterError
from headwater.index import CommonPrefix, Entry
from headwater.sdk.wire.objects import DESCRIPTION, Description, Details
from headwater.sdk.wire.objects import description_of as described_in
from headwater.server.addresses import addresses_to_client, namespace_to_client
from headwater.server.api.answers import Page, Pagination, WrittenPage, size_of
from headwater.server.api.bodies import uploaded
from headwater.server.api.calling import Call
from headwater.server.api.errors import status_of
from headwater.server.api.object_lists import results_of
from headwater.server.api.operation import OBJECT, REPOSITORY, Group, Needs, needs
from headwater.server.http import Request, Response
from headwater.server.limits import DEFAULT_PAGE, MAX_PAGE, PRESIGNED
from headwater.server.sending import object_response, presigned

group = Group("objects")

METADATA_HEADER = "x-lakefs-meta-"
OCTETS = "application/octet-stream"


class ObjectStats(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of an object, or, of a listing with a delimiter, a common prefix."""

    path: str
    path_type: str
    physical_address: str
    checksum: str
    mtime: int
    size_bytes: int | None = None
    metadata: dict[str, str] | None = None
    content_type: str | None = None
    physical_address_expiry: int | None = None
    details: Details | None = None
    """What lakeFS does not tell, for whoever asks for it."""


class ObjectQuery(msgspec.Struct, frozen=True):
    """Which object."""

    path: str
    presign: bool = False


class StatQuery(msgspec.Struct, frozen=True):
    """Which object, and whether its metadata is wanted."""

    path: str
    user_metadata: bool = True
    presign: bool = False
    details: bool = False


class ListQuery(msgspec.Struct, frozen=True):
    """Which page of a listing."""

    prefix: str = ""
    delimiter: str = ""
    after: str = ""
    amount: int = DEFAULT_PAGE
    user_metadata: bool = True
    presign: bool = False
    details: bool = False


class UploadQuery(msgspec.Struct, frozen=True):
    """Where an object goes."""

    path: str
    details: bool = False
    storageClass: str = ""  # noqa: N815  (its name for clients)
    force: bool = False


class DeletionQuery(msgspec.Struct, frozen=True):
    """Which object is to go."""

    path: str
    force: bool = False


class ManyQuery(msgspec.Struct, frozen=True):
    """Clients may say *force*."""

    force: bool = False


class PathList(msgspec.Struct, frozen=True):
    """Which objects are to go."""

    paths: list[str]


class ObjectError(msgspec.Struct, frozen=True):
    """Why something was not done at *path*."""

    status_code: int
    message: str
    path: str


class ObjectErrorList(msgspec.Struct, frozen=True):
    """What was not done. Whatever is not in it, was."""

    errors: list[ObjectError]


class DestinationQuery(msgspec.Struct, frozen=True):
    """Where a copy goes."""

    dest_path: str
    details: bool = False


class ObjectCopyCreation(msgspec.Struct, frozen=True):
    """What is copied: the object at *src_path* of *src_ref*, or of the branch itself. No byte is."""

    src_path: str
    src_ref: str = ""
    force: bool = False
    shallow: bool = False


class UpdateObjectUserMetadata(msgspec.Struct, frozen=True):
    """The metadata that an object is to have."""

    set: dict[str, str]


class UnderlyingObjectProperties(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the object store says of an object beyond what is recorded."""

    storage_class: str | None = None


def stats_answer(
    call: Call, repository: Repository, entry: Entry, *, metadata: bool = True, details: bool = False
) -> ObjectStats:
    return stats_answers(call, repository, metadata=metadata, details=details)(entry)


def stats_answers(
    call: Call, repository: Repository, *, metadata: bool = True, details: bool = False
) -> Callable[[Entry], ObjectStats]:
    """What makes the answer for an entry: in a listing there are a thousand."""
    address = addresses_to_client(call.services.storage, repository)

    def stats(entry: Entry) -> ObjectStats:
        return ObjectStats(
            path=path_of(entry.key),
            path_type="object",
            physical_address=address(entry),
            checksum=entry.checksum or "",
            mtime=entry.modified // 1000,
            size_bytes=entry.size,
            metadata=entry.metadata if metadata else None,
            content_type=entry.content_type or OCTETS,
            details=Details(entry.modified, entry.kind, entry.blocks, entry.content_type) if details else None,
        )

    return stats


@group.operation("GET", "/repositories/{repository}/refs/{ref}/objects", "getObject", needs("fs:ReadObject", OBJECT))
async def get_object(call: Call, query: ObjectQuery) -> Response:
    """The bytes of an object, or of a range of it"""
    repository = await call.repository()
    entry = await read.stat(repository, call["ref"], query.path)
    if query.presign and (url := await presigned(repository, entry)) is not None:
        return Response(302, ((b"location", url.encode()),))
    return await object_response(repository, entry, call.request, headers=metadata_headers(entry))


@group.operation("HEAD", "/repositories/{repository}/refs/{ref}/objects", "headObject", needs("fs:ReadObject", OBJECT))
async def head_object(call: Call, query: ObjectQuery) -> Response:
    """Whether there is an object, and how large it is"""
    repository = await call.repository()
    entry = await read.stat(repository, call["ref"], query.path)
    return await object_response(repository, entry, call.request, headers=metadata_headers(entry))


@group.operation(
    "GET", "/repositories/{repository}/refs/{ref}/objects/stat", "statObject", needs("fs:ReadObject", OBJECT)
)
async def stat_object(call: Call, query: StatQuery) -> ObjectStats:
    """What is known of an object"""
    repository = await call.repository()
    entry = await read.stat(repository, call["ref"], query.path)
    stats = stats_answer(call, repository, entry, metadata=query.user_metadata, details=query.details)
    return await _with_url(call, repository, entry, stats) if query.presign else stats


@group.operation(
    "GET", "/repositories/{repository}/refs/{ref}/objects/ls", "listObjects", needs("fs:ListObjects", REPOSITORY)
)
async def list_objects(call: Call, query: ListQuery) -> Page[ObjectStats]:
    """List objects; with a delimiter, what has it behind the prefix as common prefixes"""
    repository = await call.repository()
    size = size_of(query.amount)
    found = await read.listing(
        repository,
        call["ref"],
        prefix=query.prefix,
        delimiter=query.delimiter,
        after=query.after,
        amount=size + 1,
    )
    shown, more = found.up_to(size), len(found) > size
    pagination = Pagination(more, path_of(shown.last) if more else "", len(shown), MAX_PAGE)
    stats = stats_answers(call, repository, metadata=query.user_metadata, details=query.details)

    def render(each: Entry | CommonPrefix) -> ObjectStats:
        if isinstance(each, CommonPrefix):
            return ObjectStats(path_of(each.key), "common_prefix", "", "", 0)
        return stats(each)

    if query.presign:
        return Page(pagination, [await _with_url(call, repository, each, render(each)) for each in shown.items()])
    if query.details:
        return Page(pagination, [render(each) for each in shown.items()])
    home = namespace_to_client(call.services.storage, repository.record.namespace)
    kept = call.services.written_rows
    written = WrittenPage(pagination, results_of(shown, kept, home, render, metadata=query.user_metadata))
    return cast("Page[ObjectStats]", written)  # which it is, once it is sent


@group.operation(
    "POST",
    "/repositories/{repository}/branches/{branch}/objects",
    "uploadObject",
    needs("fs:WriteObject", OBJECT),
    status=201,
    raw=OCTETS,
)
async def upload_object(call: Call, query: UploadQuery) -> ObjectStats:
    """Write an object: its bytes are the body, or the field `content` of a form"""
    repository = await call.repository()
    await call.services.rules.check_stageable(repository, call["branch"])
    request = call.request
    told = description_of(request)
    upload = await uploaded(request, call.services.settings.max_upload)
    entry = await write.put(
        repository,
        call["branch"],
        query.path,
        upload.body,
        content_type=upload.content_type if told is None else told.content_type,
        metadata=metadata_of(request) if told is None else told.metadata,
        condition=condition_of(request),
    )
    return stats_answer(call, repository, entry, details=query.details)


@group.operation(
    "DELETE",
    "/repositories/{repository}/branches/{branch}/objects",
    "deleteObject",
    needs("fs:DeleteObject", OBJECT),
    status=204,
)
async def delete_object(call: Call, query: DeletionQuery) -> None:
    """Delete an object; content if there is none"""
    repository = await call.repository()
    await call.services.rules.check_stageable(repository, call["branch"])
    await write.delete(repository, call["branch"], [query.path])


@group.operation(
    "POST",
    "/repositories/{repository}/branches/{branch}/objects/delete",
    "deleteObjects",
    "signed in",
    checks_inside=True,
)
async def delete_objects(call: Call, query: ManyQuery, body: PathList) -> ObjectErrorList:  # noqa: ARG001
    """Delete up to a thousand objects"""
    errors: list[ObjectError] = []
    allowed: list[str] = []
    for path in body.paths:
        try:
            call.require("fs:DeleteObject", f"arn:lakefs:fs:::repository/{call['repository']}/object/{path}")
            allowed.append(path)
        except HeadwaterError as error:
            errors.append(ObjectError(status_of(error), str(error), path))
    if allowed:  # who may delete nothing is not told whether there is such a repository
        repository = await call.repository()
        await call.services.rules.check_stageable(repository, call["branch"])
        await write.delete(repository, call["branch"], allowed)
    return ObjectErrorList(errors)


@group.operation(
    "POST",
    "/repositories/{repository}/branches/{branch}/objects/copy",
    "copyObject",
    (
        Needs("fs:ReadObject", "arn:lakefs:fs:::repository/{repository}/object/{body.src_path}"),
        Needs("fs:WriteObject", "arn:lakefs:fs:::repository/{repository}/object/{query.dest_path}"),
    ),
    status=201,
)
async def copy_object(call: Call, query: DestinationQuery, body: ObjectCopyCreation) -> ObjectStats:
    """Copy an object within a repository, without copying a byte"""
    repository = await call.repository()
    await call.services.rules.check_stageable(repository, call["branch"])
    source = body.src_ref or call["branch"]
    entry = await write.copy(repository, call["branch"], query.dest_path, source, body.src_path)
    return stats_answer(call, repository, entry, details=query.details)


@group.operation(
    "PUT",
    "/repositories/{repository}/branches/{branch}/objects/stat/user_metadata",
    "updateObjectUserMetadata",
    needs("fs:WriteObject", OBJECT),
    status=201,
)
async def update_object_user_metadata(call: Call, query: DeletionQuery, body: UpdateObjectUserMetadata) -> None:
    """Replace the metadata of an object"""
    repository = await call.repository()
    await call.services.rules.check_stageable(repository, call["branch"])
    await redescribe(repository, call["branch"], query.path, lambda _: body.set)


@group.operation(
    "GET",
    "/repositories/{repository}/refs/{ref}/objects/underlyingProperties",
    "getUnderlyingProperties",
    needs("fs:ReadObject", OBJECT),
)
async def get_underlying_properties(call: Call, query: ObjectQuery) -> UnderlyingObjectProperties:
    """What the object store says of an object: nothing that is not recorded, so far"""
    repository = await call.repository()
    await read.stat(repository, call["ref"], query.path)
    return UnderlyingObjectProperties()


def description_of(request: Request) -> Description | None:
    """What the client says that an object is, where it can say more than headers of their own can hold."""
    header = request.header(DESCRIPTION)
    return None if header is None else described_in(header)


def metadata_of(request: Request) -> dict[str, str]:
    """The metadata of an object to be, of the headers that are meant for it."""
    return {
        name.removeprefix(METADATA_HEADER): value
        for name, value in request.headers.items()
        if name.startswith(METADATA_HEADER)
    }


def metadata_headers(entry: Entry) -> list[tuple[bytes, bytes]]:
    return [
        (f"{METADATA_HEADER}{quote(name.lower())}".encode(), value.encode("latin-1", "replace"))
        for name, value in entry.metadata.items()
        if value.isprintable()
    ]


def condition_of(request: Request) -> Condition | None:
    """The condition that the headers of an upload make."""
    if_none, if_match = request.header("if-none-match"), request.header("if-match")
    if if_none is not None and if_match is not None:
        raise BadRequest("if-match and if-none-match contradict each other: give one of them")
    if if_none is not None:
        if if_none.strip() != "*":
            raise BadRequest("if-none-match: of an upload, only * is understood: if there is nothing yet")
        return IfAbsent()
    return None if if_match is None else IfMatch(if_match.strip().strip('"'))


async def _with_url(call: Call, repository: Repository, entry: Entry | CommonPrefix, stats: ObjectStats) -> ObjectStats:
    url = await presigned(repository, entry) if isinstance(entry, Entry) else None
    if url is None:
        return stats
    expiry = call.services.outside.now() // 1000 + PRESIGNED
    return msgspec.structs.replace(stats, physical_address=url, physical_address_expiry=expiry)
