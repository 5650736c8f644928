"""Objects through boto3: put, read, conditioned, described, tagged, deleted."""

from __future__ import annotations

import base64
import hashlib
import io
import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from botocore.auth import S3SigV4Auth  # type: ignore[import-untyped]
from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from dev.servers.headwater import Headwater
from tests.server.s3.conftest import refused
from tests.server.s3.wire import Wire, credentials, send, signed

ODD = [
    "a b",
    "a+b",
    "ä/ö",
    "a%2Fb",
    "a//b",
    "/lead",
    "//",
    "tail/",
    "q?x=1&y",
    "#",
    "日本/語",
    "😀",
    "..",
    "a/../b",
    "./c",
    "\\",
    "a\nb",
    "<&'\">",
    "x" * 1019,
    "😀" * 254,
]

LONG_AGO = datetime(1998, 1, 1, tzinfo=UTC)
LATER = datetime.now(UTC) + timedelta(hours=1)


@pytest.mark.parametrize("path", ODD)
def test_a_key_is_any_text(s3: Any, bucket: str, path: str) -> None:
    key = f"main/{path}"
    s3.put_object(Bucket=bucket, Key=key, Body=path.encode())
    assert s3.get_object(Bucket=bucket, Key=key)["Body"].read() == path.encode()
    assert [each["Key"] for each in s3.list_objects_v2(Bucket=bucket)["Contents"]] == [key]
    assert [each["Key"] for each in s3.list_objects(Bucket=bucket, Prefix=key)["Contents"]] == [key]
    s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key}]})
    with refused("404", 404):
        s3.head_object(Bucket=bucket, Key=key)


def test_a_key_has_1024_bytes_at_most(s3: Any, bucket: str) -> None:
    with refused("KeyTooLongError", 400):
        s3.put_object(Bucket=bucket, Key="main/" + "x" * 1020, Body=b"")


