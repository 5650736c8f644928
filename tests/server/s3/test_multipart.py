"""Uploads in parts through boto3: completed, repeated, aborted, listed, copied into, and what is wrong with some."""

from __future__ import annotations

import base64
import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import awscrt.checksums
import pytest
from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from dev.servers.headwater import Headwater
from tests.server.s3.conftest import refused

MIB = 1024 * 1024
FIRST, SECOND = b"1" * (5 * MIB), b"2" * 100


def begin(s3: Any, bucket: str, key: str = "main/large", **options: Any) -> dict[str, str]:
    """The arguments that every further call of an upload takes."""
    made = s3.create_multipart_upload(Bucket=bucket, Key=key, **options)
    return {"Bucket": bucket, "Key": key, "UploadId": made["UploadId"]}


def send(s3: Any, upload: dict[str, str], *parts: bytes, **options: Any) -> list[dict[str, Any]]:
    """Upload *parts*; what a completion says of each."""
    sent = []
    for number, body in enumerate(parts, 1):
        answer = s3.upload_part(**upload, PartNumber=number, Body=body, **options)
        known = {name: value for name, value in answer.items() if name.startswith("Checksum") and name[-4:] != "Type"}
        sent.append({"PartNumber": number, "ETag": answer["ETag"], **known})
    return sent


def etag_of(*parts: bytes) -> str:
    joined = b"".join(hashlib.md5(part, usedforsecurity=False).digest() for part in parts)
    return f'"{hashlib.md5(joined, usedforsecurity=False).hexdigest()}-{len(parts)}"'


def test_parts_become_one_object(s3: Any, bucket: str) -> None:
    upload = begin(s3, bucket, ContentType="text/plain", Metadata={"a": "b"}, CacheControl="no-store", Tagging="c=d")
    parts = send(s3, upload, FIRST, SECOND)
    with refused("404"):
        s3.head_object(Bucket=bucket, Key="main/large")
    done = s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
    assert done["ETag"] == etag_of(FIRST, SECOND)
    found = s3.get_object(Bucket=bucket, Key="main/large")
    assert found["Body"].read() == FIRST + SECOND
    assert (found["ETag"], found["ContentType"], found["Metadata"]) == (done["ETag"], "text/plain", {"a": "b"})
    assert (found["CacheControl"], found["TagCount"]) == ("no-store", 1)
    over = s3.get_object(Bucket=bucket, Key="main/large", Range=f"bytes={5 * MIB - 2}-{5 * MIB + 1}")
    assert over["Body"].read() == b"1122"
    with refused("NoSuchUpload", 404):
        s3.list_parts(**upload)


def test_an_object_is_read_by_its_parts(s3: Any, bucket: str) -> None:
    upload = begin(s3, bucket)
    s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": send(s3, upload, FIRST, SECOND)})
    second = s3.get_object(Bucket=bucket, Key="main/large", PartNumber=2)
    assert (second["Body"].read(), second["PartsCount"]) == (SECOND, 2)
    assert second["ContentRange"] == f"bytes {5 * MIB}-{5 * MIB + 99}/{5 * MIB + 100}"
    assert s3.head_object(Bucket=bucket, Key="main/large", PartNumber=1)["ContentLength"] == 5 * MIB
    with refused("InvalidPart", 400):
        s3.get_object(Bucket=bucket, Key="main/large", PartNumber=3)
    s3.put_object(Bucket=bucket, Key="main/small", Body=b"x")
    whole = s3.get_object(Bucket=bucket, Key="main/small", PartNumber=1)
    assert whole["Body"].read() == b"x"
    assert "PartsCount" not in whole


def test_completing_again_gives_the_same_answer(s3: Any, bucket: str) -> None:
    upload = begin(s3, bucket)
    parts = send(s3, upload, FIRST, SECOND)
    done = s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
    s3.put_object(Bucket=bucket, Key="main/large", Body=b"newer")
    again = s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
    assert (again["ETag"], again["Location"]) == (done["ETag"], done["Location"])
    assert s3.get_object(Bucket=bucket, Key="main/large")["Body"].read() == b"newer"
    with refused("NoSuchUpload", 404):
        s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts[:1]})


