"""Uploads in parts that clients send to the storage by themselves, at URLs that they are given.

Only storage like S3 has such uploads. Everything else answers 501, and clients upload through the API instead.
"""

from __future__ import annotations

import msgspec

from headwater.blob import NotFound, Part
from headwater.engine import read, write
from headwater.engine.addresses import is_foreign
from headwater.engine.copies import note
from headwater.engine.errors import BadRequest
from headwater.engine.paths import key_of
from headwater.engine.repository import Repository
from headwater.server.api.calling import Call
from headwater.server.api.objects import ObjectStats, condition_of, stats_answer
from headwater.server.api.operation import OBJECT, Group, needs
from headwater.server.api.staging import PathQuery, address_of, issued_name
from headwater.server.http import parse_range
from headwater.server.limits import MAX_PARTS, MAX_URLS, PART_SECONDS

group = Group("experimental")

_UPLOADS = "/repositories/{repository}/branches/{branch}/staging/pmpu"
_MAY_WRITE = needs("fs:WriteObject", OBJECT)


class UploadCreationQuery(msgspec.Struct, frozen=True):
    """Which object is to be, and for how many parts URLs are wanted at once."""

    path: str
    parts: int = 0


class PresignMultipartUpload(msgspec.Struct, frozen=True):
    """An upload that has begun. The parts go to *presigned_urls*, the first to the first."""

    upload_id: str
    physical_address: str
    presigned_urls: list[str]


class UploadPart(msgspec.Struct, frozen=True):
    """A part that was sent, and what the storage answered to it."""

    part_number: int
    etag: str


class CompletePresignMultipartUpload(msgspec.Struct, frozen=True):
    """All parts of an upload, in order, and what the object is to be known as."""

    physical_address: str
    parts: list[UploadPart]
    user_metadata: dict[str, str] | None = None
    content_type: str | None = None


class UploadAddress(msgspec.Struct, frozen=True):
    """Where the upload goes, as it was told when it began."""

    physical_address: str


class UploadTo(msgspec.Struct, frozen=True):
    """A URL that takes a part."""

    presigned_url: str


class CopyPartSource(msgspec.Struct, frozen=True):
    """The object to copy from, and which bytes of it, as `bytes=0-99`."""

    repository: str
    ref: str
    path: str
    range: str | None = None


class UploadPartCopyFrom(msgspec.Struct, frozen=True):
    """A part that is copied."""

    physical_address: str
    copy_source: CopyPartSource


@group.operation("POST", _UPLOADS, "createPresignMultipartUpload", _MAY_WRITE, status=201)
async def create_upload(call: Call, query: UploadCreationQuery) -> PresignMultipartUpload:
    """Begin an upload in parts"""
    repository = await call.repository()
    branch = call["branch"]
    key_of(query.path)  # raises unless there can be an object
    if not 0 <= query.parts <= MAX_URLS:
        raise BadRequest(f"parts={query.parts}: {MAX_URLS} URLs at most at once; ask for more one by one")
    repository.check_writable()
    await call.services.rules.check_stageable(repository, branch)
    await repository.branches.recent(branch)
    multipart = repository.blobs.multipart()
    name = call.services.issued.issue(repository, branch, query.path)
    upload = await multipart.create(name)
    urls = await multipart.part_urls(name, upload, range(1, query.parts + 1), PART_SECONDS)
    return PresignMultipartUpload(upload, address_of(call, repository, name), urls)


