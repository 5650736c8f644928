"""ListParts and ListMultipartUploads."""

from __future__ import annotations

from collections.abc import Iterable

from headwater.engine import uploads
from headwater.engine.errors import UploadNotFound
from headwater.engine.uploads import Part, Upload
from headwater.server.http import Response
from headwater.server.s3.call import Call, number
from headwater.server.s3.checksums import checksum_in
from headwater.server.s3.combining import planned_in
from headwater.server.s3.limits import MAX_KEYS
from headwater.server.s3.listing import encoding_of
from headwater.server.s3.xml import CONTENT_TYPE, document, element, flag, moment, text


async def list_parts(call: Call) -> Response:
    """ListParts"""
    call.require("fs:WriteObject", key=call.target.key)
    repository = await call.repository()
    identity = call.query("uploadId") or ""
    upload = (await uploads.find(repository, identity)).upload
    if f"{upload.where}/{upload.path}" != call.target.key:
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
    """ListMultipartUploads, by keys and then by age. Each page reads the records of all that are open"""
    call.require("fs:ListObjects")
    repository = await call.repository()
    prefix, delimiter = call.query("prefix") or "", call.query("delimiter") or ""
    key_marker, id_marker = call.query("key-marker") or "", call.query("upload-id-marker") or ""
    amount = number(call.query("max-uploads"), "max-uploads", default=MAX_KEYS, most=MAX_KEYS)
    every = sorted((f"{each.where}/{each.path}", each.id, each) for each in await uploads.all_open(repository))
    items = [
        (key, identity, each)
        for key, identity, each in _rolled_up(every, prefix, delimiter)
        if (key > key_marker or (id_marker and key == key_marker and identity > id_marker))
        and not (delimiter and key_marker.endswith(delimiter) and key.startswith(key_marker))
    ]
    page, more = items[:amount], len(items) > amount > 0
    encode = encoding_of(call)
    rows = [
        text("Bucket", call.target.bucket),
        text("KeyMarker", encode(key_marker)),
        text("UploadIdMarker", id_marker),
        text("NextKeyMarker", encode(page[-1][0]) if more else ""),
        text("NextUploadIdMarker", page[-1][1] if more else ""),
        text("Prefix", encode(prefix)),
        text("Delimiter", encode(delimiter)) if delimiter else "",
        text("EncodingType", "url") if call.query("encoding-type") else "",
        text("MaxUploads", amount),
        flag("IsTruncated", value=more),
    ]
    for key, identity, upload in page:
        if upload is None:
            rows.append(element("CommonPrefixes", text("Prefix", encode(key))))
            continue
        who = (text("ID", upload.by), text("DisplayName", upload.by))
        planned = planned_in(upload.checksum)
        rows.append(
            element(
                "Upload",
                text("Key", encode(key)),
                text("UploadId", identity),
                element("Initiator", *who),
                element("Owner", *who),
                text("StorageClass", "STANDARD"),
                text("Initiated", moment(upload.started)),
                text("ChecksumAlgorithm", planned.algorithm) if planned is not None else "",
                text("ChecksumType", planned.kind) if planned is not None else "",
            )
        )
    return Response(200, (CONTENT_TYPE,), document("ListMultipartUploadsResult", *rows))


def _rolled_up(
    every: Iterable[tuple[str, str, Upload]], prefix: str, delimiter: str
) -> Iterable[tuple[str, str, Upload | None]]:
    """The uploads under *prefix*, those with *delimiter* behind it as one common prefix."""
    last = ""
    for key, identity, upload in every:
        if not key.startswith(prefix):
            continue
        end = key.find(delimiter, len(prefix)) if delimiter else -1
        if end < 0:
            yield key, identity, upload
        elif (rolled := key[: end + len(delimiter)]) != last:
            last = rolled
            yield rolled, "", None