@pytest.mark.parametrize("size", [0, 1, 1024 * 1024, 1024 * 1024 + 1, 5_000_000])
@pytest.mark.parametrize("algorithm", ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"])
def test_a_body_streams_in_and_comes_back_with_its_checksum(s3: Any, bucket: str, size: int, algorithm: str) -> None:
    content = bytes(range(256)) * (size // 256 + 1)
    body = content[:size]
    put = s3.put_object(Bucket=bucket, Key="main/a", Body=io.BytesIO(body), ChecksumAlgorithm=algorithm)
    got = s3.get_object(Bucket=bucket, Key="main/a", ChecksumMode="ENABLED")
    assert got["Body"].read() == body
    name = f"Checksum{algorithm}"
    assert put[name] == got[name] == s3.head_object(Bucket=bucket, Key="main/a", ChecksumMode="ENABLED")[name]
    assert got["ChecksumType"] == "FULL_OBJECT"
    assert name not in s3.head_object(Bucket=bucket, Key="main/a")


@pytest.mark.parametrize(
    "wrong",
    [
        {"ChecksumCRC32": "AAAAAA=="},
        {"ChecksumSHA256": "A" * 43 + "="},
        {"ContentMD5": "A" * 22 + "=="},
    ],
)
def test_a_body_that_is_not_the_announced_one_is_refused(s3: Any, bucket: str, wrong: dict[str, str]) -> None:
    for size in (10, 3_000_000):
        with refused("BadDigest", 400):
            s3.put_object(Bucket=bucket, Key="main/a", Body=bytes(size), **wrong)
        with refused("404"):
            s3.head_object(Bucket=bucket, Key="main/a")


@pytest.mark.parametrize(
    ("wrong", "code"),
    [({"ChecksumCRC32": "AAAA"}, "InvalidRequest"), ({"ContentMD5": "nonsense"}, "InvalidDigest")],
)
def test_what_can_be_no_checksum_is_refused(s3: Any, bucket: str, wrong: dict[str, str], code: str) -> None:
    with refused(code, 400):
        s3.put_object(Bucket=bucket, Key="main/a", Body=b"x", **wrong)


def test_what_an_object_has_beside_its_bytes_is_kept(s3: Any, bucket: str) -> None:
    given = {
        "CacheControl": "max-age=5",
        "ContentDisposition": 'attachment; filename="a b.txt"',
        "ContentEncoding": "gzip",
        "ContentLanguage": "de, en",
        "ContentType": "text/plain; charset=utf-8",
        "Metadata": {"Colour": "Red", "empty": ""},
    }
    expires = "Thu, 01 Jan 2099 00:00:00 GMT"
    s3.put_object(Bucket=bucket, Key="main/a", Body=b"x", Expires=expires, **given)
    for found in (s3.get_object(Bucket=bucket, Key="main/a"), s3.head_object(Bucket=bucket, Key="main/a")):
        assert {name: found[name] for name in given} == given | {"Metadata": {"colour": "Red", "empty": ""}}
        assert found["ExpiresString"] == expires
    assert s3.head_object(Bucket=bucket, Key="main/a")["ETag"] == '"9dd4e461268c8034f5c8564e155c67a6"'


def test_a_read_may_say_what_headers_it_wants(s3: Any, bucket: str) -> None:
    s3.put_object(Bucket=bucket, Key="main/a", Body=b"x", CacheControl="no-store")
    found = s3.get_object(
        Bucket=bucket,
        Key="main/a",
        ResponseCacheControl="max-age=1",
        ResponseContentDisposition="inline",
        ResponseContentEncoding="br",
        ResponseContentLanguage="fr",
        ResponseContentType="text/csv",
        ResponseExpires=datetime(2099, 1, 1, tzinfo=UTC),
    )
    assert (found["CacheControl"], found["ContentDisposition"], found["ContentEncoding"]) == (
        "max-age=1",
        "inline",
        "br",
    )
    assert (found["ContentLanguage"], found["ContentType"]) == ("fr", "text/csv")
    assert found["ExpiresString"] == "Thu, 01 Jan 2099 00:00:00 GMT"


def test_too_much_user_metadata_is_refused(s3: Any, bucket: str) -> None:
    with refused("MetadataTooLarge", 400):
        s3.put_object(Bucket=bucket, Key="main/a", Body=b"x", Metadata={"a": "b" * 2048})


def test_ranges(s3: Any, bucket: str) -> None:
    s3.put_object(Bucket=bucket, Key="main/a", Body=b"0123456789")
    for asked, content in {"bytes=2-4": b"234", "bytes=7-": b"789", "bytes=-2": b"89", "bytes=8-100": b"89"}.items():
        found = s3.get_object(Bucket=bucket, Key="main/a", Range=asked)
        assert found["Body"].read() == content
        assert found["ContentRange"].endswith("/10")
    assert s3.get_object(Bucket=bucket, Key="main/a", Range="bytes=4-2")["Body"].read() == b"0123456789"
    for asked in ("bytes=10-", "bytes=-0"):
        with refused("InvalidRange", 416):
            s3.get_object(Bucket=bucket, Key="main/a", Range=asked)
    s3.put_object(Bucket=bucket, Key="main/empty", Body=b"")
    with refused("InvalidRange", 416):
        s3.get_object(Bucket=bucket, Key="main/empty", Range="bytes=0-")


def test_numbers_beyond_any_object_are_places_behind_its_end(s3: Any, bucket: str) -> None:
    s3.put_object(Bucket=bucket, Key="main/a", Body=b"0123456789")
    huge = "9" * 5000
    assert s3.get_object(Bucket=bucket, Key="main/a", Range=f"bytes=8-{huge}")["Body"].read() == b"89"
    assert s3.get_object(Bucket=bucket, Key="main/a", Range=f"bytes=-{huge}")["Body"].read() == b"0123456789"
    with refused("InvalidRange", 416):
        s3.get_object(Bucket=bucket, Key="main/a", Range=f"bytes={huge}-")


def test_conditions_on_reads(s3: Any, bucket: str) -> None:
    etag = s3.put_object(Bucket=bucket, Key="main/a", Body=b"x")["ETag"]
    for read in (s3.get_object, s3.head_object):
        for holds in (
            {"IfMatch": etag},
            {"IfNoneMatch": '"other"'},
            {"IfModifiedSince": LONG_AGO},
            {"IfUnmodifiedSince": LATER},
            {"IfMatch": etag, "IfUnmodifiedSince": LONG_AGO},
        ):
            assert read(Bucket=bucket, Key="main/a", **holds)["ETag"] == etag
        for fails in ({"IfNoneMatch": etag}, {"IfModifiedSince": datetime.now(UTC)}):
            with refused("304", 304):
                read(Bucket=bucket, Key="main/a", **fails)
        for fails in ({"IfMatch": '"other"'}, {"IfUnmodifiedSince": LONG_AGO}):
            with pytest.raises(ClientError) as caught:
                read(Bucket=bucket, Key="main/a", **fails)
            assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 412


def test_conditions_on_writes(s3: Any, bucket: str) -> None:
    with refused("NoSuchKey", 404):
        s3.put_object(Bucket=bucket, Key="main/a", Body=b"0", IfMatch='"x"')
    first = s3.put_object(Bucket=bucket, Key="main/a", Body=b"1", IfNoneMatch="*")["ETag"]
    with refused("PreconditionFailed", 412):
        s3.put_object(Bucket=bucket, Key="main/a", Body=b"2", IfNoneMatch="*")
    second = s3.put_object(Bucket=bucket, Key="main/a", Body=b"3", IfMatch=first)["ETag"]
    with refused("PreconditionFailed", 412):
        s3.put_object(Bucket=bucket, Key="main/a", Body=b"4", IfMatch=first)
    s3.put_object(Bucket=bucket, Key="main/a", Body=b"5", IfMatch="*")
    with refused("NotImplemented", 501):
        s3.put_object(Bucket=bucket, Key="main/a", Body=b"6", IfNoneMatch=second)
    assert s3.get_object(Bucket=bucket, Key="main/a")["Body"].read() == b"5"


def test_conditions_on_deletes(s3: Any, bucket: str) -> None:
    etag = s3.put_object(Bucket=bucket, Key="main/a", Body=b"1")["ETag"]
    with refused("PreconditionFailed", 412):
        s3.delete_object(Bucket=bucket, Key="main/a", IfMatch='"other"')
    s3.delete_object(Bucket=bucket, Key="main/a", IfMatch=etag)
    with refused("NoSuchKey", 404):
        s3.delete_object(Bucket=bucket, Key="main/a", IfMatch="*")
    s3.delete_object(Bucket=bucket, Key="main/a")
    etag = s3.put_object(Bucket=bucket, Key="main/b", Body=b"1")["ETag"]
    s3.put_object(Bucket=bucket, Key="main/c", Body=b"2")
    doomed = [{"Key": "main/b", "ETag": etag}, {"Key": "main/c", "ETag": etag}, {"Key": "main/d"}]
    answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": doomed})
    assert [each["Key"] for each in answer["Deleted"]] == ["main/b", "main/d"]
    assert [(each["Key"], each["Code"]) for each in answer["Errors"]] == [("main/c", "PreconditionFailed")]


def test_deleting_a_thousand_at_once(s3: Any, bucket: str) -> None:
    keys = [f"main/{number}" for number in range(1001)]
    for key in keys[:3]:
        s3.put_object(Bucket=bucket, Key=key, Body=b"")
    with refused("MalformedXML", 400):
        s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key} for key in keys]})
    quiet = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key} for key in keys[:1000]], "Quiet": True})
    assert "Deleted" not in quiet
    assert "Errors" not in quiet
    assert s3.list_objects_v2(Bucket=bucket)["KeyCount"] == 0


