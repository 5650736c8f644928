"""CopyObject: within a repository no byte is copied, but to or from a workspace; between two they stream across."""

from __future__ import annotations

import base64
import hashlib

import msgspec

from headwater.engine import read
from headwater.engine.copies import is_lasting
from headwater.engine.paths import key_of
from headwater.engine.repository import Repository
from headwater.engine.write import StoredBytes
from headwater.index import Entry
from headwater.server.http import Range, Response
from headwater.server.s3.call import Call
from headwater.server.s3.checksums import Algorithm, Checksum, algorithm_of, checksum_in, digest_of
from headwater.server.s3.conditions import check_source, of_write
from headwater.server.s3.errors import S3Error
from headwater.server.s3.keys import locate, source_of
from headwater.server.s3.metadata import (
    CHECKSUM,
    PART_CHECKSUMS,
    PARTS,
    TAGS,
    content_type_of,
    described,
    user_metadata,
)
from headwater.server.s3.places import Attributes
from headwater.server.s3.putting import check_headers
from headwater.server.s3.tags import tags_in_header
from headwater.server.s3.xml import CONTENT_TYPE, document, moment, text
from headwater.server.sending import etag_of

OF_BYTES = (CHECKSUM, PARTS, PART_CHECKSUMS)
"""The metadata that says something of the bytes, and goes wherever they go."""


async def copy_object(call: Call) -> Response:
    """CopyObject"""
    call.require("fs:WriteObject", key=call.target.key)
    check_headers(call)
    repository = await call.repository()
    place, path = call.place(repository)
    await place.check_writable()
    condition = of_write(call)
    algorithm = algorithm_of(call.request, "x-amz-checksum-algorithm")
    source, found, lasting = await source_entry(call)
    attributes = _attributes(call, found)
    if source is repository and (lasting or place.copies_bytes):
        known = await _with_checksum(repository, found, algorithm)
        entry = msgspec.structs.replace(
            found,
            key=key_of(path),
            modified=repository.outside.now(),
            content_type=attributes.content_type,
            metadata={**attributes.metadata, **known},
        )
        await place.stage(entry, condition)
    else:
        checksum = await _checksum(source, found, algorithm)

        def describe(stored: StoredBytes) -> Attributes:  # noqa: ARG001  (nobody announced what the bytes are)
            known = {} if checksum is None else {CHECKSUM: checksum.kept()}
            return msgspec.structs.replace(attributes, metadata={**attributes.metadata, **known})

        entry = await place.put(path, read.content(source, found).chunks, describe, condition)
    return _copied(entry)


async def source_entry(call: Call) -> tuple[Repository, Entry, bool]:
    """What `x-amz-copy-source` names, if the caller may read it and the conditions on it hold; and whether its bytes
    may be referred to from elsewhere."""
    source = source_of(call.header("x-amz-copy-source") or "")
    call.require_of(source.bucket, "fs:ReadObject", source.key)
    repository = await call.services.repositories.get(source.bucket)
    if source.bucket == call.target.bucket:
        repository = await call.repository()
    place, path = call.place_of(repository, source.key)
    entry = await place.held(path)
    check_source(call, entry)
    return repository, entry, is_lasting(locate(source.key).ref, entry)


async def digested(
    repository: Repository, entry: Entry, part: Range, algorithm: Algorithm | None
) -> tuple[str, Checksum | None]:
    """The MD5 and a checksum of a part of *entry*, which is read for it."""
    md5 = hashlib.md5(usedforsecurity=False)
    digest = None if algorithm is None else digest_of(algorithm)
    if part.end > part.start:
        async for chunk in read.content(repository, entry, start=part.start, end=part.end).chunks:
            md5.update(chunk)
            if digest is not None:
                digest.update(chunk)
    if algorithm is None or digest is None:
        return md5.hexdigest(), None
    return md5.hexdigest(), Checksum(algorithm, base64.b64encode(digest.digest()).decode())


def _attributes(call: Call, found: Entry) -> Attributes:
    """What the copy has beside its bytes: what the source has, or what the request says instead."""
    metadata_directive = _directive(call, "x-amz-metadata-directive")
    tagging_directive = _directive(call, "x-amz-tagging-directive")
    source = source_of(call.header("x-amz-copy-source") or "")
    to_itself = (source.bucket, source.key) == (call.target.bucket, call.target.key)
    if to_itself and metadata_directive == tagging_directive == "COPY":
        raise S3Error(
            "InvalidRequest",
            "This copy request is illegal because it is trying to copy an object to itself without changing the "
            "object's metadata, storage class, website redirect location or encryption attributes.",
        )
    if metadata_directive == "REPLACE":
        content_type, metadata = content_type_of(call.request), described(call.request)
    else:
        content_type, metadata = found.content_type, user_metadata(found.metadata)
    tags = tags_in_header(call) if tagging_directive == "REPLACE" else found.metadata.get(TAGS)
    return Attributes(content_type, {**metadata, **({TAGS: tags} if tags else {})})


def _directive(call: Call, name: str) -> str:
    told = call.header(name) or "COPY"
    if told not in ("COPY", "REPLACE"):
        raise S3Error("InvalidArgument", f"{name}: it must be COPY or REPLACE", ArgumentName=name)
    return told


async def _with_checksum(repository: Repository, found: Entry, algorithm: Algorithm | None) -> dict[str, str]:
    """What is known of the bytes of *found*, and a checksum by *algorithm*, if one is asked for that is not known."""
    known = {name: found.metadata[name] for name in OF_BYTES if name in found.metadata}
    checksum = checksum_in(known.get(CHECKSUM))
    if algorithm is None or (checksum is not None and checksum.algorithm == algorithm):
        return known
    computed = await _checksum(repository, found, algorithm)
    known.pop(PART_CHECKSUMS, None)
    return known if computed is None else {**known, CHECKSUM: computed.kept()}


async def _checksum(repository: Repository, found: Entry, algorithm: Algorithm | None) -> Checksum | None:
    """A checksum of all of *found*: as it is known, or as it is asked for."""
    known = checksum_in(found.metadata.get(CHECKSUM))
    if known is not None and known.kind == "FULL_OBJECT" and algorithm in (None, known.algorithm):
        return known
    wanted = algorithm or (None if known is None else known.algorithm)
    return (await digested(repository, found, Range(0, found.size), wanted))[1] if wanted is not None else None


def _copied(entry: Entry) -> Response:
    rows = [text("ETag", etag_of(entry)), text("LastModified", moment(entry.modified))]
    checksum = checksum_in(entry.metadata.get(CHECKSUM))
    if checksum is not None:
        rows += [text(checksum.element, checksum.value), text("ChecksumType", checksum.kind)]
    return Response(200, (CONTENT_TYPE,), document("CopyObjectResult", *rows))
