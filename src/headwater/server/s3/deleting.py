"""DeleteObject and DeleteObjects."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import msgspec

from headwater.engine.conditional import Condition
from headwater.engine.repository import Repository
from headwater.errors import HeadwaterError
from headwater.server.http import Response
from headwater.server.s3.bodies import checked_document
from headwater.server.s3.call import Call
from headwater.server.s3.conditions import matching
from headwater.server.s3.errors import S3Error, code_of
from headwater.server.s3.getting import check_version
from headwater.server.s3.keys import checked, locate
from headwater.server.s3.limits import MAX_KEYS, TOGETHER
from headwater.server.s3.places import place_of
from headwater.server.s3.xml import CONTENT_TYPE, Node, document, element, text


class Doomed(msgspec.Struct, frozen=True):
    """A key of DeleteObjects, and the condition that it is deleted under."""

    key: str
    condition: Condition | None = None
    version: str = ""


async def delete_object(call: Call) -> Response:
    """DeleteObject: content if there is nothing, unless a condition says that there is"""
    call.require("fs:DeleteObject", key=call.target.key)
    check_version(call)
    for name in ("x-amz-if-match-last-modified-time", "x-amz-if-match-size"):
        if call.header(name) is not None:
            raise S3Error("NotImplemented", f"{name}: only directory buckets have this condition; use If-Match")
    repository = await call.repository()
    located = locate(call.target.key)
    match = call.header("if-match")
    if not located.path:
        if match is not None:
            raise S3Error("NoSuchKey", f"{call.target.key[:300]!r} names no object", Key=call.target.key)
        return Response(204)
    place = place_of(call.services, repository, located.first)
    await place.check_writable()
    if match is None:
        await place.delete([located.path])
    else:
        await place.delete_if(located.path, matching(match))
    return Response(204)


async def delete_objects(call: Call) -> Response:
    """DeleteObjects: up to a thousand keys, each of which may fail on its own"""
    if not any(name == "content-md5" or name.startswith("x-amz-checksum-") for name in call.request.headers):
        raise S3Error("InvalidRequest", "Missing required header for this request: Content-MD5 or a checksum")
    root = await checked_document(call, "Delete")
    doomed = [_doomed(child) for child in root if child.name == "Object"]
    if not 1 <= len(doomed) <= MAX_KEYS:
        raise S3Error("MalformedXML", f"Delete: it names {len(doomed)} objects; 1 to {MAX_KEYS} are deleted at once")
    repository = await call.repository()
    failures: dict[int, HeadwaterError] = {}
    by_first: dict[str, list[int]] = {}
    for position, each in enumerate(doomed):
        try:
            _check(call, each)
            by_first.setdefault(locate(each.key).first, []).append(position)
        except HeadwaterError as error:
            failures[position] = error
    for first, positions in by_first.items():
        await _delete(call, repository, first, [(position, doomed[position]) for position in positions], failures)
    quiet = (root.find("Quiet") or "").strip().lower() in ("true", "1")
    return Response(200, (CONTENT_TYPE,), document("DeleteResult", *_rows(doomed, failures, quiet=quiet)))


async def _delete(
    call: Call,
    repository: Repository,
    first: str,
    doomed: Sequence[tuple[int, Doomed]],
    failures: dict[int, HeadwaterError],
) -> None:
    """Delete what is doomed under one reference, in one go but for what is under conditions."""
    place = place_of(call.services, repository, first)
    limit = asyncio.Semaphore(TOGETHER)

    async def delete_one(position: int, path: str, condition: Condition | None) -> None:
        async with limit:
            try:
                await (place.delete([path]) if condition is None else place.delete_if(path, condition))
            except HeadwaterError as error:
                failures[position] = error

    paths = {position: locate(each.key).path or "" for position, each in doomed}
    alone = [(position, each) for position, each in doomed if each.condition is not None]
    try:
        await place.check_writable()
        try:
            free = (paths[position] for position, each in doomed if each.condition is None)
            await place.delete([*dict.fromkeys(filter(None, free))])
        except HeadwaterError as error:
            if code_of(error) != "InvalidArgument":
                raise
            alone = [*doomed]  # one of the paths can be none there: the others are not to fail with it
    except HeadwaterError as error:
        failures.update(dict.fromkeys(paths, error))
        return
    conditional = [(position, each) for position, each in alone if paths[position] or each.condition is not None]
    await asyncio.gather(*(delete_one(position, paths[position], each.condition) for position, each in conditional))


def _doomed(node: Node) -> Doomed:
    etag = node.find("ETag")
    return Doomed(node.need("Key"), None if etag is None else matching(etag), node.find("VersionId") or "")


def _check(call: Call, doomed: Doomed) -> None:
    checked(doomed.key)
    if not doomed.key:
        raise S3Error("InvalidArgument", "Key: it is empty")
    call.require("fs:DeleteObject", key=doomed.key)
    if doomed.version not in ("", "null"):
        raise S3Error("NoSuchVersion", "objects have no versions here")


def _rows(doomed: Sequence[Doomed], failures: dict[int, HeadwaterError], *, quiet: bool) -> Iterable[str]:
    for position, each in enumerate(doomed):
        error = failures.get(position)
        if error is not None:
            told = (text("Code", code_of(error)), text("Message", str(error)))
            yield element("Error", text("Key", each.key), *told)
        elif not quiet:
            yield element("Deleted", text("Key", each.key))