@group.operation("PUT", f"{_UPLOADS}/{{uploadId}}", "completePresignMultipartUpload", _MAY_WRITE)
async def complete_upload(call: Call, query: PathQuery, body: CompletePresignMultipartUpload) -> ObjectStats:
    """Make the object of its parts, and stage it"""
    repository = await call.repository()
    await call.services.rules.check_stageable(repository, call["branch"])
    name = issued_name(call, repository, query.path, body.physical_address)
    numbers = [part.part_number for part in body.parts]
    if not numbers or numbers != sorted(set(numbers)) or not 1 <= numbers[0] <= numbers[-1] <= MAX_PARTS:
        raise BadRequest(f"parts: an upload has parts with ascending numbers from 1 to {MAX_PARTS}")
    parts = [Part(each.part_number, each.etag) for each in body.parts]
    try:
        await repository.blobs.multipart().complete(name, call["uploadId"], parts)
    except NotFound:  # perhaps an earlier call completed it, whose answer did not arrive
        if await repository.blobs.stat(name) is None:
            raise
    await note(repository, [name])
    stat = await repository.blobs.stat(name)
    if stat is None:
        raise NotFound(f"upload {call['uploadId'][:80]!r} is complete, and its object is gone")
    entry = await write.link(
        repository,
        call["branch"],
        query.path,
        name,
        size=stat.size,
        checksum=stat.etag.strip('"'),
        content_type=body.content_type,
        metadata=body.user_metadata or {},
        condition=condition_of(call.request),
    )
    return stats_answer(call, repository, entry)


@group.operation("DELETE", f"{_UPLOADS}/{{uploadId}}", "abortPresignMultipartUpload", _MAY_WRITE, status=204)
async def abort_upload(call: Call, query: PathQuery, body: UploadAddress) -> None:
    """Give an upload up"""
    repository = await call.repository()
    name = issued_name(call, repository, query.path, body.physical_address)
    await repository.blobs.multipart().abort(name, call["uploadId"])


@group.operation("PUT", f"{_UPLOADS}/{{uploadId}}/parts/{{partNumber}}", "uploadPart", _MAY_WRITE)
async def upload_part(call: Call, query: PathQuery, body: UploadAddress) -> UploadTo:
    """A URL for one more part"""
    repository = await call.repository()
    name = issued_name(call, repository, query.path, body.physical_address)
    number = _number(call["partNumber"])
    urls = await repository.blobs.multipart().part_urls(name, call["uploadId"], [number], PART_SECONDS)
    return UploadTo(urls[0])


@group.operation(
    "PUT",
    f"{_UPLOADS}/{{uploadId}}/parts/{{partNumber}}/copy",
    "uploadPartCopy",
    _MAY_WRITE,
    status=204,
    checks_inside=True,
)
async def upload_part_copy(call: Call, query: PathQuery, body: UploadPartCopyFrom) -> None:
    """Make a part of what is in the repository already. Its ETag is in the headers of the answer"""
    source = body.copy_source
    repository = await call.repository()
    call.require("fs:ReadObject", f"arn:lakefs:fs:::repository/{source.repository}/object/{source.path}")
    name = issued_name(call, repository, query.path, body.physical_address)
    found, start, end = await _bytes_of(repository, source)
    number = _number(call["partNumber"])
    etag = await repository.blobs.multipart().copy_part(name, call["uploadId"], number, found, start=start, end=end)
    call.headers.append((b"etag", etag.encode("latin-1", "replace")))


async def _bytes_of(repository: Repository, source: CopyPartSource) -> tuple[str, int, int]:
    """The name of the object that has the bytes of *source*, and which of its bytes they are."""
    if source.repository != repository.name:
        raise BadRequest("copy_source: it is another repository's: read it there, and send it as a part")
    entry = await read.stat(repository, source.ref, source.path)
    if len(entry.blocks) != 1 or is_foreign(entry.blocks[0].address) or not entry.size:
        raise BadRequest(f"copy_source: {source.path[:80]!r} is not one piece in the storage of the repository")
    wanted = parse_range(source.range, entry.size)
    start, end = (0, entry.size) if wanted is None else (wanted.start, wanted.end)
    block = entry.blocks[0]
    return block.address, block.offset + start, block.offset + end


def _number(told: str) -> int:
    if not (told.isascii() and told.isdigit() and len(told) < 6) or not 1 <= int(told) <= MAX_PARTS:
        raise BadRequest(f"part number {told[:80]!r}: it is 1 to {MAX_PARTS}")
    return int(told)
