"""What an object has beside its bytes: between headers and an entry's metadata.

User metadata is kept under its own names, as everywhere else in Headwater. What S3 has beyond that is kept in the same
map under names that begin with `s3:`, which no header can give.
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.index import Entry
from headwater.server.http import Request
from headwater.server.s3.errors import S3Error
from headwater.server.s3.limits import MAX_HEADER, MAX_USER_METADATA
from headwater.server.sending import is_header_value

USER = "x-amz-meta-"
RESERVED = "s3:"
TAGS = f"{RESERVED}tags"
CHECKSUM = f"{RESERVED}checksum"
PARTS = f"{RESERVED}parts"
PART_CHECKSUMS = f"{RESERVED}part-checksums"

CONTENT_HEADERS = ("cache-control", "content-disposition", "content-encoding", "content-language", "expires")
"""The headers that are kept with an object and given back with it, beside its content type."""

DEFAULT_TYPE = "binary/octet-stream"


def text_of(value: str) -> str:
    """The text of a header: of UTF-8 what it says, which Latin-1 can but carry."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


def described(request: Request) -> dict[str, str]:
    """The metadata that the headers of *request* give an object: the user's, and the content headers."""
    found: dict[str, str] = {}
    size = 0
    for name, value in request.headers.items():
        if name.startswith(USER):
            found[name.removeprefix(USER)] = text_of(value)
            size += len(name) - len(USER) + len(value)
    if size > MAX_USER_METADATA:
        raise S3Error(
            "MetadataTooLarge",
            f"the user metadata has {size} bytes; {MAX_USER_METADATA} at most",
            Size=str(size),
            MaxSizeAllowed=str(MAX_USER_METADATA),
        )
    for name in CONTENT_HEADERS:
        value = request.headers.get(name, "")
        if name == "content-encoding":
            value = _encoding(value)
        if len(value) > MAX_HEADER:
            raise S3Error("InvalidArgument", f"{name}: it has {len(value)} characters; {MAX_HEADER} at most")
        if value:
            found[RESERVED + name] = text_of(value)
    return found


def content_type_of(request: Request) -> str | None:
    value = request.header("content-type")
    if value is not None and len(value) > MAX_HEADER:
        raise S3Error("InvalidArgument", f"content-type: it has {len(value)} characters; {MAX_HEADER} at most")
    return text_of(value) if value else None


def headers_of(entry: Entry, overrides: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """The headers that say what *entry* has beside its bytes, some of them as the request wants them instead."""
    told: list[tuple[bytes, bytes]] = []
    for name in CONTENT_HEADERS:
        value = overrides.get(name) or entry.metadata.get(RESERVED + name)
        if value and is_header_value(value):
            told.append((name.encode(), value.encode()))
    for name, value in entry.metadata.items():
        if not name.startswith(RESERVED) and _is_name(name) and is_header_value(value):
            told.append((f"{USER}{name.lower()}".encode(), value.encode()))
    return told


def user_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """Of *metadata* what says something of the content, and not what S3 computed of its bytes or keeps beside them."""
    return {name: value for name, value in metadata.items() if name not in (TAGS, CHECKSUM, PARTS, PART_CHECKSUMS)}


def _encoding(value: str) -> str:
    """A content encoding without that of the transfer."""
    return ", ".join(part for each in value.split(",") if (part := each.strip()) and part != "aws-chunked")


def _is_name(name: str) -> bool:
    """Whether *name* can be part of a header's name: metadata may come through other doors, too."""
    return name.isascii() and all(character.isalnum() or character in "!#$%&'*+-.^_`|~" for character in name)