def test_of_many_deletes_each_fails_on_its_own(s3: Any, bucket: str, api: httpx.Client) -> None:
    api.post("/repositories", json={"name": f"{bucket}-grows", "mode": "append"}).raise_for_status()
    workspace = api.post(f"/repositories/{bucket}/branches/main/workspaces").json()["ref"]
    for where, root, impossible in ((f"{bucket}-grows", "main", "x" * 1000), (bucket, workspace, "a//b")):
        s3.put_object(Bucket=where, Key=f"{root}/a", Body=b"x")
        keys = [f"{root}/{impossible}", f"{root}/a", f"{root}/"]
        answer = s3.delete_objects(Bucket=where, Delete={"Objects": [{"Key": key} for key in keys]})
        assert [(each["Key"], each["Code"]) for each in answer["Errors"]] == [(keys[0], "InvalidArgument")]
        assert [each["Key"] for each in answer["Deleted"]] == keys[1:]
        with refused("404"):
            s3.head_object(Bucket=where, Key=f"{root}/a")


def test_a_key_in_a_document_is_all_of_its_text(s3: Any, server: Headwater, bucket: str) -> None:
    for key in ("main/a", "main/ab"):
        s3.put_object(Bucket=bucket, Key=key, Body=b"x")
    body = b"<Delete><Object><Key>main/a<!-- and -->b</Key></Object></Delete>"
    md5 = base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
    signer = S3SigV4Auth(credentials(server), "s3", "us-east-1")
    host = urlsplit(server.url).netloc
    asked = signed(signer, "POST", host, f"/{bucket}?delete=", headers={"Content-MD5": md5}, body=body)
    assert send(server, asked).status == 200
    assert [each["Key"] for each in s3.list_objects_v2(Bucket=bucket)["Contents"]] == ["main/a"]


