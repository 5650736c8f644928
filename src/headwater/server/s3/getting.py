"""GetObject and HeadObject."""

from __future__ import annotations

import msgspec

from headwater.engine.repository import Repository
from headwater.index import Entry
from headwater.server.http import Range, Response
from headwater.server.s3.call import Call
from headwater.server.s3.checksums import checksum_in
from headwater.server.s3.conditions import failed
from headwater.server.s3.errors import S3Error
from headwater.server.s3.metadata import CHECKSUM, CONTENT_HEADERS, DEFAULT_TYPE, TAGS, headers_of
from headwater.server.s3.parts import part_range, parts_count
from headwater.server.sending import is_header_value, object_response

OVERRIDES = {f"response-{name}": name for name in (*CONTENT_HEADERS, "content-type")}
"""The parameters of a query that say what a header of the answer is to be."""


async def get_object(call: Call) -> Response:
    """GetObject, and HeadObject: what a GET would answer, without the bytes"""
    call.require("fs:ReadObject", key=call.target.key)
    check_version(call)
    repository = await call.repository()
    place, path = call.place(repository)
    return await answer(call, repository, await place.stat(path))


async def answer(call: Call, repository: Repository, entry: Entry) -> Response:
    """*entry*, or the part of it that the request asks for."""
    overrides = {name: value for parameter, name in OVERRIDES.items() if (value := call.query(parameter))}
    for name, value in overrides.items():
        if not is_header_value(value):
            raise S3Error("InvalidArgument", f"response-{name}: it has control characters", ArgumentName=name)
    only, told = _part(call, entry)
    headers = [*headers_of(entry, overrides), *told]
    if tags := entry.metadata.get(TAGS):
        headers.append((b"x-amz-tagging-count", b"%d" % (tags.count("&") + 1)))
    content_type = overrides.get("content-type") or entry.content_type or DEFAULT_TYPE
    response = await object_response(
        repository, entry, call.request, headers=headers, content_type=content_type, only=only
    )
    if response.status == 200 and (call.header("x-amz-checksum-mode") or "").upper() == "ENABLED":
        checksum = checksum_in(entry.metadata.get(CHECKSUM))
        told = checksum.headers() if checksum is not None else []
        return msgspec.structs.replace(response, headers=[*response.headers, *told])
    if response.status == 304:
        kept = [pair for pair in response.headers if not pair[0].startswith(b"x-amz-")]
        return msgspec.structs.replace(response, headers=kept)  # clients would look for the bytes of a checksum
    if response.status == 412:
        raise failed("If-Match" if call.header("if-match") is not None else "If-Unmodified-Since")
    if response.status == 416:
        raise S3Error(
            "InvalidRange",
            "The requested range is not satisfiable",
            RangeRequested=call.header("range") or "",
            ActualObjectSize=str(entry.size),
        )
    return response


def check_version(call: Call) -> None:
    """Raise if the request is about a version: what was at a key is to be had under another reference."""
    version = call.query("versionId")
    if version and version != "null":
        raise S3Error(
            "NoSuchVersion",
            "objects have no versions here: what was at a path is at an earlier commit, as main~1/PATH",
            VersionId=version[:300],
        )


def _part(call: Call, entry: Entry) -> tuple[Range | None, list[tuple[bytes, bytes]]]:
    """The range of the part that `partNumber` asks for, if it does, and the header that tells of parts."""
    told = call.query("partNumber")
    if told is None:
        return None, []
    if call.header("range") is not None:
        raise S3Error("InvalidRequest", "Cannot specify both Range header and partNumber query parameter")
    count = parts_count(entry)
    found = part_range(entry, told)
    headers = [] if count is None else [(b"x-amz-mp-parts-count", b"%d" % count)]
    return (found if found.end > found.start else None), headers