def test_completing_several_times_at_once_gives_one_answer(s3: Any, bucket: str) -> None:
    for _ in range(10):
        upload = begin(s3, bucket)
        parts = {"Parts": send(s3, upload, SECOND)}
        with ThreadPoolExecutor(6) as pool:
            done = [pool.submit(s3.complete_multipart_upload, **upload, MultipartUpload=parts) for _ in range(6)]
        assert {each.result()["ETag"] for each in done} == {etag_of(SECOND)}


def test_a_composite_checksum_is_told_with_the_number_of_parts_or_without(s3: Any, bucket: str) -> None:
    for number in ("-2", ""):
        upload = begin(s3, bucket, ChecksumAlgorithm="CRC32C")
        parts = {"Parts": send(s3, upload, FIRST, SECOND, ChecksumAlgorithm="CRC32C")}
        joined = b"".join(base64.b64decode(part["ChecksumCRC32C"]) for part in parts["Parts"])
        value = base64.b64encode(awscrt.checksums.crc32c(joined).to_bytes(4, "big")).decode()
        with refused("BadDigest", 400):
            s3.complete_multipart_upload(**upload, MultipartUpload=parts, ChecksumCRC32C="AAAAAA==")
        done = s3.complete_multipart_upload(**upload, MultipartUpload=parts, ChecksumCRC32C=value + number)
        assert done["ChecksumCRC32C"] == f"{value}-2"


def test_what_can_be_wrong_with_a_completion(s3: Any, bucket: str) -> None:
    upload = begin(s3, bucket)
    first, second, third = send(s3, upload, FIRST, SECOND, SECOND)
    wrong: list[tuple[str, Any]] = [
        ("MalformedXML", {}),
        ("MalformedXML", {"Parts": []}),
        ("InvalidPart", {"Parts": [first, {**second, "ETag": first["ETag"]}]}),
        ("InvalidPart", {"Parts": [first, {**second, "PartNumber": 7}]}),
        ("InvalidPartOrder", {"Parts": [second, first]}),
        ("InvalidPartOrder", {"Parts": [first, first]}),
        ("EntityTooSmall", {"Parts": [second, third]}),
    ]
    for code, parts in wrong:
        with refused(code, 400):
            s3.complete_multipart_upload(**upload, MultipartUpload=parts)
    with refused("InvalidRequest", 400):
        s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": [first]}, MpuObjectSize=1)
    with refused("NoSuchUpload", 404):
        s3.complete_multipart_upload(**{**upload, "UploadId": "0" * 32}, MultipartUpload={"Parts": [first]})
    with refused("NoSuchUpload", 404):
        s3.complete_multipart_upload(**{**upload, "Key": "main/other"}, MultipartUpload={"Parts": [first]})
    for number in (0, 10_001):
        with refused("InvalidArgument", 400):
            s3.upload_part(**upload, PartNumber=number, Body=b"")
    s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": [first, third]})
    assert s3.head_object(Bucket=bucket, Key="main/large")["ContentLength"] == 5 * MIB + 100


def test_a_part_that_is_sent_again_replaces_the_first(s3: Any, bucket: str) -> None:
    upload = begin(s3, bucket)
    old = s3.upload_part(**upload, PartNumber=1, Body=b"old")
    new = s3.upload_part(**upload, PartNumber=1, Body=b"new!")
    listed = s3.list_parts(**upload)
    assert [(each["PartNumber"], each["Size"], each["ETag"]) for each in listed["Parts"]] == [(1, 4, new["ETag"])]
    with refused("InvalidPart", 400):
        s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": old["ETag"]}]})
    s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": new["ETag"]}]})
    assert s3.get_object(Bucket=bucket, Key="main/large")["Body"].read() == b"new!"