def test_tags_are_not_changed_where_a_write_meanwhile_could_be_lost(s3: Any, bucket: str, api: httpx.Client) -> None:
    api.post("/repositories", json={"name": f"{bucket}-grows", "mode": "append"}).raise_for_status()
    workspace = api.post(f"/repositories/{bucket}/branches/main/workspaces").json()["ref"]
    for where, key in ((f"{bucket}-grows", "main/a"), (bucket, f"{workspace}/a")):
        s3.put_object(Bucket=where, Key=key, Body=b"x")
        with refused("NotImplemented", 501):
            s3.put_object_tagging(Bucket=where, Key=key, Tagging={"TagSet": [{"Key": "a", "Value": "b"}]})
        assert s3.get_object_tagging(Bucket=where, Key=key)["TagSet"] == []


def test_tags(s3: Any, bucket: str) -> None:
    s3.put_object(Bucket=bucket, Key="main/a", Body=b"x", Tagging="b=2&a=%C3%A4%20%2B")
    assert s3.get_object(Bucket=bucket, Key="main/a")["TagCount"] == 2
    tags = s3.get_object_tagging(Bucket=bucket, Key="main/a")["TagSet"]
    assert tags == [{"Key": "a", "Value": "ä +"}, {"Key": "b", "Value": "2"}]
    s3.put_object_tagging(Bucket=bucket, Key="main/a", Tagging={"TagSet": [{"Key": "c", "Value": ""}]})
    assert s3.get_object_tagging(Bucket=bucket, Key="main/a")["TagSet"] == [{"Key": "c", "Value": ""}]
    s3.delete_object_tagging(Bucket=bucket, Key="main/a")
    assert s3.get_object_tagging(Bucket=bucket, Key="main/a")["TagSet"] == []
    with refused("InvalidTag", 400):
        eleven = [{"Key": str(number), "Value": ""} for number in range(11)]
        s3.put_object_tagging(Bucket=bucket, Key="main/a", Tagging={"TagSet": eleven})
    with refused("InvalidTag", 400):
        s3.put_object(Bucket=bucket, Key="main/a", Body=b"", Tagging="a=" + "x" * 257)
    with refused("NoSuchKey", 404):
        s3.get_object_tagging(Bucket=bucket, Key="main/b")


def test_what_is_not_there_is_told_apart(s3: Any, bucket: str) -> None:
    for key in ("main/a", "nowhere/a", "main", "main/", "main@{then}/a", "a" * 64 + "/a"):
        with refused("NoSuchKey", 404):
            s3.get_object(Bucket=bucket, Key=key)
    with refused("NoSuchBucket", 404):
        s3.get_object(Bucket="no-such-bucket", Key="main/a")
    with refused("NoSuchBucket", 404):
        s3.put_object(Bucket=bucket, Key="nowhere/a", Body=b"x")
    with refused("404", 404):
        s3.head_bucket(Bucket="no-such-bucket")


def test_an_object_asked_for_in_ways_that_are_not_to_be_had(s3: Any, bucket: str) -> None:
    refusals: list[tuple[str, dict[str, str]]] = [
        ("NotImplemented", {"ServerSideEncryption": "AES256"}),
        ("InvalidStorageClass", {"StorageClass": "GLACIER"}),
        ("AccessControlListNotSupported", {"ACL": "public-read"}),
        ("InvalidRequest", {"ObjectLockLegalHoldStatus": "ON"}),
        ("NotImplemented", {"WebsiteRedirectLocation": "/x"}),
    ]
    for code, asked in refusals:
        with refused(code):
            s3.put_object(Bucket=bucket, Key="main/a", Body=b"x", **asked)
    s3.put_object(Bucket=bucket, Key="main/a", Body=b"x", ACL="private", StorageClass="STANDARD")
    with refused("NoSuchVersion"):
        s3.get_object(Bucket=bucket, Key="main/a", VersionId="abc")


def test_of_racing_writes_under_one_condition_one_succeeds(s3: Any, bucket: str) -> None:
    def put(condition: dict[str, str], body: bytes) -> str | None:
        try:
            answer: str = s3.put_object(Bucket=bucket, Key="main/a", Body=body, **condition)["ETag"]
        except ClientError as error:
            if error.response["Error"]["Code"] == "PreconditionFailed":
                return None
            raise
        return answer

    condition = {"IfNoneMatch": "*"}
    with ThreadPoolExecutor(8) as pool:
        for turn in range(3):
            bodies = [f"{turn} {number}".encode() for number in range(8)]
            winners = [etag for etag in pool.map(put, [condition] * 8, bodies) if etag is not None]
            assert len(winners) == 1
            assert s3.head_object(Bucket=bucket, Key="main/a")["ETag"] == winners[0]
            condition = {"IfMatch": winners[0]}


