"""Listing objects, in both versions: keys of one bucket in order, rolled up at a delimiter, page by page.

Below a reference the engine lists. Above, where the prefix names none yet, every branch is a prefix of its own, and a
listing without a delimiter goes through all of them.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from typing import TypeAlias
from urllib.parse import quote

import msgspec

from headwater.engine.branches import list_branches
from headwater.engine.limits import MAX_PATH
from headwater.engine.paths import path_of
from headwater.engine.repository import Repository
from headwater.index import CommonPrefix, Entry
from headwater.server.http import Response
from headwater.server.s3.call import Call, number
from headwater.server.s3.checksums import checksum_in
from headwater.server.s3.errors import S3Error
from headwater.server.s3.keys import first_of
from headwater.server.s3.limits import MAX_KEYS
from headwater.server.s3.metadata import CHECKSUM
from headwater.server.s3.places import place_of
from headwater.server.s3.xml import CONTENT_TYPE, document, element, escaped, flag, moment, text
from headwater.server.sending import etag_of

_AS_IT_IS = re.compile(r"[A-Za-z0-9_.\-~/]*")

Encode: TypeAlias = Callable[[str], str]

Item: TypeAlias = tuple[str, Entry | None]
"""A key and what is there; or a common prefix, and nothing."""


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
    items, more = await page(call, repository, wanted)
    encode = encoding_of(call)
    parts = [
        text("Name", call.target.bucket),
        text("Prefix", encode(wanted.prefix)),
        text("Marker", encode(marker)),
        text("MaxKeys", wanted.amount),
        _delimiter(wanted.delimiter, encode),
        _encoding_type(call),
        flag("IsTruncated", value=more),
    ]
    if more and wanted.delimiter:
        parts.append(text("NextMarker", encode(items[-1][0])))
    owner = _owner(call)
    parts += _rows(items, encode, owner)
    return Response(200, (CONTENT_TYPE,), document("ListBucketResult", *parts))


async def list_objects_v2(call: Call) -> Response:
    """ListObjectsV2: pages go on with a token, or begin after a key"""
    call.require("fs:ListObjects")
    repository = await call.repository()
    token, start_after = call.query("continuation-token"), call.query("start-after")
    wanted = _wanted(call, _after(token) if token else start_after or "")
    items, more = await page(call, repository, wanted)
    encode = encoding_of(call)
    parts = [
        text("Name", call.target.bucket),
        text("Prefix", encode(wanted.prefix)),
        text("MaxKeys", wanted.amount),
        text("KeyCount", len(items)),
        _delimiter(wanted.delimiter, encode),
        _encoding_type(call),
        flag("IsTruncated", value=more),
    ]
    if token is not None:
        parts.append(text("ContinuationToken", token))
    if more:
        parts.append(text("NextContinuationToken", _token(items[-1][0])))
    if start_after is not None:
        parts.append(text("StartAfter", encode(start_after)))
    owner = _owner(call) if call.query("fetch-owner") == "true" else ""
    parts += _rows(items, encode, owner)
    return Response(200, (CONTENT_TYPE,), document("ListBucketResult", *parts))


async def list_versions(call: Call) -> Response:
    """ListObjectVersions, as of a bucket that has no versions: each object is its only one, called null"""
    call.require("fs:ListObjects")
    repository = await call.repository()
    marker = call.query("key-marker") or ""
    wanted = _wanted(call, marker)
    items, more = await page(call, repository, wanted)
    encode = encoding_of(call)
    parts = [
        text("Name", call.target.bucket),
        text("Prefix", encode(wanted.prefix)),
        text("KeyMarker", encode(marker)),
        text("VersionIdMarker", call.query("version-id-marker") or ""),
        text("MaxKeys", wanted.amount),
        _delimiter(wanted.delimiter, encode),
        _encoding_type(call),
        flag("IsTruncated", value=more),
    ]
    if more:
        parts += [text("NextKeyMarker", encode(items[-1][0])), text("NextVersionIdMarker", "null")]
    owner = f"<VersionId>null</VersionId><IsLatest>true</IsLatest>{_owner(call)}"
    parts += _rows(items, encode, owner, name="Version")
    return Response(200, (CONTENT_TYPE,), document("ListVersionsResult", *parts))


async def page(call: Call, repository: Repository, wanted: Wanted) -> tuple[list[Item], bool]:
    """The items of a page, and whether there are more."""
    if wanted.amount == 0:
        return [], False
    first, slash, prefix = wanted.prefix.partition("/")
    asked = msgspec.structs.replace(wanted, amount=wanted.amount + 1)
    if slash:
        items = await _below(call, repository, first, prefix, asked)
    else:
        items = await _above(call, repository, asked)
    return items[: wanted.amount], len(items) > wanted.amount


async def _below(call: Call, repository: Repository, first: str, prefix: str, wanted: Wanted) -> list[Item]:
    """What is under one reference, as keys."""
    root = f"{first}/"
    if wanted.after and not wanted.after.startswith(root) and wanted.after > root:
        return []
    if len(prefix.encode()) > MAX_PATH:
        return []
    after = wanted.after.removeprefix(root) if wanted.after.startswith(root) else ""
    place = place_of(call.services, repository, first)
    items: list[Item] = []
    while len(items) < wanted.amount:
        asked = min(wanted.amount - len(items), MAX_KEYS)
        found = await place.list(prefix=prefix, delimiter=wanted.delimiter, after=after, amount=asked)
        items += [(root + path_of(each.key), None if isinstance(each, CommonPrefix) else each) for each in found]
        if len(found) < asked:
            break
        after = path_of(found[-1].key)
    return items


async def _above(call: Call, repository: Repository, wanted: Wanted) -> list[Item]:
    """What is under all branches whose names begin with the prefix: rolled up, or one after the other."""
    items: list[Item] = []
    for root in await _roots(repository, wanted.prefix):
        end = root.find(wanted.delimiter, len(wanted.prefix)) if wanted.delimiter else -1
        rolled = root[: end + len(wanted.delimiter)] if end >= 0 else None
        if rolled is not None:
            if rolled > wanted.after and not wanted.after.startswith(rolled) and (rolled, None) not in items[-1:]:
                items.append((rolled, None))
        else:
            left = msgspec.structs.replace(wanted, amount=wanted.amount - len(items))
            items += await _below(call, repository, root.removesuffix("/"), "", left)
        if len(items) >= wanted.amount:
            break
    return items


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


def _rows(items: Sequence[Item], encode: Encode, owner: str, name: str = "Contents") -> list[str]:
    """The elements of *items*. Written by hand: a page has a thousand of them."""
    rows: list[str] = []
    for key, entry in items:
        if entry is None:
            rows.append(f"<CommonPrefixes><Prefix>{escaped(encode(key))}</Prefix></CommonPrefixes>")
            continue
        checksum = checksum_in(entry.metadata.get(CHECKSUM)) if entry.metadata else None
        computed = (
            f"<ChecksumAlgorithm>{checksum.algorithm}</ChecksumAlgorithm><ChecksumType>{checksum.kind}</ChecksumType>"
            if checksum is not None
            else ""
        )
        rows.append(
            f"<{name}><Key>{escaped(encode(key))}</Key><LastModified>{moment(entry.modified)}</LastModified>"
            f"<ETag>&quot;{etag_of(entry)[1:-1]}&quot;</ETag>{computed}<Size>{entry.size}</Size>{owner}"
            f"<StorageClass>STANDARD</StorageClass></{name}>"
        )
    return rows


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
    return _quoted


def _quoted(key: str) -> str:
    """A key as it stands in a document when the client asks for keys escaped."""
    return key if _AS_IT_IS.fullmatch(key) else quote(key, safe="/")


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