def test_an_aborted_upload_is_gone_with_its_bytes(s3: Any, bucket: str, server: Headwater) -> None:
    upload = begin(s3, bucket)
    send(s3, upload, b"some bytes")
    data = server.data / "objects" / bucket / "data"
    assert [each for each in data.rglob("*") if each.is_file()]
    s3.abort_multipart_upload(**upload)
    assert not [each for each in data.rglob("*") if each.is_file()]
    for call in (s3.abort_multipart_upload, s3.list_parts):
        with refused("NoSuchUpload", 404):
            call(**upload)
    with refused("NoSuchUpload", 404):
        s3.upload_part(**upload, PartNumber=1, Body=b"late")


def test_conditions_on_a_completion(s3: Any, bucket: str) -> None:
    upload = begin(s3, bucket)
    parts = {"Parts": send(s3, upload, SECOND)}
    with refused("NoSuchKey", 404):
        s3.complete_multipart_upload(**upload, MultipartUpload=parts, IfMatch='"x"')
    etag = s3.put_object(Bucket=bucket, Key="main/large", Body=b"there")["ETag"]
    with refused("PreconditionFailed", 412):
        s3.complete_multipart_upload(**upload, MultipartUpload=parts, IfNoneMatch="*")
    assert s3.complete_multipart_upload(**upload, MultipartUpload=parts, IfMatch=etag)["ETag"] == etag_of(SECOND)


@pytest.mark.parametrize(
    ("algorithm", "kind"),
    [
        ("CRC32", "COMPOSITE"),
        ("CRC32", "FULL_OBJECT"),
        ("CRC32C", "FULL_OBJECT"),
        ("CRC64NVME", "FULL_OBJECT"),
        ("SHA1", "COMPOSITE"),
        ("SHA256", "COMPOSITE"),
    ],
)
def test_the_checksum_of_an_object_is_that_of_its_parts(s3: Any, bucket: str, algorithm: str, kind: str) -> None:
    name = f"Checksum{algorithm}"
    upload = begin(s3, bucket, ChecksumAlgorithm=algorithm, ChecksumType=kind)
    parts = send(s3, upload, FIRST, SECOND, ChecksumAlgorithm=algorithm)
    assert all(name in part for part in parts)
    assert [part[name] for part in s3.list_parts(**upload)["Parts"]] == [part[name] for part in parts]
    wrong = [{**parts[0], name: parts[1][name]}, parts[1]]
    with refused("InvalidPart", 400):
        s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": wrong})
    done = s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts}, ChecksumType=kind)
    found = s3.head_object(Bucket=bucket, Key="main/large", ChecksumMode="ENABLED")
    assert (found[name], found["ChecksumType"]) == (done[name], kind)
    if kind == "FULL_OBJECT":
        whole = s3.put_object(Bucket=bucket, Key="main/whole", Body=FIRST + SECOND, ChecksumAlgorithm=algorithm)
        assert whole[name] == done[name]
    if algorithm == "SHA256":
        joined = b"".join(base64.b64decode(part[name]) for part in parts)
        assert done[name] == base64.b64encode(hashlib.sha256(joined).digest()).decode() + "-2"
    known = s3.get_object_attributes(
        Bucket=bucket,
        Key="main/large",
        ObjectAttributes=["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"],
    )
    assert known["ETag"] == done["ETag"].strip('"')
    assert (known["ObjectSize"], known["StorageClass"]) == (5 * MIB + 100, "STANDARD")
    assert known["Checksum"][name] == done[name].partition("-")[0]
    assert known["ObjectParts"]["TotalPartsCount"] == 2
    assert [part[name] for part in known["ObjectParts"]["Parts"]] == [part[name] for part in parts]


def test_an_upload_says_which_checksum_its_parts_have(s3: Any, bucket: str) -> None:
    upload = begin(s3, bucket, ChecksumAlgorithm="SHA256")
    with refused("InvalidRequest", 400):
        s3.upload_part(**upload, PartNumber=1, Body=b"x", ChecksumAlgorithm="CRC32C")
    for algorithm, kind in (("SHA1", "FULL_OBJECT"), ("CRC64NVME", "COMPOSITE")):
        with refused("InvalidRequest", 400):
            begin(s3, bucket, ChecksumAlgorithm=algorithm, ChecksumType=kind)


