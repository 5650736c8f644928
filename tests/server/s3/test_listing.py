"""Listings: pages, delimiters, tokens and odd parameters, below a branch and above."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.server.s3.conftest import refused

KEYS = ["main/a/1", "main/a/2", "main/b", "main/c/d/1", "main/e"]


@pytest.fixture
def filled(s3: Any, bucket: str) -> str:
    for key in KEYS:
        s3.put_object(Bucket=bucket, Key=key, Body=b"x")
    return bucket


def keys(answer: dict[str, Any]) -> list[str]:
    found = [each["Key"] for each in answer.get("Contents", [])]
    return sorted([*found, *(each["Prefix"] for each in answer.get("CommonPrefixes", []))])


@pytest.mark.parametrize("version", ["list_objects", "list_objects_v2", "list_object_versions"])
@pytest.mark.parametrize("size", [1, 2, 1000])
def test_pages_follow_each_other_without_a_gap(s3: Any, filled: str, version: str, size: int) -> None:
    for options, expected in (
        ({}, KEYS),
        ({"Prefix": "main/"}, KEYS),
        ({"Prefix": "main/", "Delimiter": "/"}, ["main/a/", "main/b", "main/c/", "main/e"]),
        ({"Delimiter": "/"}, ["main/"]),
        ({"Prefix": "main/c/"}, ["main/c/d/1"]),
        ({"Prefix": "nowhere/"}, []),
        ({"Prefix": "main/a/1/x"}, []),
    ):
        pages = s3.get_paginator(version).paginate(Bucket=filled, PaginationConfig={"PageSize": size}, **options)
        found: list[str] = []
        for page in pages:
            found += keys({**page, "Contents": page.get("Contents", page.get("Versions", []))})
        assert found == expected


def test_a_listing_above_branches_is_in_the_order_of_keys(s3: Any, filled: str, api: httpx.Client) -> None:
    for name in ("a", "a-b", "x/y"):
        api.post(f"/repositories/{filled}/branches", json={"name": name, "source": "main"}).raise_for_status()
        s3.put_object(Bucket=filled, Key=f"{name.replace('/', '%2F')}/only", Body=b"x")
    expected = ["a-b/", "a/", "main/", "x%2Fy/"]
    listed = s3.list_objects_v2(Bucket=filled, Delimiter="/")
    assert [each["Prefix"] for each in listed["CommonPrefixes"]] == expected
    every: list[str] = []
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=filled, PaginationConfig={"PageSize": 2}):
        every += keys(page)
    assert every == ["a-b/only", "a/only", *KEYS, "x%2Fy/only"]
    assert keys(s3.list_objects_v2(Bucket=filled, Prefix="a", Delimiter="-")) == ["a-", "a/only"]
    assert keys(s3.list_objects_v2(Bucket=filled, Prefix="a")) == ["a-b/only", "a/only"]
    assert keys(s3.list_objects_v2(Bucket=filled, StartAfter="main/c")) == ["main/c/d/1", "main/e", "x%2Fy/only"]


def test_what_was_asked_is_echoed(s3: Any, filled: str) -> None:
    found = s3.list_objects_v2(
        Bucket=filled, Prefix="main/", Delimiter="/", StartAfter="main/a/1", MaxKeys=2, FetchOwner=True
    )
    assert (found["Prefix"], found["Delimiter"], found["StartAfter"]) == ("main/", "/", "main/a/1")
    assert (found["MaxKeys"], found["KeyCount"], found["IsTruncated"]) == (2, 2, True)
    assert found["Contents"][0]["Owner"]["ID"] == "admin"
    assert "Owner" not in s3.list_objects_v2(Bucket=filled)["Contents"][0]
    assert "Owner" in s3.list_objects(Bucket=filled)["Contents"][0]
    first = s3.list_objects(Bucket=filled, Delimiter="/", Prefix="main/", MaxKeys=1)
    assert (first["NextMarker"], first["Marker"]) == ("main/a/", "")


def test_odd_parameters(s3: Any, filled: str) -> None:
    empty = s3.list_objects_v2(Bucket=filled, MaxKeys=0)
    assert (empty["KeyCount"], empty["IsTruncated"], empty.get("Contents")) == (0, False, None)
    assert keys(s3.list_objects_v2(Bucket=filled, ContinuationToken="")) == KEYS
    assert "Delimiter" not in s3.list_objects(Bucket=filled, Delimiter="")
    for prefix in ("\n", "main/\n", "\x01", "main/" + "x" * 2000):
        found = s3.list_objects_v2(Bucket=filled, Prefix=prefix)
        assert (found["Prefix"], found["KeyCount"]) == (prefix, 0)
    with refused("InvalidArgument", 400):
        s3.list_objects_v2(Bucket=filled, ContinuationToken="nonsense!")
    with refused("InvalidArgument", 400):
        s3.list_objects_v2(Bucket=filled, MaxKeys=-1)
    with refused("NoSuchBucket", 404):
        s3.list_objects_v2(Bucket="no-such-bucket")


def test_keys_are_escaped_on_request_wherever_they_stand(s3: Any, bucket: str) -> None:
    for key in ("main/a b/+&\n", "main/a b/ü", "main/c<%>", "main/d\r"):
        s3.put_object(Bucket=bucket, Key=key, Body=b"x")
        s3.create_multipart_upload(Bucket=bucket, Key=key)
    asked = {"Bucket": bucket, "Prefix": "main/", "Delimiter": " b/", "EncodingType": "url"}
    rolled, escaped = "main/a%20b/", ["main/c%3C%25%3E", "main/d%0D"]
    for found in (
        s3.list_objects(**asked, Marker="main/a "),
        s3.list_objects_v2(**asked, StartAfter="main/a "),
        s3.list_object_versions(**asked, KeyMarker="main/a "),
        s3.list_multipart_uploads(**asked, KeyMarker="main/a "),
    ):
        listed = found.get("Contents") or found.get("Versions") or found.get("Uploads")
        assert [each["Key"] for each in listed] == escaped
        assert [each["Prefix"] for each in found["CommonPrefixes"]] == [rolled]
        assert (found["Delimiter"], found["EncodingType"], found["Prefix"]) == ("%20b/", "url", "main/")
        marker = found.get("Marker") or found.get("StartAfter") or found.get("KeyMarker")
        assert marker == "main/a%20"
    first = s3.list_objects(**asked, MaxKeys=1)
    assert first["NextMarker"] == rolled
    assert [each["Key"] for each in s3.list_objects(**{**asked, "Marker": "main/a b/"})["Contents"]] == escaped


def test_delimiters_of_any_length(s3: Any, filled: str) -> None:
    def listed(**options: str) -> list[str]:
        return keys(s3.list_objects_v2(Bucket=filled, **options))

    assert listed(Prefix="main/", Delimiter="/d/") == ["main/a/1", "main/a/2", "main/b", "main/c/d/", "main/e"]
    assert listed(Prefix="main/a", Delimiter="/1") == ["main/a/1", "main/a/2"]
    assert listed(Delimiter="in/") == ["main/"]
    assert listed(Prefix="ma", Delimiter="c/d") == ["main/a/1", "main/a/2", "main/b", "main/c/d", "main/e"]
    with refused("NotImplemented", 501):  # it could begin in the name of a branch and end in a path
        listed(Delimiter="/a")


def test_buckets_are_listed_in_pages(s3: Any, bucket: str) -> None:
    name = f"{bucket}-second"
    s3.create_bucket(Bucket=name)
    found = s3.list_buckets(Prefix=bucket, MaxBuckets=1)
    assert [each["Name"] for each in found["Buckets"]] == [bucket]
    more = s3.list_buckets(Prefix=bucket, MaxBuckets=9, ContinuationToken=found["ContinuationToken"])
    assert name in [each["Name"] for each in more["Buckets"]]
    assert bucket in [each["Name"] for each in s3.list_buckets()["Buckets"]]


def test_a_bucket_is_deleted_only_if_nothing_would_be_lost(s3: Any, bucket: str, api: httpx.Client) -> None:
    s3.put_object(Bucket=bucket, Key="main/a", Body=b"x")
    with refused("BucketNotEmpty", 409):
        s3.delete_bucket(Bucket=bucket)
    api.post(f"/repositories/{bucket}/branches/main/commits", json={"message": "a"}).raise_for_status()
    s3.delete_object(Bucket=bucket, Key="main/a")
    with refused("BucketNotEmpty", 409):
        s3.delete_bucket(Bucket=bucket)
    with refused("BucketAlreadyExists", 409):
        s3.create_bucket(Bucket=bucket)
    with refused("InvalidBucketName", 400):
        s3.create_bucket(Bucket="Not.A.Repository")
    untouched = f"{bucket}-untouched"
    s3.create_bucket(Bucket=untouched, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    s3.put_object(Bucket=untouched, Key="main/a", Body=b"x")
    s3.delete_object(Bucket=untouched, Key="main/a")
    s3.delete_bucket(Bucket=untouched)
    with refused("404", 404):
        s3.head_bucket(Bucket=untouched)


def test_features_that_are_not_here_are_answered_as_if_nobody_had_turned_them_on(s3: Any, bucket: str) -> None:
    for call, code in (
        (s3.get_bucket_policy, "NoSuchBucketPolicy"),
        (s3.get_bucket_cors, "NoSuchCORSConfiguration"),
        (s3.get_bucket_lifecycle_configuration, "NoSuchLifecycleConfiguration"),
        (s3.get_bucket_tagging, "NoSuchTagSet"),
        (s3.get_bucket_website, "NoSuchWebsiteConfiguration"),
        (s3.get_bucket_encryption, "ServerSideEncryptionConfigurationNotFoundError"),
        (s3.get_bucket_replication, "ReplicationConfigurationNotFoundError"),
        (s3.get_object_lock_configuration, "ObjectLockConfigurationNotFoundError"),
        (s3.get_public_access_block, "NoSuchPublicAccessBlockConfiguration"),
        (s3.get_bucket_ownership_controls, "OwnershipControlsNotFoundError"),
    ):
        with refused(code, 404):
            call(Bucket=bucket)
    assert "Status" not in s3.get_bucket_versioning(Bucket=bucket)
    assert "LoggingEnabled" not in s3.get_bucket_logging(Bucket=bucket)
    assert s3.get_bucket_request_payment(Bucket=bucket)["Payer"] == "BucketOwner"
    assert s3.get_bucket_location(Bucket=bucket)["LocationConstraint"] is None
    assert s3.get_bucket_acl(Bucket=bucket)["Grants"][0]["Permission"] == "FULL_CONTROL"
    with refused("NotImplemented", 501):
        s3.put_bucket_policy(Bucket=bucket, Policy="{}")
    with refused("NotImplemented", 501):
        s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    with refused("AccessControlListNotSupported", 400):
        s3.put_bucket_acl(Bucket=bucket, ACL="public-read")


def test_what_is_committed_is_listed_as_it_was_when_it_was_staged(s3: Any, bucket: str, api: httpx.Client) -> None:
    """What is in a segment is written by columns, what is staged one by one."""
    for key in ["a&b", "<a>", 'quote"', "ä/ö", "日本/語", "a b+c", *(f"{number:03}" for number in range(400))]:
        checksum = {"ChecksumAlgorithm": "SHA256"} if len(key) == 3 else {}
        s3.put_object(Bucket=bucket, Key=f"main/{key}", Body=key.encode(), **checksum)

    def pages() -> list[object]:
        found: list[object] = []
        for options in ({}, {"EncodingType": "url"}, {"FetchOwner": True}, {"StartAfter": "main/100", "MaxKeys": 150}):
            answer = s3.list_objects_v2(Bucket=bucket, Prefix="main/", **options)
            found.append((answer["Contents"], answer["KeyCount"], answer.get("NextContinuationToken")))
        versions = s3.list_object_versions(Bucket=bucket, Prefix="main/", Delimiter="/")
        return [*found, versions["Versions"], versions["CommonPrefixes"]]

    staged = pages()
    api.post(f"/repositories/{bucket}/branches/main/commits", json={"message": "all"}).raise_for_status()
    assert pages() == staged
    assert pages() == staged