REFUSED = [
    ("//{bucket}/main/a", "InvalidURI"),
    ("/{bucket}?prefix=main%2F%FF", "InvalidURI"),
    ("/{bucket}?marker=main%2F%FF", "InvalidURI"),
    ("/{bucket}?list-type=2&prefix=main%2F&start-after=main%2F%FF", "InvalidURI"),
    ("/{bucket}?delimiter=%FF", "InvalidURI"),
    ("/{bucket}?max-keys=many", "InvalidArgument"),
    ("/{bucket}?list-type=2&max-keys=", ""),
    ("/{bucket}?list-type=2&max-keys=1e3", "InvalidArgument"),
    ("/{bucket}?max-keys=%C2%B2", "InvalidArgument"),
    ("/{bucket}?encoding-type=base64", "InvalidArgument"),
    ("/{bucket}?uploads=&key-marker=%FF", "InvalidURI"),
    ("/{bucket}/main/a?partNumber=0000000001" + "9" * 5000, "InvalidArgument"),
    ("/{bucket}/main/a?response-content-type=a%01b", "InvalidArgument"),
    ("/{bucket}/main/a?response-content-disposition=x%0D%0ASet-Cookie%3A%20a%3Db", "InvalidArgument"),
]
"""What no client sends, and what is answered to it."""


def test_a_part_of_no_upload_is_no_object(s3: Any, server: Headwater, bucket: str) -> None:
    s3.put_object(Bucket=bucket, Key="main/a", Body=b"whole")
    signer = S3SigV4Auth(credentials(server), "s3", "us-east-1")
    for target in ("partNumber=1", "partNumber=1&uploadId="):
        put = signed(signer, "PUT", urlsplit(server.url).netloc, f"/{bucket}/main/a?{target}", body=b"part")
        assert send(server, put).status in (400, 404)
    assert s3.get_object(Bucket=bucket, Key="main/a")["Body"].read() == b"whole"


@pytest.mark.parametrize(("target", "code"), REFUSED)
def test_odd_requests_are_refused_in_words_of_s3(
    s3: Any, server: Headwater, bucket: str, target: str, code: str
) -> None:
    s3.put_object(Bucket=bucket, Key="main/a", Body=b"x")
    signer = S3SigV4Auth(credentials(server), "s3", "us-east-1")
    answer = send(server, signed(signer, "GET", urlsplit(server.url).netloc, target.format(bucket=bucket)))
    assert (answer.code, answer.status) == (code, 400 if code else 200)


def test_a_path_that_is_no_text_is_refused(server: Headwater, bucket: str) -> None:
    answer = send(server, Wire("GET", f"/{bucket}/main/%FF", {"Host": "x", "x-amz-date": "x"}))
    assert (answer.status, answer.code) == (400, "InvalidURI")


def test_a_client_that_goes_away_in_the_middle_leaves_nothing(s3: Any, server: Headwater, bucket: str) -> None:
    log = server.data.parent / "server.log"
    before = log.stat().st_size
    host = urlsplit(server.url).netloc
    signer = S3SigV4Auth(credentials(server), "s3", "us-east-1")
    for size in (1000, 3_000_000):  # gathered first, and streamed
        body = bytes(size)
        request = signed(signer, "PUT", host, f"/{bucket}/main/a", body=body)
        head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items() if name != "Content-Length")
        sent = f"PUT {request.target} HTTP/1.1\r\n{head}Content-Length: {size}\r\n\r\n".encode() + body[:-1]
        with socket.create_connection((urlsplit(server.url).hostname or "", urlsplit(server.url).port or 0)) as client:
            client.sendall(sent)
    for _ in range(20):
        with refused("404"):
            s3.head_object(Bucket=bucket, Key="main/a")
    assert b"defect" not in log.read_bytes()[before:]


def test_a_connection_is_closed_if_the_body_was_not_read(server: Headwater, bucket: str) -> None:
    host = urlsplit(server.url).netloc
    signer = S3SigV4Auth(credentials(server), "s3", "us-east-1")
    refusal = send(server, signed(signer, "PUT", host, f"/{bucket}/nowhere/a", body=b"x"))
    assert (refusal.code, refusal.headers.get("connection")) == ("NoSuchBucket", "close")
    empty = signed(signer, "PUT", host, f"/{bucket}/main/empty", headers={"Expect": "100-continue"})
    assert send(server, empty).headers.get("connection") == "close"
    done = send(server, signed(signer, "PUT", host, f"/{bucket}/main/a", body=b"x"))
    assert (done.status, done.headers.get("connection")) == (200, None)
