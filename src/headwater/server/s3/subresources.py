"""What is asked about features that are not here: answered as by an S3 where nobody turned them on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from headwater.server.http import Response
from headwater.server.s3.call import Call
from headwater.server.s3.errors import S3Error
from headwater.server.s3.getting import check_version
from headwater.server.s3.xml import CONTENT_TYPE, document, element, text

Operation: TypeAlias = Callable[[Call], Awaitable[Response]]

ABSENT = {
    "cors": ("NoSuchCORSConfiguration", "The CORS configuration does not exist"),
    "encryption": (
        "ServerSideEncryptionConfigurationNotFoundError",
        "The server side encryption configuration was not found",
    ),
    "lifecycle": ("NoSuchLifecycleConfiguration", "The lifecycle configuration does not exist"),
    "object-lock": (
        "ObjectLockConfigurationNotFoundError",
        "Object Lock configuration does not exist for this bucket",
    ),
    "ownershipControls": ("OwnershipControlsNotFoundError", "The bucket ownership controls were not found"),
    "policy": ("NoSuchBucketPolicy", "The bucket policy does not exist"),
    "publicAccessBlock": (
        "NoSuchPublicAccessBlockConfiguration",
        "The public access block configuration was not found",
    ),
    "replication": ("ReplicationConfigurationNotFoundError", "The replication configuration was not found"),
    "tagging": ("NoSuchTagSet", "The TagSet does not exist"),
    "website": ("NoSuchWebsiteConfiguration", "The specified bucket does not have a website configuration"),
}
"""What a bucket has not, and the error that says so."""

EMPTY = {
    "accelerate": document("AccelerateConfiguration"),
    "logging": document("BucketLoggingStatus"),
    "notification": document("NotificationConfiguration"),
    "requestPayment": document("RequestPaymentConfiguration", text("Payer", "BucketOwner")),
    "versioning": document("VersioningConfiguration"),
}
"""What every bucket has, as it is where nobody changed it."""

_XSI = "http://www.w3.org/2001/XMLSchema-instance"


def _absent(code: str, message: str) -> Operation:
    async def get_subresource(call: Call) -> Response:
        call.require("fs:ReadRepository")
        await call.repository()
        raise S3Error(code, message, BucketName=call.target.bucket)

    return get_subresource


def _empty(answer: bytes) -> Operation:
    async def get_subresource(call: Call) -> Response:
        call.require("fs:ReadRepository")
        await call.repository()
        return Response(200, (CONTENT_TYPE,), answer)

    return get_subresource


async def get_bucket_acl(call: Call) -> Response:
    """GetBucketAcl: whoever asks has all of it, as of a bucket without access lists"""
    call.require("fs:ReadRepository")
    await call.repository()
    return _acl(call)


async def get_object_acl(call: Call) -> Response:
    """GetObjectAcl"""
    call.require("fs:ReadObject", key=call.target.key)
    check_version(call)
    place, path = call.place(await call.repository())
    await place.stat(path)
    return _acl(call)


async def put_acl(call: Call) -> Response:
    """PutBucketAcl and PutObjectAcl: refused, as where access lists are turned off"""
    call.require("fs:ReadRepository")
    await call.repository()
    raise S3Error("AccessControlListNotSupported", "The bucket does not allow ACLs: who may do what, policies say")


def _acl(call: Call) -> Response:
    owner = (text("ID", call.caller.name), text("DisplayName", call.caller.name))
    grantee = f'<Grantee xmlns:xsi="{_XSI}" xsi:type="CanonicalUser">{"".join(owner)}</Grantee>'
    grant = element("Grant", grantee, text("Permission", "FULL_CONTROL"))
    answer = document("AccessControlPolicy", element("Owner", *owner), element("AccessControlList", grant))
    return Response(200, (CONTENT_TYPE,), answer)


OF_BUCKETS: Mapping[tuple[str, str], Operation] = {
    **{("GET", name): _absent(code, message) for name, (code, message) in ABSENT.items()},
    **{("GET", name): _empty(answer) for name, answer in EMPTY.items()},
    ("GET", "acl"): get_bucket_acl,
    ("PUT", "acl"): put_acl,
}

OF_OBJECTS: Mapping[tuple[str, str], Operation] = {
    ("GET", "acl"): get_object_acl,
    ("PUT", "acl"): put_acl,
}
