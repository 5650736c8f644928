"""Protected branches: whatever would write or commit to one is refused, by whichever door; merging is not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from dev.servers.headwater import Headwater
from tests.server.s3.conftest import client_of, refused

PROTECTED = "release-1"


@pytest.fixture
def base(api: httpx.Client, repository: str) -> str:
    """A repository with a commit, a staged object, and a protected branch with both."""
    base = f"/repositories/{repository}"
    for path in ("a", "b"):
        api.post(f"{base}/branches/main/objects", params={"path": path}, content=b"1")
        api.post(f"{base}/branches/main/commits", json={"message": path})
    assert api.post(f"{base}/branches", json={"name": PROTECTED, "source": "main"}).status_code == 201
    api.post(f"{base}/branches/{PROTECTED}/objects", params={"path": "staged"}, content=b"1")
    rules = [{"pattern": "release-?"}, {"pattern": "prod*"}]
    assert api.put(f"{base}/settings/branch_protection", json=rules).status_code == 204
    return base


def refusals(api: httpx.Client, base: str, branch: str, imports: Path) -> dict[str, httpx.Response]:
    """What each way of writing or committing to *branch* is answered."""
    at = f"{base}/branches/{branch}"
    stage = {"physical_address": "s3://bucket/x", "checksum": "x", "size_bytes": 1}
    link = {"staging": {"physical_address": "local://x"}, "checksum": "x", "size_bytes": 1}
    bring = {"path": f"local://{imports}/", "type": "common_prefix", "destination": "x/"}
    return {
        "upload": api.post(f"{at}/objects", params={"path": "x"}, content=b"2"),
        "delete": api.delete(f"{at}/objects", params={"path": "a"}),
        "delete many": api.post(f"{at}/objects/delete", json={"paths": ["a"]}),
        "copy": api.post(f"{at}/objects/copy", params={"dest_path": "x"}, json={"src_path": "a"}),
        "metadata": api.put(f"{at}/objects/stat/user_metadata", params={"path": "a"}, json={"set": {"k": "v"}}),
        "stage": api.put(f"{at}/objects", params={"path": "x"}, json=stage),
        "address": api.get(f"{at}/staging/backing", params={"path": "x"}),
        "link": api.put(f"{at}/staging/backing", params={"path": "x"}, json=link),
        "reset": api.put(at, json={"type": "reset"}),
        "commit": api.post(f"{at}/commits", json={"message": "m"}),
        "cherry-pick": api.post(f"{at}/cherry-pick", json={"ref": "main"}),
        "import": api.post(f"{at}/import", json={"paths": [bring], "commit": {"message": "m"}}),
        "hard reset": api.put(f"{at}/hard_reset", params={"ref": "main~1"}),
    }


def test_nothing_is_written_or_committed_to_a_protected_branch(api: httpx.Client, base: str, imports: Path) -> None:
    before = api.get(f"{base}/refs/{PROTECTED}/objects/ls").json()["results"]
    head = api.get(f"{base}/branches/{PROTECTED}").json()
    answers = refusals(api, base, PROTECTED, imports)
    assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(answers, 403)
    assert all("release-?" in answer.json()["message"] for answer in answers.values())
    assert api.get(f"{base}/refs/{PROTECTED}/objects/ls").json()["results"] == before
    assert api.get(f"{base}/branches/{PROTECTED}").json() == head


def test_a_protected_branch_changes_by_merging_and_by_reverting(api: httpx.Client, base: str) -> None:
    api.post(f"{base}/branches/main/objects", params={"path": "c"}, content=b"1")
    api.post(f"{base}/branches/main/commits", json={"message": "c"})
    assert api.post(f"{base}/refs/main/merge/{PROTECTED}", json={}).status_code == 200
    assert api.head(f"{base}/refs/{PROTECTED}/objects", params={"path": "c"}).status_code == 200
    assert api.post(f"{base}/branches/{PROTECTED}/revert", json={"ref": "main"}).status_code == 204
    assert api.head(f"{base}/refs/{PROTECTED}/objects", params={"path": "c"}).status_code == 404


def test_other_branches_are_not_protected_and_rules_can_be_taken_back(api: httpx.Client, base: str) -> None:
    url = f"{base}/branches/release-10/objects"
    assert api.post(f"{base}/branches", json={"name": "release-10", "source": "main"}).status_code == 201
    assert api.post(url, params={"path": "x"}, content=b"1").status_code == 201
    assert api.put(f"{base}/settings/branch_protection", json=[]).status_code == 204
    at = f"{base}/branches/{PROTECTED}/objects"
    assert api.post(at, params={"path": "x"}, content=b"1").status_code == 201


def test_nothing_is_written_to_a_protected_branch_over_s3(
    server: Headwater, api: httpx.Client, base: str, repository: str
) -> None:
    before = api.get(f"{base}/refs/{PROTECTED}/objects/ls").json()["results"]
    with closing(client_of(server)) as s3:
        at = {"Bucket": repository, "Key": f"{PROTECTED}/a"}
        writes: list[Callable[[], object]] = [
            lambda: s3.put_object(**at, Body=b"2"),
            lambda: s3.delete_object(**at),
            lambda: s3.copy_object(**at, CopySource=f"{repository}/main/b"),
            lambda: s3.create_multipart_upload(**at),
        ]
        for write in writes:
            with refused("AccessDenied", 403):
                write()
        gone = s3.delete_objects(Bucket=repository, Delete={"Objects": [{"Key": at["Key"]}]})
        assert [error["Code"] for error in gone["Errors"]] == ["AccessDenied"]
    assert api.get(f"{base}/refs/{PROTECTED}/objects/ls").json()["results"] == before
