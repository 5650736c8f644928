"""PutObject."""

from __future__ import annotations

from headwater.engine.write import StoredBytes
from headwater.server.http import Response
from headwater.server.s3.bodies import Upload
from headwater.server.s3.call import Call
from headwater.server.s3.checksums import Checksum
from headwater.server.s3.conditions import of_write
from headwater.server.s3.errors import S3Error
from headwater.server.s3.keys import locate
from headwater.server.s3.metadata import CHECKSUM, TAGS, content_type_of, described
from headwater.server.s3.places import Attributes, place_of
from headwater.server.s3.tags import tags_in_header
from headwater.server.sending import etag_of

ACLS = frozenset({"private", "bucket-owner-full-control", "bucket-owner-read"})
"""The canned ACLs that change nothing where the bucket's owner owns all that is in it."""


async def put_object(call: Call) -> Response:
    """PutObject"""
    call.require("fs:WriteObject", key=call.target.key)
    if call.query("partNumber") is not None:  # a part would take the place of the object
        raise S3Error("InvalidArgument", "partNumber: say with uploadId of which upload", ArgumentName="uploadId")
    check_headers(call)
    located = locate(call.target.key)
    repository = await call.repository()
    if not located.path:
        return await _put_root(call)
    place = place_of(call.services, repository, located.first)
    await place.check_writable()
    condition = of_write(call)
    metadata = described(call.request)
    if tags := tags_in_header(call):
        metadata[TAGS] = tags
    upload = Upload(call)

    def attributes(stored: StoredBytes) -> Attributes:
        upload.check(stored)
        if upload.checksum is not None:
            metadata[CHECKSUM] = upload.checksum.kept()
        return Attributes(content_type_of(call.request), metadata)

    entry = await place.put(located.path, await upload.body(), attributes, condition)
    return written(etag_of(entry), upload.checksum)


def written(etag: str, checksum: Checksum | None) -> Response:
    """The answer to a write."""
    return Response(200, [(b"etag", etag.encode()), *(checksum.headers() if checksum else ())])


def check_headers(call: Call) -> None:
    """Raise if the request asks for something of an object that is not to be had, rather than write it without."""
    for name in call.request.headers:
        if name.startswith("x-amz-server-side-encryption"):
            raise S3Error("NotImplemented", f"{name}: objects are encrypted by the store beneath, or not at all")
        if name.startswith("x-amz-object-lock-"):
            raise S3Error("InvalidRequest", "Bucket is missing Object Lock Configuration")
        if name.startswith("x-amz-grant-") or name == "x-amz-website-redirect-location":
            raise S3Error("NotImplemented", f"{name}: there is no such thing here")
    if (acl := call.header("x-amz-acl")) is not None and acl not in ACLS:
        raise S3Error("AccessControlListNotSupported", "The bucket does not allow ACLs: who may do what, policies say")
    if (storage := call.header("x-amz-storage-class")) is not None and storage != "STANDARD":
        raise S3Error("InvalidStorageClass", f"{storage[:100]!r}: there is one storage class here, STANDARD")


async def _put_root(call: Call) -> Response:
    """A marker for the directory that a branch is: there is one if there is the branch, and nothing is written."""
    repository = await call.repository()
    located = locate(call.target.key)
    if located.path is None:
        raise S3Error(
            "InvalidArgument",
            f"{call.target.key[:300]!r} names no object: a key is a branch, a slash and a path",
        )
    await place_of(call.services, repository, located.first).check_writable()
    upload = Upload(call)
    body = await upload.body()
    if body != b"":
        raise S3Error("InvalidArgument", f"{call.target.key[:300]!r} is a branch: write to a path behind it")
    return written('"d41d8cd98f00b204e9800998ecf8427e"', upload.checksum)
