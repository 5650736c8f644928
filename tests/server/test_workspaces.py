"""Workspaces of a server: through its API, and with boto3 at `s3://repo/branch+id/path`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import httpx
import pytest
from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from dev.servers.headwater import Headwater
from tests.server.s3.conftest import client_of, refused


@pytest.fixture
def branch(repository: str, api: httpx.Client) -> str:
    """The path of a branch with something committed."""
    at = f"/repositories/{repository}/branches/main"
    assert api.post(f"{at}/objects", params={"path": "kept"}, content=b"kept").status_code == 201
    assert api.post(f"{at}/commits", json={"message": "before"}).status_code == 201
    return at


@pytest.fixture
def workspace(api: httpx.Client, branch: str) -> dict[str, Any]:
    answer = api.post(f"{branch}/workspaces")
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.fixture
def s3(server: Headwater) -> Iterator[Any]:
    client = client_of(server)
    yield client
    client.close()


def test_a_workspace_is_written_read_and_committed(
    api: httpx.Client, repository: str, branch: str, workspace: dict[str, Any]
) -> None:
    at = f"{branch}/workspaces/{workspace['id']}"
    objects = f"/repositories/{repository}/branches/{workspace['ref'].replace('+', '%2B')}/objects"
    for path in ("out/a.parquet", "out/tmp"):
        assert api.post(objects, params={"path": path}, content=path.encode()).status_code == 201
    assert api.delete(objects, params={"path": "kept"}).status_code == 204
    place = Path(url2pathname(urlsplit(workspace["location"]).path))
    (place / "out").joinpath("outside").write_bytes(b"from outside")
    assert [each["path"] for each in api.get(f"{at}/diff").json()["results"]] == [
        "kept",
        "out/a.parquet",
        "out/outside",
        "out/tmp",
    ]
    refs = f"/repositories/{repository}/refs/{workspace['ref']}/objects"
    assert api.get(refs, params={"path": "out/outside"}).content == b"from outside"
    assert api.get(refs, params={"path": "kept"}).status_code == 404
    part = api.post(f"{at}/commits", json={"message": "a part", "patterns": ["**/*.parquet"]})
    assert part.status_code == 201, part.text
    assert api.post(f"{at}/revert", json={"patterns": ["out/tmp"]}).json() == {"count": 1}
    assert api.post(f"{at}/remove", json={"patterns": ["out/out*"]}).json() == {"count": 1}
    made = api.post(f"{at}/commits", json={"message": "the rest"})
    assert made.json()["parents"] == [part.json()["id"]]
    listed = api.get(f"/repositories/{repository}/refs/main/objects/ls").json()["results"]
    assert [each["path"] for each in listed] == ["out/a.parquet"]
    closed = api.get(at)
    assert closed.status_code == 409
    assert made.json()["id"] in closed.json()["message"]
    standing = api.get(f"/repositories/{repository}/workspaces").json()["results"]
    assert [(each["id"], each["standing"], len(each["landed"])) for each in standing] == [
        (workspace["id"], "closed", 2)
    ]


def test_bad_requests_say_what_to_do_and_change_nothing(
    api: httpx.Client, branch: str, workspace: dict[str, Any]
) -> None:
    at = f"{branch}/workspaces/{workspace['id']}"
    assert api.post(f"{at}/commits", json={"message": "nothing"}).status_code == 400
    assert api.post(f"{at}/commits", json={"message": "none", "patterns": []}).status_code == 400
    assert api.post(f"{at}/remove", json={}).status_code == 400
    assert api.get(f"{branch}/workspaces/nonsense").status_code == 400
    assert api.get(f"{branch.replace('main', 'nowhere')}/workspaces/{workspace['id']}").status_code == 404
    foreign = f"{workspace['id'][:-8]}00000000"
    assert api.get(f"{branch}/workspaces/{foreign}").status_code == 400
    assert api.delete(at).status_code == 204
    assert api.delete(at).status_code == 409


def test_another_commit_in_between_is_a_conflict_until_it_is_gone_along_with(
    api: httpx.Client, repository: str, branch: str, workspace: dict[str, Any]
) -> None:
    objects = f"/repositories/{repository}/branches/{workspace['ref'].replace('+', '%2B')}/objects"
    api.post(objects, params={"path": "mine"}, content=b"1")
    api.post(f"{branch}/objects", params={"path": "theirs"}, content=b"1")
    api.post(f"{branch}/commits", json={"message": "theirs"})
    at = f"{branch}/workspaces/{workspace['id']}/commits"
    assert api.post(at, json={"message": "mine"}).status_code == 409
    assert api.post(at, json={"message": "mine", "retry": True}).status_code == 201


def test_a_protected_branch_takes_no_commit_of_a_workspace(
    api: httpx.Client, repository: str, branch: str, workspace: dict[str, Any]
) -> None:
    rules = api.put(f"/repositories/{repository}/settings/branch_protection", json=[{"pattern": "main"}])
    assert rules.status_code == 204, rules.text
    objects = f"/repositories/{repository}/branches/{workspace['ref'].replace('+', '%2B')}/objects"
    assert api.post(objects, params={"path": "mine"}, content=b"1").status_code == 201
    refused_ = api.post(f"{branch}/workspaces/{workspace['id']}/commits", json={"message": "mine"})
    assert refused_.status_code == 403


def test_the_gateway_reads_and_writes_a_workspace(
    s3: Any, api: httpx.Client, repository: str, branch: str, workspace: dict[str, Any]
) -> None:
    ref = workspace["ref"]
    s3.put_object(Bucket=repository, Key=f"{ref}/out/small", Body=b"small", ChecksumAlgorithm="SHA256")
    assert s3.get_object(Bucket=repository, Key=f"{ref}/out/small")["Body"].read() == b"small"
    assert s3.get_object(Bucket=repository, Key=f"{ref}/kept")["Body"].read() == b"kept"
    s3.copy_object(Bucket=repository, Key=f"{ref}/copy", CopySource=f"{repository}/main/kept")
    upload = s3.create_multipart_upload(Bucket=repository, Key=f"{ref}/out/large")["UploadId"]
    about = {"Bucket": repository, "Key": f"{ref}/out/large", "UploadId": upload}
    parts = [
        {"PartNumber": n, "ETag": s3.upload_part(**about, PartNumber=n, Body=bytes([n]) * size)["ETag"]}
        for n, size in ((1, 5 * 1024 * 1024), (2, 10))
    ]
    s3.complete_multipart_upload(**about, MultipartUpload={"Parts": parts})
    assert s3.get_object(Bucket=repository, Key=f"{ref}/out/large")["Body"].read()[-11:] == b"\1" + b"\2" * 10
    s3.delete_object(Bucket=repository, Key=f"{ref}/kept")
    listed = s3.list_objects_v2(Bucket=repository, Prefix=f"{ref}/", Delimiter="/")
    assert [each["Key"] for each in listed["Contents"]] == [f"{ref}/copy"]
    assert [each["Prefix"] for each in listed["CommonPrefixes"]] == [f"{ref}/out/"]
    with refused("NoSuchKey", 404):
        s3.get_object(Bucket=repository, Key=f"{ref}/kept")
    assert api.post(f"{branch}/workspaces/{workspace['id']}/commits", json={"message": "by S3"}).status_code == 201
    found = s3.list_objects_v2(Bucket=repository, Prefix="main/")["Contents"]
    assert [(each["Key"], each["Size"]) for each in found] == [
        ("main/copy", 4),
        ("main/out/large", 5 * 1024 * 1024 + 10),
        ("main/out/small", 5),
    ]
    with refused("OperationAborted", 409):
        s3.put_object(Bucket=repository, Key=f"{ref}/late", Body=b"late")


def test_a_copy_from_a_workspace_has_bytes_of_its_own(s3: Any, repository: str, workspace: dict[str, Any]) -> None:
    """What is copied must not change with the workspace, where it may be written over."""
    source = {"Bucket": repository, "Key": f"{workspace['ref']}/a"}
    s3.put_object(**source, Body=b"first")
    s3.copy_object(
        Bucket=repository, Key="main/copy", CopySource=source, Metadata={"a": "b"}, MetadataDirective="REPLACE"
    )
    s3.copy_object(Bucket=repository, Key=f"{workspace['ref']}/copy", CopySource=source)
    about = {"Bucket": repository, "Key": "main/part"}
    about["UploadId"] = s3.create_multipart_upload(**about)["UploadId"]
    part = s3.upload_part_copy(**about, PartNumber=1, CopySource=source)["CopyPartResult"]
    s3.put_object(**source, Body=b"other")
    s3.complete_multipart_upload(**about, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]})
    for key in ("main/copy", "main/part", f"{workspace['ref']}/copy"):
        assert s3.get_object(Bucket=repository, Key=key)["Body"].read() == b"first", key
    assert s3.head_object(Bucket=repository, Key="main/copy")["Metadata"] == {"a": "b"}


def test_a_workspace_that_nobody_began_holds_nothing(s3: Any, repository: str, workspace: dict[str, Any]) -> None:
    made_up = workspace["ref"][:-64] + "0" * 64
    for read in (s3.get_object, s3.get_object_tagging):
        with refused("NoSuchKey", 404):
            read(Bucket=repository, Key=f"{made_up}/kept")
    assert s3.list_objects_v2(Bucket=repository, Prefix=f"{made_up}/")["KeyCount"] == 0
    with refused("InvalidArgument", 400):
        s3.put_object(Bucket=repository, Key=f"{made_up}/a", Body=b"x")


def test_where_a_directory_would_be_clients_may_leave_and_remove_what_they_like(
    s3: Any, api: httpx.Client, repository: str, branch: str, workspace: dict[str, Any]
) -> None:
    ref = workspace["ref"]
    s3.put_object(Bucket=repository, Key=f"{ref}/out/", Body=b"")
    s3.put_object(Bucket=repository, Key=f"{ref}/out/a", Body=b"x")
    assert [each["Key"] for each in s3.list_objects_v2(Bucket=repository, Prefix=f"{ref}/out")["Contents"]] == [
        f"{ref}/out/a"
    ]
    s3.delete_object(Bucket=repository, Key=f"{ref}/out/")
    removed = s3.delete_objects(
        Bucket=repository, Delete={"Objects": [{"Key": f"{ref}/out/"}, {"Key": f"{ref}/out/a"}]}
    )
    assert "Errors" not in removed
    with refused("InvalidArgument", 400):
        s3.put_object(Bucket=repository, Key=f"{ref}/out/", Body=b"x")
    s3.put_object(Bucket=repository, Key="main/marker/", Body=b"")
    assert api.post(f"{branch}/commits", json={"message": "a marker"}).status_code == 201
    later = api.post(f"{branch}/workspaces").json()["ref"]
    with refused("NotImplemented", 501):
        s3.delete_object(Bucket=repository, Key=f"{later}/marker/")


def test_what_the_store_beneath_cannot_hold_is_told(s3: Any, repository: str, workspace: dict[str, Any]) -> None:
    s3.put_object(Bucket=repository, Key=f"{workspace['ref']}/a", Body=b"x")
    with refused("NotImplemented", 501):
        s3.put_object(Bucket=repository, Key=f"{workspace['ref']}/a/b", Body=b"x")


def test_bytes_that_are_not_those_announced_are_not_in_the_workspace(
    s3: Any, repository: str, workspace: dict[str, Any]
) -> None:
    with pytest.raises(ClientError, match="BadDigest"):
        s3.put_object(Bucket=repository, Key=f"{workspace['ref']}/a", Body=b"x", ContentMD5="AAAAAAAAAAAAAAAAAAAAAA==")
    with refused("NoSuchKey", 404):
        s3.get_object(Bucket=repository, Key=f"{workspace['ref']}/a")


def test_the_gateway_reads_the_whole_of_a_file_that_grows(s3: Any, api: httpx.Client, new_repository: Any) -> None:
    repository = new_repository(mode="append")
    for text in (b"one ", b"two ", b"three"):
        at = f"/repositories/{repository}/branches/main/objects/append"
        answer = api.post(at, params={"path": "log"}, content=text)
        assert answer.is_success, answer.text
    assert s3.get_object(Bucket=repository, Key="main/log")["Body"].read() == b"one two three"
    assert s3.get_object(Bucket=repository, Key="main/log", Range="bytes=4-8")["Body"].read() == b"two t"
    assert s3.head_object(Bucket=repository, Key="main/log")["ETag"].endswith('-3"')
