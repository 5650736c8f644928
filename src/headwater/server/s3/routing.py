"""Which operation a request is: its method, what it is about, and the one parameter or header that tells more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from headwater.server.http import Request, Response
from headwater.server.s3 import (
    attributes,
    buckets,
    copying,
    deleting,
    getting,
    listing,
    multipart,
    putting,
    tags,
    upload_lists,
)
from headwater.server.s3.call import Call
from headwater.server.s3.errors import S3Error
from headwater.server.s3.keys import Target
from headwater.server.s3.subresources import OF_BUCKETS, OF_OBJECTS

Operation: TypeAlias = Callable[[Call], Awaitable[Response]]

SERVICE: Mapping[str, Operation] = {"GET": buckets.list_buckets}

BUCKET: Mapping[tuple[str, str], Operation] = {
    ("GET", ""): listing.list_objects,
    ("GET", "list-type"): listing.list_objects_v2,
    ("GET", "versions"): listing.list_versions,
    ("GET", "location"): buckets.get_location,
    ("HEAD", ""): buckets.head_bucket,
    ("PUT", ""): buckets.create_bucket,
    ("DELETE", ""): buckets.delete_bucket,
    ("POST", "delete"): deleting.delete_objects,
    ("GET", "uploads"): upload_lists.list_multipart_uploads,
    **OF_BUCKETS,
}
"""By method and sub-resource."""

OBJECT: Mapping[tuple[str, str], Operation] = {
    ("GET", ""): getting.get_object,
    ("HEAD", ""): getting.get_object,
    ("PUT", ""): putting.put_object,
    ("DELETE", ""): deleting.delete_object,
    ("GET", "tagging"): tags.get_tagging,
    ("PUT", "tagging"): tags.put_tagging,
    ("GET", "attributes"): attributes.get_object_attributes,
    ("PUT", "copy"): copying.copy_object,
    ("POST", "uploads"): multipart.create_multipart_upload,
    ("GET", "uploadId"): upload_lists.list_parts,
    ("PUT", "uploadId"): multipart.upload_part,
    ("PUT", "uploadId copy"): multipart.upload_part_copy,
    ("POST", "uploadId"): multipart.complete_multipart_upload,
    ("DELETE", "uploadId"): multipart.abort_multipart_upload,
    ("DELETE", "tagging"): tags.delete_tagging,
    **OF_OBJECTS,
}

SUBRESOURCES = frozenset(
    {
        "accelerate",
        "acl",
        "analytics",
        "attributes",
        "cors",
        "delete",
        "encryption",
        "intelligent-tiering",
        "inventory",
        "legal-hold",
        "lifecycle",
        "location",
        "logging",
        "metadataConfiguration",
        "metadataTable",
        "metrics",
        "notification",
        "object-lock",
        "ownershipControls",
        "policy",
        "policyStatus",
        "publicAccessBlock",
        "renameObject",
        "replication",
        "requestPayment",
        "restore",
        "retention",
        "select",
        "session",
        "tagging",
        "torrent",
        "uploadId",
        "uploads",
        "versioning",
        "versions",
        "website",
    }
)
"""The parameters of a query that make a request another one. All others say how it is to be answered."""


def find(request: Request, target: Target) -> Operation:
    """The operation that *request* is; `MethodNotAllowed` or `NotImplemented` if there is none."""
    method = request.method
    if not target.bucket:
        found = SERVICE.get(method)
        if found is None:
            raise S3Error("MethodNotAllowed", f"{method} is no method of the service itself", Method=method)
        return found
    table, part = (OBJECT, _part_of_object(request)) if target.key else (BUCKET, _part_of_bucket(request))
    found = table.get((method, part))
    if found is not None:
        return found
    if part or method == "POST":
        raise S3Error(
            "NotImplemented",
            "A header or parameter you provided implies functionality that is not implemented: "
            f"{method} of {part or 'a form'}",
        )
    raise S3Error("MethodNotAllowed", f"{method} is no method of this resource", Method=method)


def _part_of_bucket(request: Request) -> str:
    if request.query.get("list-type") == "2":
        return "list-type"
    return _subresource(request)


def _part_of_object(request: Request) -> str:
    part = _subresource(request)
    if request.method == "PUT" and "x-amz-copy-source" in request.headers:
        return f"{part} copy".strip()
    return part


def _subresource(request: Request) -> str:
    if not request.raw_query:
        return ""
    return next((name for name in request.query if name in SUBRESOURCES), "")
