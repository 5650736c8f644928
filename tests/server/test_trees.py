"""Trees that were written to the storage, and a server that is asked to commit them."""

from __future__ import annotations

import secrets
import time
from base64 import b64decode
from pathlib import Path
from typing import Any

import httpx
import pytest

from dev.servers.headwater import Headwater
from headwater.blob.namespace import segment_name, tree_name
from headwater.engine.errors import UnfitTree
from headwater.index import Block, Entry
from headwater.index.delta import decode_inherited
from headwater.index.schema import SCHEMA, batch_of_edits
from headwater.index.segment import make_segment
from headwater.index.tree import NO_TREE, Stripe
from headwater.sdk.wire.errors import kind_of

MAY_PROPOSE = (
    "fs:CreateMetaRange",
    "fs:CreateCommit",
    "fs:ReadObject",
    "fs:WriteObject",
    "fs:DeleteObject",
    "fs:ImportFromStorage",
)


@pytest.fixture
def storage(server: Headwater, api: httpx.Client, repository: str) -> Path:
    """Where the objects of the repository are."""
    told: str = api.get(f"/repositories/{repository}").json()["storage_namespace"]
    return server.data / "objects" / told.removeprefix("local://")


def written(storage: Path, address: str) -> str:
    """The name of a tree of one entry."""
    entry = Entry("f/a/b", blocks=(Block(address, 0, 3),), size=3, checksum="abc", modified=1)
    segment = make_segment(batch_of_edits({entry.key: entry}).select(SCHEMA.names))
    tree = NO_TREE.with_stripes([Stripe(segment.id, segment.first, segment.last, 1, len(segment.file))])
    for name, content in ((segment_name(segment.id), segment.file), (tree_name(tree.id), tree.encode())):
        file = storage / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return tree.id


def outcome(api: httpx.Client, repository: str, **told: Any) -> dict[str, Any]:
    """How the proposal ended that is *told*."""
    url = f"/repositories/{repository}/branches/main/trees"
    begun = api.post(url, json={"message": "a tree", "base": "main", **told})
    assert begun.status_code == 202, begun.text
    until = time.monotonic() + 60
    while time.monotonic() < until:
        status: dict[str, Any] = api.get(url, params=begun.json()).json()
        if status["completed"] or "error" in status:
            return status
    raise AssertionError("it took a minute")


def test_a_tree_that_was_written_is_committed(api: httpx.Client, repository: str, storage: Path) -> None:
    tree = written(storage, "s3://bucket/a")
    done = outcome(api, repository, tree=tree, metadata={"job": "7"})
    assert (done["completed"], done["ingested_objects"]) == (True, 1)
    head = api.get(f"/repositories/{repository}/commits/main").json()
    assert (head["id"], head["meta_range_id"]) == (done["commit"]["id"], tree)
    assert (head["message"], head["metadata"], head["committer"]) == ("a tree", {"job": "7"}, "admin")
    stat = api.get(f"/repositories/{repository}/refs/main/objects/stat", params={"path": "a/b"}).json()
    assert (stat["physical_address"], stat["size_bytes"]) == ("s3://bucket/a", 3)


def test_what_a_commit_is_made_of_is_told(api: httpx.Client, repository: str, storage: Path) -> None:
    tree = written(storage, "s3://bucket/a")
    outcome(api, repository, tree=tree)
    url = f"/repositories/{repository}"
    api.post(f"{url}/branches/main/objects", params={"path": "later"}, content=b"1").raise_for_status()
    made = api.post(f"{url}/branches/main/commits", json={"message": "later"}).json()
    api.post(f"{url}/branches/main/objects", params={"path": "staged"}, content=b"1").raise_for_status()
    told = api.get(f"{url}/refs/main/index").json()
    assert (told["commit"], told["tree"]) == (made["id"], tree)
    assert list(decode_inherited(b64decode(told["delta"]), of="an answer")) == ["f/later"]


@pytest.mark.parametrize("address", ["file:///etc/passwd", "mem://x/y", "s3://bucket?endpoint=elsewhere/x"])
def test_nothing_is_committed_from_where_the_operator_does_not_let_it(
    api: httpx.Client, repository: str, storage: Path, address: str
) -> None:
    before = api.get(f"/repositories/{repository}/commits/main").json()
    failed = outcome(api, repository, tree=written(storage, address))
    assert failed["error"]["message"]
    assert not failed["completed"]
    assert api.get(f"/repositories/{repository}/commits/main").json() == before


def test_a_tree_that_is_none_is_told_of(api: httpx.Client, repository: str, storage: Path) -> None:
    tree = written(storage, "s3://bucket/a")
    for told in ({"tree": "ab" * 32}, {"tree": "../../secret"}, {"tree": tree, "relocated": True}):
        failed = outcome(api, repository, **told)
        assert failed["error"]["kind"] == kind_of(UnfitTree)


@pytest.mark.parametrize("missing", MAY_PROPOSE)
def test_each_permission_is_needed(server: Headwater, api: httpx.Client, repository: str, missing: str) -> None:
    name = f"somebody-{secrets.token_hex(4)}"
    api.post("/auth/users", json={"id": name}).raise_for_status()
    actions = ["fs:ReadRepository", *(action for action in MAY_PROPOSE if action != missing)]
    policy = {"id": name, "statement": [{"effect": "allow", "action": actions, "resource": "*"}]}
    api.post("/auth/policies", json=policy).raise_for_status()
    api.put(f"/auth/users/{name}/policies/{name}").raise_for_status()
    keys = api.post(f"/auth/users/{name}/credentials").json()
    login = keys["access_key_id"], keys["secret_access_key"]
    url = f"{server.api}/repositories/{repository}/branches/main/trees"
    refused = httpx.post(url, auth=login, json={"message": "a tree", "base": "main"})
    assert refused.status_code == 403
    assert missing in refused.json()["message"]


def test_a_protected_branch_takes_no_tree(api: httpx.Client, repository: str) -> None:
    rules = [{"pattern": "main", "blocked_actions": ["commit"]}]
    api.put(f"/repositories/{repository}/settings/branch_protection", json=rules).raise_for_status()
    refused = api.post(f"/repositories/{repository}/branches/main/trees", json={"message": "a tree", "base": "main"})
    assert refused.status_code == 403
