"""Who may do what over S3: policies, protected branches, references that take no writes; and hostile documents."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from botocore.auth import S3SigV4Auth  # type: ignore[import-untyped]

from dev.servers.headwater import Headwater
from tests.server.s3.conftest import client_of, refused
from tests.server.s3.wire import Answer, credentials, send, signed


def someone(api: httpx.Client, server: Headwater, *statements: dict[str, object]) -> Headwater:
    """The server as a user sees it who may do just this."""
    number = len(api.get("/auth/users", params={"amount": 1000}).json()["results"])
    user, policy = f"someone-{number}", f"policy-{number}"
    api.post("/auth/users", json={"id": user}).raise_for_status()
    api.post("/auth/policies", json={"id": policy, "statement": statements}).raise_for_status()
    api.put(f"/auth/users/{user}/policies/{policy}").raise_for_status()
    made = api.post(f"/auth/users/{user}/credentials").raise_for_status().json()
    return server._replace(access_key_id=made["access_key_id"], secret_access_key=made["secret_access_key"])


def allow(resource: str, *actions: str) -> dict[str, object]:
    return {"effect": "allow", "action": actions, "resource": f"arn:lakefs:fs:::{resource}"}


@pytest.fixture
def reader(api: httpx.Client, server: Headwater, bucket: str) -> Iterator[Any]:
    """A client that may read below `public/`, list, and write below `own/`."""
    user = someone(
        api,
        server,
        allow(f"repository/{bucket}/object/public/*", "fs:ReadObject"),
        allow(f"repository/{bucket}", "fs:ListObjects", "fs:ReadRepository"),
        allow(f"repository/{bucket}/object/own/*", "fs:WriteObject"),
    )
    client = client_of(user)
    yield client
    client.close()


def test_each_operation_needs_its_own_permission(s3: Any, reader: Any, bucket: str) -> None:
    for key in ("main/public/a", "main/private/a"):
        s3.put_object(Bucket=bucket, Key=key, Body=b"x")
    assert reader.get_object(Bucket=bucket, Key="main/public/a")["Body"].read() == b"x"
    assert reader.list_objects_v2(Bucket=bucket)["KeyCount"] == 2
    reader.head_bucket(Bucket=bucket)
    reader.put_object(Bucket=bucket, Key="main/own/a", Body=b"x")
    reader.copy_object(Bucket=bucket, Key="main/own/b", CopySource=f"{bucket}/main/public/a")
    upload = reader.create_multipart_upload(Bucket=bucket, Key="main/own/c")["UploadId"]
    reader.abort_multipart_upload(Bucket=bucket, Key="main/own/c", UploadId=upload)
    private = {"Bucket": bucket, "Key": "main/private/a"}
    forbidden: list[Callable[[], object]] = [
        lambda: reader.get_object(**private),
        lambda: reader.get_object_tagging(**private),
        lambda: reader.get_object_attributes(**private, ObjectAttributes=["ETag"]),
        lambda: reader.put_object(**private, Body=b"y"),
        lambda: reader.delete_object(**private),
        lambda: reader.put_object_tagging(**private, Tagging={"TagSet": []}),
        lambda: reader.create_multipart_upload(**private),
        lambda: reader.copy_object(Bucket=bucket, Key="main/own/c", CopySource=private),
        lambda: reader.copy_object(**private, CopySource=f"{bucket}/main/public/a"),
        lambda: reader.delete_object(Bucket=bucket, Key="main/own/a"),
        reader.list_buckets,
        lambda: reader.create_bucket(Bucket=f"{bucket}-more"),
        lambda: reader.delete_bucket(Bucket=bucket),
        lambda: reader.list_objects_v2(Bucket="no-such-bucket"),
    ]
    for call in forbidden:
        with refused("AccessDenied", 403):
            call()
    answer = reader.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "main/own/a"}]})
    assert [each["Code"] for each in answer["Errors"]] == ["AccessDenied"]
    assert s3.get_object(**private)["Body"].read() == b"x"


def test_only_branches_that_nobody_protects_take_writes(s3: Any, bucket: str, api: httpx.Client) -> None:
    base = f"/repositories/{bucket}"
    s3.put_object(Bucket=bucket, Key="main/a", Body=b"committed")
    commit = api.post(f"{base}/branches/main/commits", json={"message": "a"}).raise_for_status().json()["id"]
    api.post(f"{base}/tags", json={"id": "v1", "ref": "main"}).raise_for_status()
    s3.put_object(Bucket=bucket, Key="main/a", Body=b"staged")
    for ref in (commit, commit[:12], "v1", "main@"):
        assert s3.get_object(Bucket=bucket, Key=f"{ref}/a")["Body"].read() == b"committed"
        assert s3.list_objects_v2(Bucket=bucket, Prefix=f"{ref}/")["Contents"][0]["Key"] == f"{ref}/a"
        with refused("AccessDenied", 403):
            s3.put_object(Bucket=bucket, Key=f"{ref}/a", Body=b"x")
        with refused("AccessDenied", 403):
            s3.delete_object(Bucket=bucket, Key=f"{ref}/a")
    assert s3.list_objects_v2(Bucket=bucket, Prefix="main~1/")["KeyCount"] == 0
    api.put(f"{base}/settings/branch_protection", json=[{"pattern": "main"}]).raise_for_status()
    refusing: list[Callable[[], object]] = [
        lambda: s3.put_object(Bucket=bucket, Key="main/b", Body=b"x"),
        lambda: s3.delete_object(Bucket=bucket, Key="main/a"),
        lambda: s3.create_multipart_upload(Bucket=bucket, Key="main/b"),
        lambda: s3.put_object_tagging(Bucket=bucket, Key="main/a", Tagging={"TagSet": []}),
        lambda: s3.copy_object(Bucket=bucket, Key="main/b", CopySource=f"{bucket}/main/a"),
    ]
    for call in refusing:
        with refused("AccessDenied", 403):
            call()


def test_a_branch_with_a_slash_in_its_name_is_written_with_an_escape(s3: Any, bucket: str, api: httpx.Client) -> None:
    made = api.post(f"/repositories/{bucket}/branches", json={"name": "feature/x", "source": "main"})
    made.raise_for_status()
    s3.put_object(Bucket=bucket, Key="feature%2Fx/a", Body=b"x")
    assert s3.list_objects_v2(Bucket=bucket, Prefix="feature%2Fx/")["Contents"][0]["Key"] == "feature%2Fx/a"
    shown = api.get(f"/repositories/{bucket}/refs/feature%2Fx/objects", params={"path": "a"})
    assert shown.content == b"x"


def test_what_one_door_writes_the_others_read(s3: Any, bucket: str, api: httpx.Client) -> None:
    s3.put_object(Bucket=bucket, Key="main/a", Body=b"x", Metadata={"colour": "red"}, ContentType="text/plain")
    stats = api.get(f"/repositories/{bucket}/refs/main/objects/stat", params={"path": "a"}).json()
    assert (stats["checksum"], stats["size_bytes"]) == ("9dd4e461268c8034f5c8564e155c67a6", 1)
    assert (stats["content_type"], stats["metadata"]["colour"]) == ("text/plain", "red")
    api.post(
        f"/repositories/{bucket}/branches/main/objects",
        params={"path": "b"},
        content=b"y",
        headers={"content-type": "text/csv", "x-lakefs-meta-size": "small"},
    ).raise_for_status()
    found = s3.get_object(Bucket=bucket, Key="main/b")
    assert (found["Body"].read(), found["ContentType"], found["Metadata"]) == (b"y", "text/csv", {"size": "small"})


HOSTILE = {
    "an entity": b'<!DOCTYPE Delete [<!ENTITY e "main/a">]><Delete><Object><Key>&e;</Key></Object></Delete>',
    "a file": b'<!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/passwd">]><Delete><Object><Key>&e;</Key></Object></Delete>',
    "laughs": b'<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><Delete><Object><Key>&b;</Key></Object></Delete>',
    "no document": b"<Delete><Object>",
    "nothing": b"",
    "another document": b"<Tagging><TagSet/></Tagging>",
    "no key": b"<Delete><Object/></Delete>",
    "too deep": b"<Delete>" + b"<a>" * 5000 + b"</a>" * 5000 + b"</Delete>",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_documents_are_refused(s3: Any, server: Headwater, bucket: str, what: str) -> None:
    s3.put_object(Bucket=bucket, Key="main/a", Body=b"x")
    answer = posted(server, f"/{bucket}?delete", HOSTILE[what])
    assert (answer.status, answer.code) == (400, "MalformedXML"), answer.body
    assert b"root:" not in answer.body
    s3.head_object(Bucket=bucket, Key="main/a")


def test_a_document_that_is_too_large_is_not_read_to_its_end(server: Headwater, bucket: str) -> None:
    assert posted(server, f"/{bucket}?delete", b"<Delete>" + b" " * 5_000_000).code == "MaxMessageLengthExceeded"


def posted(server: Headwater, target: str, body: bytes) -> Answer:
    md5 = base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
    signer = S3SigV4Auth(credentials(server), "s3", "us-east-1")
    return send(
        server, signed(signer, "POST", urlsplit(server.url).netloc, target, headers={"Content-MD5": md5}, body=body)
    )


def test_bodies_stream_in_both_directions(s3: Any, server: Headwater, bucket: str, tmp_path: Path) -> None:
    """A hundred times what is gathered goes in and out, and the worker grows by a fraction of it."""
    large = tmp_path / "large"
    with large.open("wb") as out:
        out.truncate(200 * 1024 * 1024)
    s3.put_object(Bucket=bucket, Key="main/warm", Body=bytes(2_000_000))
    before = peak(server)
    with large.open("rb") as body:
        s3.put_object(Bucket=bucket, Key="main/large", Body=body)
    size = sum(len(chunk) for chunk in s3.get_object(Bucket=bucket, Key="main/large")["Body"].iter_chunks(1 << 20))
    size += sum(
        len(chunk)
        for chunk in s3.get_object(Bucket=bucket, Key="main/large", Range="bytes=1-")["Body"].iter_chunks(1 << 20)
    )
    assert size == 2 * 200 * 1024 * 1024 - 1
    assert peak(server) - before < 60 * 1024


def peak(server: Headwater) -> int:
    """The greatest resident size, in KiB, that a process of this server ever had."""
    marker = str(server.data).encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
            status = (process / "status").read_text()
        except OSError:
            continue
        if marker in environment or server.secret_access_key.encode() in environment:
            found += [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")]
    return max(found)