def test_open_uploads_are_listed_by_key_and_age(s3: Any, bucket: str) -> None:
    keys = ["main/b", "main/a/2", "main/a/1", "main/b"]
    made = [begin(s3, bucket, key) for key in keys]
    expected = [(made[each]["Key"], made[each]["UploadId"]) for each in (2, 1, 0, 3)]
    for size in (1, 3, 1000):
        pages = s3.get_paginator("list_multipart_uploads").paginate(Bucket=bucket, PaginationConfig={"PageSize": size})
        assert [(each["Key"], each["UploadId"]) for page in pages for each in page["Uploads"]] == expected
    rolled = s3.list_multipart_uploads(Bucket=bucket, Prefix="main/", Delimiter="/")
    assert [each["Prefix"] for each in rolled["CommonPrefixes"]] == ["main/a/"]
    assert [each["Key"] for each in rolled["Uploads"]] == ["main/b", "main/b"]
    s3.abort_multipart_upload(**made[0])
    left = s3.list_multipart_uploads(Bucket=bucket, Prefix="main/b")["Uploads"]
    assert [each["UploadId"] for each in left] == [made[3]["UploadId"]]


def test_parts_are_listed_in_pages(s3: Any, bucket: str) -> None:
    upload = begin(s3, bucket)
    send(s3, upload, *(bytes([number]) for number in range(5)))
    pages = s3.get_paginator("list_parts").paginate(**upload, PaginationConfig={"PageSize": 2})
    assert [[each["PartNumber"] for each in page["Parts"]] for page in pages] == [[1, 2], [3, 4], [5]]


def test_parts_are_copied_from_other_objects(s3: Any, bucket: str) -> None:
    other = f"{bucket}-other"
    s3.create_bucket(Bucket=other)
    for where in (bucket, other):
        s3.put_object(Bucket=where, Key="main/source", Body=FIRST + SECOND)
    upload = begin(s3, bucket, ChecksumAlgorithm="CRC32")
    parts = []
    last = f"bytes={5 * MIB}-{5 * MIB + 99}"
    for number, (where, part) in enumerate(((bucket, None), (other, None), (bucket, last), (other, last)), 1):
        source = {"CopySource": {"Bucket": where, "Key": "main/source"}}
        copied = s3.upload_part_copy(
            **upload, **source, PartNumber=number, **({} if part is None else {"CopySourceRange": part})
        )["CopyPartResult"]
        parts.append({"PartNumber": number, "ETag": copied["ETag"], "ChecksumCRC32": copied["ChecksumCRC32"]})
    whole = FIRST + SECOND
    assert parts[0]["ETag"] == parts[1]["ETag"] == f'"{hashlib.md5(whole, usedforsecurity=False).hexdigest()}"'
    assert parts[2]["ETag"] == parts[3]["ETag"] == f'"{hashlib.md5(SECOND, usedforsecurity=False).hexdigest()}"'
    chosen = {"Parts": [parts[0], parts[1], parts[3]]}
    assert s3.complete_multipart_upload(**upload, MultipartUpload=chosen)["ETag"] == etag_of(whole, whole, SECOND)
    assert s3.get_object(Bucket=bucket, Key="main/large")["Body"].read() == whole + whole + SECOND
    second = begin(s3, bucket)
    with refused("InvalidRange", 416):
        s3.upload_part_copy(
            **second,
            PartNumber=1,
            CopySource={"Bucket": bucket, "Key": "main/source"},
            CopySourceRange=f"bytes=0-{len(whole)}",
        )
    with refused("PreconditionFailed", 412):
        s3.upload_part_copy(
            **second, PartNumber=1, CopySource={"Bucket": bucket, "Key": "main/source"}, CopySourceIfMatch='"x"'
        )


def test_nothing_is_begun_where_nothing_can_be_written(s3: Any, bucket: str) -> None:
    with refused("NoSuchBucket", 404):
        begin(s3, bucket, "nowhere/a")
    with refused("NoSuchKey", 404):
        begin(s3, bucket, "main")
    with pytest.raises(ClientError):
        begin(s3, bucket, "main~1/a")
