"""Users, groups, policies and credentials: of a server by its API, of a directory by its store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dev.servers.headwater import Headwater
from tests.cli.conftest import Hw, Lake, of_server

READERS = [{"effect": "allow", "action": ["fs:Read*", "fs:List*"], "resource": "*"}]


@pytest.fixture
def people(lake: Lake, request: pytest.FixtureRequest) -> Lake:
    """A lake that has an administrator."""
    if "remote" not in request.node.name:
        lake.done("auth", "setup", "admin")
    return lake


def test_a_user_may_do_what_the_policies_of_its_groups_say(people: Lake, tmp_path: Path) -> None:
    file = tmp_path / "readers.json"
    file.write_text(json.dumps(READERS))
    people.done("auth", "user", "create", "bob")
    assert (
        people.document("auth", "group", "create", "readers", "--description", "who read")["description"] == "who read"
    )
    assert people.document("auth", "policy", "create", "reading", file)["statement"] == READERS
    people.done("auth", "policy", "attach", "reading", "--group", "readers")
    people.done("auth", "group", "add", "readers", "bob")
    bob = people.document("auth", "user", "show", "bob")
    assert (bob["groups"], bob["policies"]) == (["readers"], ["reading"])
    readers = people.document("auth", "group", "show", "readers")
    assert (readers["members"], readers["policies"]) == (["bob"], ["reading"])
    assert {"bob"} < {user["id"] for user in people.documents("auth", "user", "list")}
    assert {"readers", "Admins"} <= {group["id"] for group in people.documents("auth", "group", "list")}
    assert "reading" in people.done("auth", "policy", "list")
    people.done("auth", "policy", "update", "reading", "-", given=json.dumps({"statement": READERS * 2}))
    assert len(people.document("auth", "policy", "show", "reading")["statement"]) == 2
    people.done("auth", "policy", "attach", "reading", "--user", "bob")
    people.done("auth", "policy", "detach", "reading", "--user", "bob")
    people.done("auth", "policy", "detach", "reading", "--group", "readers")
    people.done("auth", "group", "remove", "readers", "bob")
    for kind, name in (("policy", "reading"), ("group", "readers"), ("user", "bob")):
        assert people.run("auth", kind, "delete", name, given="n\n").exit_code == 130
        people.done("auth", kind, "delete", name, "--yes")
        people.failed(3, "auth", kind, "show", name)


def test_a_secret_is_shown_once(people: Lake) -> None:
    people.done("auth", "user", "create", "carol")
    made = people.document("auth", "credential", "create", "carol")
    assert made["secret_access_key"]
    (listed,) = people.documents("auth", "credential", "list", "carol")
    assert (listed["access_key_id"], "secret_access_key" in listed) == (made["access_key_id"], False)
    people.done("auth", "credential", "delete", "carol", made["access_key_id"])
    assert people.documents("auth", "credential", "list", "carol") == []
    people.done("auth", "user", "delete", "carol", "-y")


def test_what_makes_no_sense_is_told(people: Lake) -> None:
    people.failed(2, "auth", "policy", "create", "bad", "-", given="[]")
    people.failed(2, "auth", "policy", "create", "bad", "-", given="{")
    people.failed(2, "auth", "policy", "attach", "x")
    people.failed(3, "auth", "group", "add", "Admins", "nobody")
    people.failed(4, "auth", "group", "create", "Admins")


def test_who_asks_is_known_to_a_server(hw: Hw, server: Headwater, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in of_server(server).items():
        monkeypatch.setenv(name, value)
    assert hw("auth", "whoami").stdout == "ada\n"
    monkeypatch.setenv("HEADWATER_SECRET_ACCESS_KEY", "wrong")
    denied = hw("repo", "list")
    assert (denied.exit_code, "wrong" in denied.stderr) == (6, False)
    monkeypatch.delenv("HEADWATER_SECRET_ACCESS_KEY")
    assert "HEADWATER_SECRET_ACCESS_KEY" in hw("repo", "list").stderr
    monkeypatch.setenv("HEADWATER_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HEADWATER_SECRET_ACCESS_KEY", "wrong")
    assert hw("auth", "whoami").exit_code == 7


def test_a_lake_without_users_is_asked_by_nobody(hw: Hw, tmp_path: Path) -> None:
    assert "--endpoint" in hw("--lake", tmp_path, "auth", "whoami").stderr
    assert hw("auth", "user", "list").exit_code == 2
