"""Buckets: listed, looked for, created, and deleted if nothing was ever committed to them."""

from __future__ import annotations

import base64
import binascii

from headwater.auth import resources
from headwater.engine import read
from headwater.engine.branches import list_branches, list_tags
from headwater.engine.looking import commit_of
from headwater.engine.repository import Repository
from headwater.history import BadName, check_repository_name
from headwater.server.http import Response
from headwater.server.s3.call import Call, number
from headwater.server.s3.errors import S3Error
from headwater.server.s3.limits import MAX_BUCKETS, MAX_DOCUMENT
from headwater.server.s3.xml import CONTENT_TYPE, document, element, moment, parse, text

REGION = "us-east-1"
"""Where all buckets are, as far as clients want to know: any region in a signature will do."""


async def list_buckets(call: Call) -> Response:
    """ListBuckets"""
    call.caller.require("fs:ListRepositories", resources.EVERYTHING)
    token = call.query("continuation-token")
    prefix = call.query("prefix") or ""
    amount = number(call.query("max-buckets"), "max-buckets", default=MAX_BUCKETS, most=MAX_BUCKETS)
    if call.query("max-buckets") and amount == 0:
        raise S3Error("InvalidArgument", f"max-buckets: it must be a number from 1 to {MAX_BUCKETS}")
    found = await call.services.lake.list(prefix=prefix, after=_after(token) if token else "", amount=amount + 1)
    rows = [
        element(
            "Bucket",
            text("Name", record.name),
            text("CreationDate", moment(record.created)),
            text("BucketRegion", REGION),
        )
        for record in found[:amount]
    ]
    parts = [
        element("Owner", text("ID", call.caller.name), text("DisplayName", call.caller.name)),
        element("Buckets", *rows),
    ]
    if len(found) > amount:
        parts.append(text("ContinuationToken", base64.urlsafe_b64encode(found[amount - 1].name.encode()).decode()))
    if prefix:
        parts.append(text("Prefix", prefix))
    return Response(200, (CONTENT_TYPE,), document("ListAllMyBucketsResult", *parts))


async def head_bucket(call: Call) -> Response:
    """HeadBucket"""
    call.require("fs:ReadRepository")
    await call.repository()
    return Response(200, ((b"x-amz-bucket-region", REGION.encode()), CONTENT_TYPE))


async def get_location(call: Call) -> Response:
    """GetBucketLocation: that of all buckets, which has no name"""
    call.require("fs:ReadRepository")
    await call.repository()
    return Response(200, (CONTENT_TYPE,), document("LocationConstraint"))


async def create_bucket(call: Call) -> Response:
    """CreateBucket: a repository in the default storage, with the branch main"""
    name = call.target.bucket
    services = call.services
    namespace = services.storage.namespace_of(name)
    call.require("fs:CreateRepository")
    call.caller.require("fs:AttachStorageNamespace", resources.namespace(namespace))
    if content := await call.content(MAX_DOCUMENT):
        parse(content, "CreateBucketConfiguration")
    if (call.header("x-amz-bucket-object-lock-enabled") or "").lower() == "true":
        raise S3Error("NotImplemented", "x-amz-bucket-object-lock-enabled: there are no object locks here")
    try:
        check_repository_name(name)
    except BadName as error:
        raise S3Error("InvalidBucketName", str(error), BucketName=name[:300]) from None
    await services.lake.create(name, namespace, committer=call.caller.name)
    return Response(200, ((b"location", f"/{name}".encode()),))


async def delete_bucket(call: Call) -> Response:
    """DeleteBucket: only of a repository that nothing was ever committed to, for its history would go with it"""
    call.require("fs:DeleteRepository")
    name = call.target.bucket
    repository = await call.services.repositories.fresh(name)
    if not await _is_untouched(repository):
        raise S3Error(
            "BucketNotEmpty",
            f"repository {name!r} holds objects, or a history: hw repo delete, or the API, takes them with it",
            BucketName=name,
        )
    await call.services.lake.delete(name)
    await call.services.rules.forget(repository)
    call.services.repositories.forget(name)
    return Response(204)


async def _is_untouched(repository: Repository) -> bool:
    """Whether *repository* is as it was created: one branch, at its first commit, and nothing staged."""
    branches = await list_branches(repository, amount=2)
    if len(branches) > 1 or await list_tags(repository, amount=1):
        return False
    for name, branch in branches:
        if (await commit_of(repository, branch.commit)).parents or await read.list_entries(repository, name, amount=1):
            return False
    return True


def _after(token: str) -> str:
    try:
        return base64.b64decode(token, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise S3Error("InvalidArgument", "The continuation token provided is incorrect") from None
