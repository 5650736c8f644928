"""An object as an answer: conditions on it, ranges of it, and the cheapest way to send its bytes.

What HTTP says of conditions and ranges is the same for every protocol that is spoken here, so it stands here once.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from email.utils import formatdate, parsedate_to_datetime
from functools import lru_cache

from headwater.blob import BlobStore, NotSupported, RangeNotSatisfiable
from headwater.engine import read
from headwater.engine.addresses import located
from headwater.engine.conditional import version_of
from headwater.engine.repository import Repository
from headwater.index import Entry
from headwater.server.http import File, Range, Request, Response, parse_range
from headwater.server.limits import PRESIGNED, SENT_AS_FILE, SENT_AT_ONCE

OCTETS = "application/octet-stream"

NO_PAGE = ((b"x-content-type-options", b"nosniff"), (b"content-security-policy", b"default-src 'none'; sandbox"))
"""That a browser takes an object for what it says it is, and for no page of this server: whoever can write an HTML file
could else have whoever opens it, and has logged in here, do what they like."""


_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def is_header_value(text: str) -> bool:
    """Whether a header can have *text* as its value. Metadata may say anything, and so may a query."""
    return _CONTROL.search(text) is None


def etag_of(entry: Entry) -> str:
    """What changes when the content does, in quotes. Without a checksum, where the bytes are tells as much."""
    return f'"{version_of(entry)}"'


def failed_condition(request: Request, entry: Entry) -> int | None:
    """The status of a request whose conditions on *entry* do not hold, as RFC 9110 orders them; None if they do."""
    etag, seconds = etag_of(entry), entry.modified // 1000
    if (wanted := request.header("if-match")) is not None:
        if not names(wanted, etag):
            return 412
    elif (since := seconds_of(request.header("if-unmodified-since"))) is not None and seconds > since:
        return 412
    if (known := request.header("if-none-match")) is not None:
        if names(known, etag):
            return 304
    elif (since := seconds_of(request.header("if-modified-since"))) is not None and seconds <= since:
        return 304
    return None


def names(header: str, etag: str) -> bool:
    """Whether the value of `If-Match` or `If-None-Match` names *etag*, in quotes or, as some clients do, without."""
    return (
        header.strip() == "*"
        or etag in {each.strip().removeprefix("W/") for each in header.split(",")}
        or (etag.strip('"') == header.strip())
    )


def seconds_of(header: str | None) -> int | None:
    """The time in a header, in seconds since 1970; None if it makes no sense, for then the header does not count."""
    if header is None:
        return None
    try:
        return int(parsedate_to_datetime(header).timestamp())
    except (ValueError, TypeError, OverflowError):
        return None


async def object_response(
    repository: Repository,
    entry: Entry,
    request: Request,
    *,
    headers: Sequence[tuple[bytes, bytes]] = (),
    content_type: str | None = None,
    only: Range | None = None,
) -> Response:
    """*entry* as the answer to a GET or HEAD: all of it, the range that is asked for, or that a condition fails.

    *only* is a range to answer with, whatever the request says of ranges.
    """
    told = [
        (b"etag", etag_of(entry).encode()),
        (b"last-modified", _date(entry.modified // 1000)),
        (b"accept-ranges", b"bytes"),
        *NO_PAGE,
        *headers,
    ]
    failed = failed_condition(request, entry)
    if failed is not None:
        return Response(failed, told)
    kind = content_type or entry.content_type or OCTETS
    told.append((b"content-type", kind.encode("latin-1", "replace") if is_header_value(kind) else OCTETS.encode()))
    wanted = request.header("range") if _range_holds(request, entry) else None
    try:
        part = only or parse_range(wanted, entry.size)
    except RangeNotSatisfiable:
        return Response(416, [*told, (b"content-range", b"bytes */%d" % entry.size)])
    if part is None:
        told.append((b"content-length", b"%d" % entry.size))
        return Response(200, told, await _body(repository, entry, 0, entry.size, head=request.method == "HEAD"))
    told.append((b"content-length", b"%d" % (part.end - part.start)))
    told.append((b"content-range", part.header(entry.size)))
    return Response(206, told, await _body(repository, entry, part.start, part.end, head=request.method == "HEAD"))


@lru_cache(4096)
def _date(seconds: int) -> bytes:
    """A time as headers have it. Kept for a while: what is read together was mostly written together."""
    return formatdate(seconds, usegmt=True).encode()


def _range_holds(request: Request, entry: Entry) -> bool:
    """Whether a range is to be heeded: not if `If-Range` names another version of the object."""
    condition = request.header("if-range")
    if condition is None:
        return True
    if condition.strip().startswith('"'):
        return condition.strip() == etag_of(entry)
    since = seconds_of(condition)
    return since is not None and entry.modified // 1000 <= since


async def _body(
    repository: Repository, entry: Entry, start: int, end: int, *, head: bool
) -> bytes | File | AsyncIterator[bytes]:
    """The bytes of a part of *entry*: in memory if they are few, as a file if they are one, else as a stream."""
    if head or start == end:
        return b""
    if end - start <= SENT_AT_ONCE:
        return await read.whole(repository, entry, start=start, end=end)
    reading = read.content(repository, entry, start=start, end=end)
    blocks = entry.blocks
    if start == 0 and end == entry.size >= SENT_AS_FILE and len(blocks) == 1 and blocks[0].offset == 0:
        store, name = await located(repository, blocks[0].address)
        file = store.file(name)
        if file is not None and file.stat().st_size == entry.size:
            return File(file, reading.chunks)
    return _Begun(await anext(reading.chunks), reading.chunks)


class _Begun:
    """Chunks of which the first is here, so that what cannot be read at all is an error, not a broken connection."""

    def __init__(self, first: bytes, rest: AsyncGenerator[bytes, None]) -> None:
        self._first: bytes | None = first
        self._rest = rest

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        first, self._first = self._first, None
        return await anext(self._rest) if first is None else first

    async def aclose(self) -> None:
        await self._rest.aclose()


async def presigned(repository: Repository, entry: Entry) -> str | None:
    """A URL at which the bytes of *entry* are to be had for a while, from where they are; None if there can be none."""
    if len(entry.blocks) != 1 or entry.blocks[0].offset:
        return None
    return await presigned_name(*await located(repository, entry.blocks[0].address))


async def presigned_name(store: BlobStore, name: str) -> str | None:
    """A URL for the object *name* of *store*; None if there can be none."""
    try:
        return await store.presign(name, "GET", PRESIGNED)
    except NotSupported:
        return None
