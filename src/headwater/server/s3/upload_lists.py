"""ListParts and ListMultipartUploads."""

from __future__ import annotations

from headwater.engine import uploads
from headwater.engine.errors import UploadNotFound
from headwater.engine.open_uploads import Beginning, OpenUpload, list_open
from headwater.engine.uploads import Part
from headwater.server.http import Response
from headwater.server.s3.call import Call, number
from headwater.server.s3.checksums import checksum_in
from headwater.server.s3.combining import planned_in
from headwater.server.s3.limits import MAX_KEYS
from headwater.server.s3.listing import encoding_of
from headwater.server.s3.rows import Encode
from headwater.server.s3.xml import CONTENT_TYPE, document, element, flag, moment, text


async def list_parts(call: Call) -> Response:
    """ListParts"""
    call.require("fs:WriteObject", key=call.target.key)
    repository = await call.repository()
    identity = call.query("uploadId") or ""
    upload = (await uploads.find(repository, identity)).upload
    if upload.name != call.target.key:
        raise UploadNotFound(f"the upload {identity!r} is not of this key")
    after = number(call.query("part-number-marker"), "part-number-marker", default=0, most=10_000)
    amount = number(call.query("max-parts"), "max-parts", default=MAX_KEYS, most=MAX_KEYS)
    found = await uploads.parts(repository, identity, after=after, amount=amount + 1)
    page, more = found[:amount], len(found) > amount > 0
    who = (text("ID", upload.by), text("DisplayName", upload.by))
    rows = [
        text("Bucket", call.target.bucket),
        text("Key", call.target.key),
        text("UploadId", identity),
        element("Initiator", *who),
        element("Owner", *who),
        text("StorageClass", "STANDARD"),
        text("PartNumberMarker", after),
        text("NextPartNumberMarker", page[-1].number if page else 0),
        text("MaxParts", amount),
        flag("IsTruncated", value=more),
    ]
    planned = planned_in(upload.checksum)
    if planned is not None:
        rows += [text("ChecksumAlgorithm", planned.algorithm), text("ChecksumType", planned.kind)]
    rows += [_part(part) for part in page]
    return Response(200, (CONTENT_TYPE,), document("ListPartsResult", *rows))


def _part(part: Part) -> str:
    checksum = checksum_in(part.checksum)
    return element(
        "Part",
        text("PartNumber", part.number),
        text("LastModified", moment(part.at)),
        text("ETag", f'"{part.md5}"'),
        text("Size", part.size),
        text(checksum.element, checksum.value) if checksum is not None else "",
    )


async def list_multipart_uploads(call: Call) -> Response:
    """ListMultipartUploads, by keys and then by age"""
    call.require("fs:ListObjects")
    repository = await call.repository()
    prefix, delimiter = call.query("prefix") or "", call.query("delimiter") or ""
    key_marker, id_marker = call.query("key-marker") or "", call.query("upload-id-marker") or ""
    amount = number(call.query("max-uploads"), "max-uploads", default=MAX_KEYS, most=MAX_KEYS)
    found = await list_open(
        repository,
        prefix=prefix,
        delimiter=delimiter,
        after=key_marker,
        after_id=id_marker or None,
        amount=amount + 1 if amount else 0,
    )
    page, more = found[:amount], len(found) > amount
    last = page[-1] if more else None
    encode = encoding_of(call)
    rows = [
        text("Bucket", call.target.bucket),
        text("KeyMarker", encode(key_marker)),
        text("UploadIdMarker", id_marker),
        text("NextKeyMarker", encode(last.name) if last is not None else ""),
        text("NextUploadIdMarker", last.id if isinstance(last, OpenUpload) else ""),
        text("Prefix", encode(prefix)),
        text("Delimiter", encode(delimiter)) if delimiter else "",
        text("EncodingType", "url") if call.query("encoding-type") else "",
        text("MaxUploads", amount),
        flag("IsTruncated", value=more),
    ]
    rows += [_upload(each, encode) for each in page]
    return Response(200, (CONTENT_TYPE,), document("ListMultipartUploadsResult", *rows))


def _upload(each: OpenUpload | Beginning, encode: Encode) -> str:
    if isinstance(each, Beginning):
        return element("CommonPrefixes", text("Prefix", encode(each.name)))
    who = (text("ID", each.by), text("DisplayName", each.by))
    planned = planned_in(each.checksum)
    return element(
        "Upload",
        text("Key", encode(each.name)),
        text("UploadId", each.id),
        element("Initiator", *who),
        element("Owner", *who),
        text("StorageClass", "STANDARD"),
        text("Initiated", moment(each.started)),
        text("ChecksumAlgorithm", planned.algorithm) if planned is not None else "",
        text("ChecksumType", planned.kind) if planned is not None else "",
    )
