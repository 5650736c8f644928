"""Uploads in parts, begun, fed, listed, completed and aborted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from urllib.parse import quote

import msgspec

from headwater.blob import BlobError
from headwater.engine import read, uploads, write
from headwater.engine.block_lists import pieces_between
from headwater.engine.completing import Chosen, check_parts, complete, etag_of, few
from headwater.engine.errors import PartNotAsListed, UploadNotFound
from headwater.engine.repository import Repository
from headwater.engine.uploads import Ended, Found, Part, Upload
from headwater.index import Entry
from headwater.server.http import Range, Response, place_in
from headwater.server.s3 import bodies
from headwater.server.s3.call import Call
from headwater.server.s3.checksums import HEADERS, Algorithm, Checksum, checksum_in
from headwater.server.s3.combining import Planned, combined, plan_of, planned_in
from headwater.server.s3.conditions import of_write
from headwater.server.s3.copying import digested, source_entry
from headwater.server.s3.errors import S3Error
from headwater.server.s3.keys import locate
from headwater.server.s3.limits import MAX_DOCUMENT, MAX_PART
from headwater.server.s3.metadata import CHECKSUM, PART_CHECKSUMS, PARTS, TAGS, content_type_of, described
from headwater.server.s3.parts import kept_checksums, written
from headwater.server.s3.places import place_of
from headwater.server.s3.putting import check_headers
from headwater.server.s3.putting import written as answer_to_write
from headwater.server.s3.tags import tags_in_header
from headwater.server.s3.xml import CONTENT_TYPE, Node, document, moment, parse, text

_RANGE = re.compile(r"bytes=(\d+)-(\d+)", re.ASCII)


async def create_multipart_upload(call: Call) -> Response:
    """CreateMultipartUpload"""
    call.require("fs:WriteObject", key=call.target.key)
    check_headers(call)
    repository = await call.repository()
    _, path = call.place(repository)
    located = locate(call.target.key)
    await place_of(call.services, repository, located.first).check_writable()
    metadata = described(call.request)
    if tags := tags_in_header(call):
        metadata[TAGS] = tags
    planned = plan_of(call.request)
    upload = await uploads.begin(
        repository,
        located.first,
        path,
        by=call.caller.name,
        content_type=content_type_of(call.request),
        metadata=metadata,
        checksum="" if planned is None else planned.kept(),
    )
    headers = [CONTENT_TYPE]
    if planned is not None:
        headers.append((b"x-amz-checksum-algorithm", planned.algorithm.encode()))
        headers.append((b"x-amz-checksum-type", planned.kind.encode()))
    answer = document(
        "InitiateMultipartUploadResult",
        text("Bucket", call.target.bucket),
        text("Key", call.target.key),
        text("UploadId", upload.id),
    )
    return Response(200, headers, answer)


async def upload_part(call: Call) -> Response:
    """UploadPart"""
    call.require("fs:WriteObject", key=call.target.key)
    number = _part_number(call)
    repository = await call.repository()
    found = await _found(call, repository)
    incoming = bodies.Upload(call, computed=_algorithm(found.upload))
    _check_kind(found.upload, incoming.algorithm)
    stored = await write.store(repository, await incoming.body())
    try:
        incoming.check(stored)
    except S3Error:
        with suppress(BlobError):  # it is garbage, and would be collected
            await repository.blobs.delete(stored.block.address)
        raise
    checksum = incoming.checksum
    kept = "" if checksum is None else checksum.kept()
    part = Part(number, stored.block.length, stored.md5, stored.at, (stored.block,), kept)
    await uploads.add(repository, found.upload, part)
    return answer_to_write(f'"{part.md5}"', checksum)


async def upload_part_copy(call: Call) -> Response:
    """UploadPartCopy: within a repository the part refers to the bytes of its source; they are read, for their MD5"""
    call.require("fs:WriteObject", key=call.target.key)
    number = _part_number(call)
    repository = await call.repository()
    found = await _found(call, repository)
    source, entry, lasting = await source_entry(call)
    shared = source is repository and lasting
    part_of = _range(call.header("x-amz-copy-source-range"), entry)
    algorithm = _algorithm(found.upload)
    if shared:
        md5, checksum = await digested(repository, entry, part_of, algorithm)
        blocks = await few(repository.block_lists, pieces_between(entry.blocks, part_of.start, part_of.end))
    else:
        checksum = None
        reading = read.content(source, entry, start=part_of.start, end=part_of.end)
        stored = await write.store(repository, reading.chunks)
        md5, blocks = stored.md5, (stored.block,)
        if algorithm is not None:
            _, checksum = await digested(source, entry, part_of, algorithm)
    part = Part(
        number,
        part_of.end - part_of.start,
        md5,
        repository.outside.now(),
        blocks,
        "" if checksum is None else checksum.kept(),
        copied=shared,
    )
    await uploads.add(repository, found.upload, part)
    rows = [text("ETag", f'"{md5}"'), text("LastModified", moment(part.at))]
    if checksum is not None:
        rows.append(text(checksum.element, checksum.value))
    return Response(200, (CONTENT_TYPE,), document("CopyPartResult", *rows))


async def complete_multipart_upload(call: Call) -> Response:
    """CompleteMultipartUpload: asked again within a day, or twice at once, it gives the same answer"""
    call.require("fs:WriteObject", key=call.target.key)
    chosen = _chosen(parse(await call.content(MAX_DOCUMENT), "CompleteMultipartUpload"))
    repository = await call.repository()
    try:
        return await _complete(call, repository, chosen)
    except (UploadNotFound, PartNotAsListed):
        ended = await uploads.ended(repository, call.query("uploadId") or "")
        if ended is None or f"{ended.where}/{ended.path}" != call.target.key or not _is_same(ended, chosen):
            raise
        return _completed(call, f'"{ended.checksum}"', checksum_in(ended.metadata.get(CHECKSUM)))


async def _complete(call: Call, repository: Repository, chosen: Sequence[Listed]) -> Response:
    condition = of_write(call)
    found = await _found(call, repository)
    parts = check_parts(await uploads.parts(repository, found.upload.id), [each.chosen for each in chosen])
    _check_checksums(parts, chosen)
    _check_size(call, parts)
    metadata = _beside(call, found.upload, parts)
    place, _ = call.place(repository)
    await place.check_writable()

    async def stage(entry: Entry) -> None:
        await place.stage(entry, condition)

    entry = await complete(repository, found, parts, metadata, stage)
    return _completed(call, f'"{entry.checksum}"', checksum_in(metadata.get(CHECKSUM)))


async def abort_multipart_upload(call: Call) -> Response:
    """AbortMultipartUpload"""
    call.require("fs:WriteObject", key=call.target.key)
    repository = await call.repository()
    with_id = await _found_or_aborted(call, repository)
    await uploads.abort(repository, with_id)
    return Response(204)


class Listed(msgspec.Struct, frozen=True):
    """A part as a completion lists it, with the checksums that it says the part has."""

    chosen: Chosen
    checksums: Mapping[Algorithm, str]


def _chosen(root: Node) -> list[Listed]:
    found: list[Listed] = []
    for child in root:
        if child.name != "Part":
            continue
        number = child.need("PartNumber").strip()
        if not (number.isascii() and number.isdigit() and len(number) < 6):
            raise S3Error("MalformedXML", f"PartNumber: {number[:100]!r} is no number of a part")
        told = {algorithm: child.find(f"Checksum{algorithm}") for algorithm in HEADERS.values()}
        checksums = {algorithm: value for algorithm, value in told.items() if value is not None}
        found.append(Listed(Chosen(int(number), child.need("ETag").strip().strip('"')), checksums))
    if not 1 <= len(found) <= MAX_PART:
        raise S3Error("MalformedXML", f"CompleteMultipartUpload: it lists {len(found)} parts, of 1 to {MAX_PART}")
    return found


def _check_checksums(parts: Sequence[Part], chosen: Sequence[Listed]) -> None:
    """Raise `InvalidPart` if a completion says of a part another checksum than it has."""
    for part, listed in zip(parts, chosen, strict=True):
        stored = checksum_in(part.checksum)
        for algorithm, value in listed.checksums.items():
            if stored is None or stored.algorithm != algorithm or stored.value != value:
                raise S3Error("InvalidPart", f"part {part.number} was not uploaded with the {algorithm} {value[:100]}")


def _check_size(call: Call, parts: Sequence[Part]) -> None:
    told, size = call.header("x-amz-mp-object-size"), sum(part.size for part in parts)
    if told is not None and told.strip() != str(size):
        raise S3Error("InvalidRequest", f"x-amz-mp-object-size is {told[:40]!r}, and the parts have {size} bytes")


def _beside(call: Call, upload: Upload, parts: Sequence[Part]) -> dict[str, str]:
    """What the parts add to the metadata of the object: their sizes, and its checksum if one was asked for."""
    metadata = {PARTS: written(part.size for part in parts)}
    planned = planned_in(upload.checksum)
    checksum = None if planned is None else combined(planned, parts)
    _check_object(call, checksum)
    if checksum is not None:
        metadata[CHECKSUM] = checksum.kept()
        if known := kept_checksums([checksum_in(part.checksum) for part in parts]):
            metadata[PART_CHECKSUMS] = known
    return metadata


def _check_object(call: Call, checksum: Checksum | None) -> None:
    """Raise unless the checksum of the object is what the request says."""
    kind = call.header("x-amz-checksum-type")
    if kind is not None and (checksum is None or kind.upper() != checksum.kind):
        raise S3Error("InvalidRequest", f"x-amz-checksum-type is {kind[:40]!r}: that is not how this upload began")
    for name, value in call.request.headers.items():
        if name in HEADERS and (checksum is None or checksum.header != name or value not in checksum.spellings):
            raise S3Error("BadDigest", f"{name} is {value[:100]!r}, and the parts make another checksum, or none")


def _is_same(ended: Ended, chosen: Sequence[Listed]) -> bool:
    """Whether the parts that are *chosen* are those of which the upload was made."""
    try:
        parts = [Part(each.chosen.number, 0, each.chosen.md5, 0, ()) for each in chosen]
        return etag_of(parts) == ended.checksum
    except ValueError:
        return False


def _completed(call: Call, etag: str, checksum: Checksum | None) -> Response:
    location = f"{call.request.scheme}://{call.request.host}/{call.target.bucket}/{quote(call.target.key)}"
    rows = [
        text("Location", location),
        text("Bucket", call.target.bucket),
        text("Key", call.target.key),
        text("ETag", etag),
    ]
    if checksum is not None:
        rows += [text(checksum.element, checksum.value), text("ChecksumType", checksum.kind)]
    return Response(200, (CONTENT_TYPE,), document("CompleteMultipartUploadResult", *rows))


async def _found(call: Call, repository: Repository) -> Found:
    """The upload that the request is about: of this key, or there is none."""
    identity = call.query("uploadId") or ""
    found = await uploads.find(repository, identity)
    if found.upload.name != call.target.key:
        raise UploadNotFound(f"the upload {identity!r} is not of this key")
    return found


async def _found_or_aborted(call: Call, repository: Repository) -> str:
    try:
        return (await _found(call, repository)).upload.id
    except UploadNotFound:
        await uploads.abort(repository, call.query("uploadId") or "")
        raise


def _part_number(call: Call) -> int:
    told = call.query("partNumber") or ""
    if not (told.isascii() and told.isdigit() and len(told) < 6) or not 1 <= int(told) <= MAX_PART:
        raise S3Error(
            "InvalidArgument",
            f"Part number must be an integer between 1 and {MAX_PART}, inclusive",
            ArgumentName="partNumber",
            ArgumentValue=told[:100],
        )
    return int(told)


def _algorithm(upload: Upload) -> Algorithm | None:
    planned = planned_in(upload.checksum)
    return None if planned is None else planned.algorithm


def _check_kind(upload: Upload, algorithm: Algorithm | None) -> None:
    planned: Planned | None = planned_in(upload.checksum)
    if planned is not None and algorithm is not None and algorithm != planned.algorithm:
        raise S3Error(
            "InvalidRequest",
            f"Checksum Type mismatch occurred, expected checksum Type: {planned.algorithm}, actual checksum Type: "
            f"{algorithm}",
        )


def _range(told: str | None, entry: Entry) -> Range:
    """The bytes of *entry* that are to be a part."""
    if told is None:
        return Range(0, entry.size)
    found = _RANGE.fullmatch(told.strip())
    if found is None or (first := place_in(found[1])) > (last := place_in(found[2])):
        raise S3Error("InvalidArgument", "x-amz-copy-source-range: write bytes=FIRST-LAST", ArgumentValue=told[:100])
    if last >= entry.size:
        raise S3Error("InvalidRange", f"x-amz-copy-source-range is {told[:100]!r}: the source has {entry.size} bytes")
    return Range(first, last + 1)
