"""Listing objects, in both versions: keys of one bucket in order, rolled up at a delimiter, page by page.

Below a reference the engine lists. Above, where the prefix names none yet, every branch is a prefix of its own, and a
listing without a delimiter goes through all of them.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence

import msgspec

from headwater.engine.branches import list_branches
from headwater.engine.limits import MAX_PATH
from headwater.engine.paths import path_of
from headwater.engine.repository import Repository
from headwater.index import CommonPrefix, Listing
from headwater.server.http import Response
from headwater.server.s3.call import Call, number
from headwater.server.s3.errors import S3Error
from headwater.server.s3.keys import first_of
from headwater.server.s3.limits import MAX_KEYS
from headwater.server.s3.places import place_of
from headwater.server.s3.rows import Encode, Rows, quoted
from headwater.server.s3.xml import CONTENT_TYPE, document, element, flag, text


class Section(msgspec.Struct, frozen=True):
    """Some of a page: what is listed at one reference. Its keys are *root* and the path there."""

    root: str
    listing: Listing

    @property
    def last(self) -> str:
        """The last key."""
        return self.root + path_of(self.listing.last)


class Page(msgspec.Struct, frozen=True):
    """A page, in the order of its keys, and whether there are *more*."""

    sections: Sequence[Section]
    more: bool

    @property
    def amount(self) -> int:
        """How many keys and common prefixes there are."""
        return sum(len(section.listing) for section in self.sections)

    @property
    def last(self) -> str:
        """The last of them."""
        return self.sections[-1].last


class Wanted(msgspec.Struct, frozen=True):
    """Which page of which listing."""

    prefix: str
    delimiter: str
    after: str
    amount: int


async def list_objects(call: Call) -> Response:
    """ListObjects, the first version: pages go on after a marker"""
    call.require("fs:ListObjects")
    repository = await call.repository()
    marker = call.query("marker") or ""
    wanted = _wanted(call, marker)
    found = await page(call, repository, wanted)
    encode = encoding_of(call)
    parts = [
        text("Name", call.target.bucket),
        text("Prefix", encode(wanted.prefix)),
        text("Marker", encode(marker)),
        text("MaxKeys", wanted.amount),
        _delimiter(wanted.delimiter, encode),
        _encoding_type(call),
        flag("IsTruncated", value=found.more),
    ]
    if found.more and wanted.delimiter:
        parts.append(text("NextMarker", encode(found.last)))
    parts += _elements(call, found, encode, _owner(call))
    return Response(200, (CONTENT_TYPE,), document("ListBucketResult", *parts))


async def list_objects_v2(call: Call) -> Response:
    """ListObjectsV2: pages go on with a token, or begin after a key"""
    call.require("fs:ListObjects")
    repository = await call.repository()
    token, start_after = call.query("continuation-token"), call.query("start-after")
    wanted = _wanted(call, _after(token) if token else start_after or "")
    found = await page(call, repository, wanted)
    encode = encoding_of(call)
    parts = [
        text("Name", call.target.bucket),
        text("Prefix", encode(wanted.prefix)),
        text("MaxKeys", wanted.amount),
        text("KeyCount", found.amount),
        _delimiter(wanted.delimiter, encode),
        _encoding_type(call),
        flag("IsTruncated", value=found.more),
    ]
    if token is not None:
        parts.append(text("ContinuationToken", token))
    if found.more:
        parts.append(text("NextContinuationToken", _token(found.last)))
    if start_after is not None:
        parts.append(text("StartAfter", encode(start_after)))
    parts += _elements(call, found, encode, _owner(call) if call.query("fetch-owner") == "true" else "")
    return Response(200, (CONTENT_TYPE,), document("ListBucketResult", *parts))


async def list_versions(call: Call) -> Response:
    """ListObjectVersions, as of a bucket that has no versions: each object is its only one, called null"""
    call.require("fs:ListObjects")
    repository = await call.repository()
    marker = call.query("key-marker") or ""
    wanted = _wanted(call, marker)
    found = await page(call, repository, wanted)
    encode = encoding_of(call)
    parts = [
        text("Name", call.target.bucket),
        text("Prefix", encode(wanted.prefix)),
        text("KeyMarker", encode(marker)),
        text("VersionIdMarker", call.query("version-id-marker") or ""),
        text("MaxKeys", wanted.amount),
        _delimiter(wanted.delimiter, encode),
        _encoding_type(call),
        flag("IsTruncated", value=found.more),
    ]
    if found.more:
        parts += [text("NextKeyMarker", encode(found.last)), text("NextVersionIdMarker", "null")]
    owner = f"<VersionId>null</VersionId><IsLatest>true</IsLatest>{_owner(call)}"
    parts += _elements(call, found, encode, owner, name="Version")
    return Response(200, (CONTENT_TYPE,), document("ListVersionsResult", *parts))


async def page(call: Call, repository: Repository, wanted: Wanted) -> Page:
    """A page of what the bucket has."""
    if wanted.amount == 0:
        return Page((), more=False)
    first, slash, prefix = wanted.prefix.partition("/")
    asked = msgspec.structs.replace(wanted, amount=wanted.amount + 1)
    if slash:
        sections = await _below(call, repository, first, prefix, asked)
    else:
        sections = await _above(call, repository, asked)
    kept: list[Section] = []
    missing = wanted.amount
    for section in sections:
        if missing:
            kept.append(Section(section.root, section.listing.up_to(missing)))
            missing -= len(kept[-1].listing)
    return Page(kept, more=sum(len(section.listing) for section in sections) > wanted.amount)


async def _below(call: Call, repository: Repository, first: str, prefix: str, wanted: Wanted) -> list[Section]:
    """What is under one reference; no section if that is nothing."""
    root = f"{first}/"
    if wanted.after and not wanted.after.startswith(root) and wanted.after > root:
        return []
    if len(prefix.encode()) > MAX_PATH:
        return []
    after = wanted.after.removeprefix(root) if wanted.after.startswith(root) else ""
    place = place_of(call.services, repository, first)
    listing = await place.list(prefix=prefix, delimiter=wanted.delimiter, after=after, amount=wanted.amount)
    return [Section(root, listing)] if listing.pieces else []


async def _above(call: Call, repository: Repository, wanted: Wanted) -> list[Section]:
    """What is under all branches whose names begin with the prefix: rolled up, or one after the other."""
    sections: list[Section] = []
    missing = wanted.amount
    for root in await _roots(repository, wanted.prefix):
        end = root.find(wanted.delimiter, len(wanted.prefix)) if wanted.delimiter else -1
        rolled = root[: end + len(wanted.delimiter)] if end >= 0 else None
        if rolled is None:
            _check_within(root, wanted)
            left = msgspec.structs.replace(wanted, amount=missing)
            found = await _below(call, repository, root.removesuffix("/"), "", left)
        elif rolled <= wanted.after or wanted.after.startswith(rolled) or (sections and sections[-1].last == rolled):
            continue
        else:
            found = [Section(rolled, Listing((CommonPrefix(""),)))]
        sections += found
        missing -= sum(len(section.listing) for section in found)
        if missing <= 0:
            break
    return sections


def _check_within(root: str, wanted: Wanted) -> None:
    """Raise if the delimiter begins in *root* and ends in the paths below it: each is listed by itself."""
    beginning, slash, rest = wanted.delimiter.partition("/")
    if slash and rest and root[len(wanted.prefix) :].endswith(beginning + slash):
        raise S3Error(
            "NotImplemented",
            f"delimiter {wanted.delimiter[:100]!r}: it begins in the name of branch {root!r} and goes on in paths; "
            f"list below the branch, with prefix={root}",
            ArgumentName="delimiter",
        )


async def _roots(repository: Repository, prefix: str) -> list[str]:
    """What the keys of each branch begin with, in the order of keys, which is not that of names."""
    roots: list[str] = []
    after = ""
    while True:
        found = await list_branches(repository, after=after)
        roots += [root for name, _ in found if (root := f"{first_of(name)}/").startswith(prefix)]
        if not found:
            return sorted(roots)
        after = found[-1][0]


def _wanted(call: Call, after: str) -> Wanted:
    amount = number(call.query("max-keys"), "max-keys", default=MAX_KEYS, most=MAX_KEYS)
    return Wanted(call.query("prefix") or "", call.query("delimiter") or "", after, amount)


def _delimiter(delimiter: str, encode: Encode) -> str:
    return text("Delimiter", encode(delimiter)) if delimiter else ""


def _owner(call: Call) -> str:
    return element("Owner", text("ID", call.caller.name), text("DisplayName", call.caller.name))


def encoding_of(call: Call) -> Encode:
    told = call.query("encoding-type")
    if not told:
        return str
    if told != "url":
        raise S3Error("InvalidArgument", "Invalid Encoding Method specified in Request", ArgumentName="encoding-type")
    return quoted


def _elements(call: Call, found: Page, encode: Encode, owner: str, name: str = "Contents") -> Iterator[str]:
    rows = Rows(call.services.written_rows, encode, owner=owner, name=name)
    for section in found.sections:
        yield from rows.of(section.root, section.listing)


def _encoding_type(call: Call) -> str:
    return text("EncodingType", "url") if call.query("encoding-type") else ""


def _token(key: str) -> str:
    """Where a listing goes on: nothing that a client has to understand."""
    return base64.urlsafe_b64encode(key.encode()).decode()


def _after(token: str) -> str:
    try:
        return base64.b64decode(token, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise S3Error(
            "InvalidArgument",
            "The continuation token provided is incorrect",
            ArgumentName="continuation-token",
        ) from None
