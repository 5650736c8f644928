"""GetObjectAttributes: what is known of an object and its parts, without its bytes."""

from __future__ import annotations

from email.utils import formatdate

from headwater.index import Entry
from headwater.server.http import Response
from headwater.server.s3.call import Call, number
from headwater.server.s3.checksums import checksum_in
from headwater.server.s3.errors import S3Error
from headwater.server.s3.getting import check_version
from headwater.server.s3.limits import MAX_KEYS
from headwater.server.s3.metadata import CHECKSUM
from headwater.server.s3.parts import ObjectPart, parts_of
from headwater.server.s3.xml import CONTENT_TYPE, document, element, flag, text
from headwater.server.sending import etag_of

KNOWN = ("ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize")


async def get_object_attributes(call: Call) -> Response:
    """GetObjectAttributes"""
    call.require("fs:ReadObject", key=call.target.key)
    check_version(call)
    wanted = {name.strip() for name in (call.header("x-amz-object-attributes") or "").split(",")}
    if not wanted <= set(KNOWN):
        raise S3Error("InvalidArgument", f"x-amz-object-attributes: it must name some of {', '.join(KNOWN)}")
    place, path = call.place(await call.repository())
    entry = await place.stat(path)
    rows: list[str] = []
    if "ETag" in wanted:
        rows.append(text("ETag", etag_of(entry).strip('"')))
    if "Checksum" in wanted and (checksum := checksum_in(entry.metadata.get(CHECKSUM))) is not None:
        told = (text(checksum.element, checksum.value.partition("-")[0]), text("ChecksumType", checksum.kind))
        rows.append(element("Checksum", *told))
    if "ObjectParts" in wanted and (parts := parts_of(entry)):
        rows.append(_parts(call, entry, parts))
    if "StorageClass" in wanted:
        rows.append(text("StorageClass", "STANDARD"))
    if "ObjectSize" in wanted:
        rows.append(text("ObjectSize", entry.size))
    modified = (b"last-modified", formatdate(entry.modified // 1000, usegmt=True).encode())
    return Response(200, (CONTENT_TYPE, modified), document("GetObjectAttributesResponse", *rows))


def _parts(call: Call, entry: Entry, parts: list[ObjectPart]) -> str:
    """A page of the parts."""
    checksum = checksum_in(entry.metadata.get(CHECKSUM))
    after = number(call.header("x-amz-part-number-marker"), "x-amz-part-number-marker", default=0, most=10_000)
    amount = number(call.header("x-amz-max-parts"), "x-amz-max-parts", default=MAX_KEYS, most=MAX_KEYS)
    page = parts[after : after + amount]
    rows = [
        element(
            "Part",
            text("PartNumber", part.number),
            text("Size", part.size),
            text(checksum.element, part.checksum) if checksum is not None and part.checksum is not None else "",
        )
        for part in page
    ]
    return element(
        "ObjectParts",
        text("PartsCount", len(parts)),
        text("PartNumberMarker", after),
        text("NextPartNumberMarker", page[-1].number if page else after),
        text("MaxParts", amount),
        flag("IsTruncated", value=after + amount < len(parts) and amount > 0),
        *rows,
    )
