"""Repositories, branches, tags, and what was done to them."""

from __future__ import annotations

import json
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tests.cli.conftest import Lake, names


def test_a_repository_is_made_shown_listed_and_forgotten(lake: Lake) -> None:
    made = lake.document("repo", "create", "hw://rivers", "--default-branch", "trunk", "--metadata", "owner=ada=b")
    assert (made["name"], made["default_branch"], made["metadata"]) == ("rivers", "trunk", {"owner": "ada=b"})
    assert lake.document("repo", "show", "rivers") == made
    assert "rivers" in names(lake.documents("repo", "list"))
    assert names(lake.documents("repo", "list", "riv")) == ["rivers"]
    assert "already" in lake.failed(4, "repo", "create", "rivers")
    assert lake.run("repo", "delete", "rivers", given="n\n").exit_code == 130
    lake.done("repo", "delete", "rivers", "--yes")
    assert "rivers" in lake.failed(3, "repo", "show", "rivers")


def test_a_branch_begins_where_it_is_told_to(lake: Lake) -> None:
    first = lake.commit({"a": "1"})
    lake.commit({"a": "2"})
    repository = lake.repository
    assert lake.document("branch", "create", f"{repository}/old", "--from", "main~1")["commit"]["id"] == first
    lake.done("branch", "create", f"hw://{repository}/feature%2Fx", "--from", f"{repository}/main")
    assert names(lake.documents("branch", "list", repository)) == ["feature/x", "main", "old"]
    assert names(lake.documents("branch", "list", repository, "fea", "--long")) == ["feature/x"]
    assert lake.document("branch", "show", f"{repository}/feature%2Fx")["commit"]["message"] == "files"
    lake.failed(4, "branch", "create", f"{repository}/old")
    lake.failed(3, "branch", "create", f"{repository}/new", "--from", "nothing-such")


def test_deleting_a_branch_asks_if_something_would_be_lost_and_can_be_undone(lake: Lake) -> None:
    place = f"{lake.repository}/dev"
    lake.done("branch", "create", place)
    lake.put("a", "1", branch="dev")
    assert lake.run("branch", "delete", place, given="n\n").exit_code == 130
    assert "dev" in names(lake.documents("branch", "list", lake.repository))
    lake.done("branch", "delete", place, "--yes")
    lake.failed(3, "branch", "show", place)
    (change, *_) = lake.documents("ref-log", lake.repository)
    assert (change["action"], change["kind"], change["name"]) == ("delete", "branch", "dev")
    lake.done("undo", lake.repository, change["id"])
    lake.done("branch", "show", place)
    lake.done("branch", "delete", place)
    assert len(lake.documents("ref-log", lake.repository, "-n", "2")) == 2


def test_a_tag_stays_where_it_is(lake: Lake) -> None:
    first = lake.commit({"a": "1"})
    tag = f"{lake.repository}/v1"
    made = lake.document("tag", "create", tag, "--from", "main", "-m", "the first", "--metadata", "k=v")
    assert (made["commit"], made["message"], made["metadata"]) == (first, "the first", {"k": "v"})
    lake.commit({"a": "2"})
    assert lake.document("tag", "show", tag)["commit"] == first
    assert lake.cat("a", ref="v1") == b"1"
    assert names(lake.documents("tag", "list", lake.repository)) == ["v1"]
    lake.failed(4, "tag", "create", tag)
    lake.done("tag", "delete", tag)
    assert "v1" in lake.failed(3, "tag", "show", tag)


def test_what_is_piped_has_a_line_for_each_and_tabs_between(lake: Lake) -> None:
    lake.commit({"a": "1"}, "one\ttab\nand a second line")
    (line, _) = lake.done("log", lake.main).splitlines()
    assert line.split("\t")[3] == "one\\ttab"
    shown = lake.done("branch", "show", lake.main).splitlines()
    assert dict(each.split("\t") for each in shown)["name"] == "main"


def test_a_place_that_cannot_be_meant_is_told_before_anything_is_done(lake: Lake) -> None:
    assert "write REPO/BRANCH" in lake.failed(2, "commit", lake.repository, "-m", "x")
    assert "which is not for this" in lake.failed(2, "repo", "show", lake.main)
    assert "another repository" in lake.failed(2, "diff", lake.main, "other/main")
    lake.failed(2, "diff", lake.main, f"{lake.repository}/main/a")
    lake.failed(2, "branch", "list", lake.repository, "--metadata", "x")
    lake.failed(2, "tag", "create", f"{lake.repository}/t", "--metadata", "x")
    lake.failed(2, "log", f"{lake.repository}/main~x")
    lake.failed(3, "log", "nothing-such/main")
    assert json.loads(lake.done("--json", "branch", "show", lake.main))["name"] == "main"


def test_tags_and_commits_are_signed_by_keys_of_ssh_and_verified(lake: Lake, tmp_path: Path) -> None:
    for name in ("ours", "theirs"):
        key = Ed25519PrivateKey.generate()
        private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
        (tmp_path / name).write_bytes(private)
        (tmp_path / f"{name}.pub").write_bytes(key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH))
    lake.commit({"a": "1"})
    signed, plain = f"{lake.repository}/signed", f"{lake.repository}/plain"
    lake.done("tag", "create", signed, "--sign", tmp_path / "ours")
    lake.done("tag", "create", plain)
    assert lake.document("tag", "verify", signed, "--trust", tmp_path / "ours.pub")["verdict"] == "good"
    for tag, trusted, verdict in ((signed, "theirs.pub", "not among"), (plain, "ours.pub", "not signed")):
        looked = lake.run("tag", "verify", tag, "--trust", tmp_path / trusted)
        assert (looked.exit_code, verdict in looked.stdout) == (1, True)
    lake.failed(2, "tag", "create", f"{lake.repository}/x", "--sign", tmp_path / "ours.pub")
    head = lake.document("show", lake.main)["commit"]["id"]
    assert lake.run("verify", lake.main, "--trust", tmp_path / "ours.pub").exit_code == 1
    assert lake.document("sign", lake.main, "--key", tmp_path / "theirs") == {"commit": head}
    lake.done("sign", lake.main, "--key", tmp_path / "ours")
    assert lake.document("verify", f"{lake.repository}/{head}", "--trust", tmp_path / "ours.pub")["verdict"] == "good"
    lake.failed(2, "tag", "verify", signed, "--trust", tmp_path / "ours")
