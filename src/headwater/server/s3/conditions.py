"""The conditions of S3's headers: on what is overwritten or deleted, and on what is copied."""

from __future__ import annotations

from headwater.engine.conditional import Condition, IfAbsent, IfMatch, IfPresent
from headwater.index import Entry
from headwater.server.s3.call import Call
from headwater.server.s3.errors import S3Error
from headwater.server.sending import etag_of, names, seconds_of

SOURCE = "x-amz-copy-source-"


def of_write(call: Call) -> Condition | None:
    """The condition that a write makes on what it replaces."""
    absent, match = call.header("if-none-match"), call.header("if-match")
    if absent is not None and (match is not None or absent.strip() != "*"):
        raise S3Error(
            "NotImplemented",
            "A header you provided implies functionality that is not implemented: of a write, If-None-Match can only "
            "be *, and goes with no If-Match",
            Header="If-None-Match",
        )
    if absent is not None:
        return IfAbsent()
    return None if match is None else matching(match)


def matching(header: str) -> Condition:
    """The condition that `If-Match` makes with this value."""
    etag = header.strip()
    return IfPresent() if etag == "*" else IfMatch(etag.strip('"'))


def check_source(call: Call, entry: Entry) -> None:
    """Raise unless the four conditions on the source of a copy hold of *entry*."""
    etag, modified = etag_of(entry), entry.modified // 1000
    if (wanted := call.header(f"{SOURCE}if-match")) is not None:
        if not names(wanted, etag):
            raise failed(f"{SOURCE}If-Match")
    elif (since := seconds_of(call.header(f"{SOURCE}if-unmodified-since"))) is not None and modified > since:
        raise failed(f"{SOURCE}If-Unmodified-Since")
    if (known := call.header(f"{SOURCE}if-none-match")) is not None:
        if names(known, etag):
            raise failed(f"{SOURCE}If-None-Match")
    elif (since := seconds_of(call.header(f"{SOURCE}if-modified-since"))) is not None and modified <= since:
        raise failed(f"{SOURCE}If-Modified-Since")


def failed(condition: str) -> S3Error:
    return S3Error(
        "PreconditionFailed", "At least one of the pre-conditions you specified did not hold", Condition=condition
    )
