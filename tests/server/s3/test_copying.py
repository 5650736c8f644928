"""Copies through boto3: of what, with what beside the bytes, and under which conditions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.server.s3.conftest import refused

HOUR = timedelta(hours=1)


@pytest.fixture
def source(s3: Any, bucket: str) -> dict[str, str]:
    s3.put_object(
        Bucket=bucket,
        Key="main/a b/ü+%",
        Body=b"content",
        ContentType="text/plain",
        CacheControl="no-store",
        Metadata={"colour": "red"},
        Tagging="a=b",
        ChecksumAlgorithm="SHA256",
    )
    return {"Bucket": bucket, "Key": "main/a b/ü+%"}


def test_a_copy_has_all_that_its_source_has(s3: Any, bucket: str, source: dict[str, str]) -> None:
    copied = s3.copy_object(Bucket=bucket, Key="main/copy", CopySource=source)
    found = s3.get_object(Bucket=bucket, Key="main/copy", ChecksumMode="ENABLED")
    assert found["Body"].read() == b"content"
    assert copied["CopyObjectResult"]["ETag"] == found["ETag"] == '"9a0364b9e99bb480dd25e1f0284c8555"'
    assert copied["CopyObjectResult"]["ChecksumSHA256"] == found["ChecksumSHA256"]
    assert (found["ContentType"], found["CacheControl"], found["TagCount"]) == ("text/plain", "no-store", 1)
    assert found["Metadata"] == {"colour": "red"}


def test_a_copy_goes_across_references_and_repositories(
    s3: Any, bucket: str, source: dict[str, str], api: httpx.Client
) -> None:
    base = f"/repositories/{bucket}"
    commit = api.post(f"{base}/branches/main/commits", json={"message": "a"}).raise_for_status().json()["id"]
    api.post(f"{base}/branches", json={"name": "dev", "source": "main"}).raise_for_status()
    s3.delete_object(**source)
    old = {"Bucket": bucket, "Key": source["Key"].replace("main", commit)}
    s3.copy_object(Bucket=bucket, Key="dev/copy", CopySource=old)
    assert s3.get_object(Bucket=bucket, Key="dev/copy")["Body"].read() == b"content"
    other = f"{bucket}-other"
    s3.create_bucket(Bucket=other)
    s3.copy_object(Bucket=other, Key="main/copy", CopySource=old)
    found = s3.get_object(Bucket=other, Key="main/copy", ChecksumMode="ENABLED")
    assert (found["Body"].read(), found["Metadata"], found["TagCount"]) == (b"content", {"colour": "red"}, 1)
    assert "ChecksumSHA256" in found


def test_what_a_copy_has_may_be_replaced(s3: Any, bucket: str, source: dict[str, str]) -> None:
    s3.copy_object(
        Bucket=bucket,
        Key="main/copy",
        CopySource=source,
        MetadataDirective="REPLACE",
        TaggingDirective="REPLACE",
        ContentType="text/csv",
        Metadata={"size": "small"},
        ContentLanguage="de",
        Tagging="c=d&e=f",
        ChecksumAlgorithm="CRC32C",
    )
    found = s3.get_object(Bucket=bucket, Key="main/copy", ChecksumMode="ENABLED")
    assert (found["ContentType"], found["ContentLanguage"], found["TagCount"]) == ("text/csv", "de", 2)
    assert found["Metadata"] == {"size": "small"}
    assert "CacheControl" not in found
    assert "ChecksumCRC32C" in found
    assert found["Body"].read() == b"content"


def test_a_copy_onto_itself_must_change_something(s3: Any, source: dict[str, str]) -> None:
    with refused("InvalidRequest", 400):
        s3.copy_object(**source, CopySource=source)
    s3.copy_object(**source, CopySource=source, MetadataDirective="REPLACE", Metadata={"new": "yes"})
    found = s3.get_object(**source)
    assert (found["Body"].read(), found["Metadata"], found["TagCount"]) == (b"content", {"new": "yes"}, 1)


def test_conditions_on_the_source_and_the_target(s3: Any, bucket: str, source: dict[str, str]) -> None:
    etag = s3.head_object(**source)["ETag"]
    now = datetime.now(UTC)
    target = {"Bucket": bucket, "Key": "main/copy", "CopySource": source}
    for fails in (
        {"CopySourceIfMatch": '"x"'},
        {"CopySourceIfNoneMatch": etag},
        {"CopySourceIfModifiedSince": now},
        {"CopySourceIfUnmodifiedSince": now - HOUR},
        {"CopySourceIfMatch": etag, "CopySourceIfNoneMatch": "*"},
    ):
        with refused("PreconditionFailed", 412):
            s3.copy_object(**target, **fails)
    s3.copy_object(**target, CopySourceIfMatch=etag, CopySourceIfUnmodifiedSince=now - HOUR)
    with refused("PreconditionFailed", 412):
        s3.copy_object(**target, IfNoneMatch="*")
    with refused("PreconditionFailed", 412):
        s3.copy_object(**target, IfMatch='"x"')
    s3.copy_object(**target, IfMatch=etag, CopySourceIfModifiedSince=now - HOUR, CopySourceIfNoneMatch='"x"')


def test_a_source_that_is_not_there_is_told_apart(s3: Any, bucket: str) -> None:
    for key in ("main/none", "nowhere/none", "main"):
        with refused("NoSuchKey", 404):
            s3.copy_object(Bucket=bucket, Key="main/copy", CopySource={"Bucket": bucket, "Key": key})
    with refused("NoSuchBucket", 404):
        s3.copy_object(Bucket=bucket, Key="main/copy", CopySource={"Bucket": "no-such-bucket", "Key": "main/a"})
    with refused("InvalidArgument", 400):
        s3.copy_object(Bucket=bucket, Key="main/copy", CopySource="nonsense")
    s3.put_object(Bucket=bucket, Key="main/a", Body=b"x")
    with refused("InvalidArgument", 400):
        s3.copy_object(Bucket=bucket, Key="main/copy", CopySource=f"{bucket}/main/a", MetadataDirective="MOVE")
