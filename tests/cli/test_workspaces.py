"""`hw ws` and `hw ingest`: what is written past Headwater, and committed where it lies."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.blob.pretender import pretending
from tests.cli.conftest import Hw, Lake, embedded


@pytest.fixture
def place(lake: Lake) -> str:
    """A workspace on a branch with a file."""
    lake.commit({"kept": "kept", "out/old": "old"})
    begun = lake.document("ws", "new", lake.main)
    assert begun["place"] == f"{lake.main}+{begun['id']}"
    return str(begun["place"])


def paths(lake: Lake, *arguments: str) -> list[str]:
    return [each["path"] for each in lake.documents(*arguments)]


def test_a_workspace_from_beginning_to_end(lake: Lake, place: str) -> None:
    for path in ("out/a.parquet", "out/tmp", "note"):
        lake.done("fs", "upload", "-", f"{place}/{path}", given=path)
    assert paths(lake, "ws", "ls", place) == ["kept", "note", "out"] or paths(lake, "ws", "ls", place)[:2] == [
        "kept",
        "note",
    ]
    assert paths(lake, "ws", "ls", "-r", f"{place}/out/") == ["out/a.parquet", "out/old", "out/tmp"]
    lake.done("ws", "remove", place, "out/old")
    changes = {each["path"]: each["type"] for each in lake.documents("ws", "diff", place)}
    assert changes == {"note": "added", "out/a.parquet": "added", "out/old": "removed", "out/tmp": "added"}
    part = lake.document("ws", "add", place, "**/*.parquet", "-m", "a part")
    assert lake.paths() == ["kept", "out/a.parquet", "out/old"]
    assert lake.document("ws", "revert", place, "out/tmp", "-y") == {"count": 1}
    made = lake.document("ws", "commit", place, "-m", "the rest", "--metadata", "job=7")
    assert (made["parents"], made["metadata"]["job"]) == ([part["id"]], "7")
    assert lake.paths() == ["kept", "note", "out/a.parquet"]
    assert made["id"] in lake.failed(4, "ws", "diff", place)


def test_what_cannot_be_meant_is_told(lake: Lake, place: str) -> None:
    lake.failed(2, "ws", "diff", lake.main)
    lake.failed(2, "ws", "diff", f"{lake.main}+nonsense")
    lake.failed(5, "ws", "commit", place, "-m", "nothing")
    lake.failed(2, "ws", "iam", lake.repository, "--allow", "write", "a/**", "--principal", "*")
    lake.failed(2, "ws", "lifecycle", lake.repository, "--expire", "soon", "--path", "a")
    lake.done("ws", "discard", place, "-y")
    lake.failed(4, "ws", "commit", place, "-m", "closed")


def test_any_tool_writes_at_the_path_of_a_workspace(hw: Hw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = Lake(hw, embedded(tmp_path / "lake"), monkeypatch)
    place = lake.document("ws", "new", lake.main)["place"]
    outside = Path(lake.done("ws", "path", f"{place}/out/a").strip().removeprefix("file://"))
    outside.parent.mkdir(parents=True)
    outside.write_text("from outside")
    lake.done("ws", "commit", place, "-m", "from outside")
    assert lake.cat("out/a") == b"from outside"


def test_a_bucket_is_told_what_expires_and_who_may_write(
    hw: Hw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake(hw, embedded(tmp_path / "lake"), monkeypatch)
    lake.done(
        "repo", "create", "events", "--namespace", "s3://lakehouse/events?region=us-east-1&endpoint=http://127.0.0.1:1"
    )
    rules = json.loads(lake.done("ws", "lifecycle", "events", "--expire", "30d", "--path", "a/b"))
    (rule,) = rules["Rules"]
    assert rule["Filter"]["And"] == {
        "Prefix": "events/workspaces/",
        "Tags": [{"Key": "path.0", "Value": "a"}, {"Key": "path.1", "Value": "b"}],
    }
    assert rule["Expiration"] == {"Days": 30}
    policy = json.loads(
        lake.done("ws", "iam", "events", "--allow", "write", "a/**", "--principal", "arn:aws:iam::1:role/x")
    )
    (statement,) = policy["Statement"]
    assert statement["Principal"] == {"AWS": "arn:aws:iam::1:role/x"}
    assert "s3:PutObject" in statement["Action"]
    objects, tombstones = statement["Resource"]
    assert objects.startswith("arn:aws:s3:::lakehouse/events/workspaces/????????????-????????-?")
    assert objects.endswith("/a/*")
    assert tombstones.endswith(".gone/a/*")
    lake.failed(2, "ws", "iam", "events", "--allow", "write", "a/*.csv", "--principal", "*")
    lake.failed(2, "ws", "lifecycle", "events", "--expire", "30d", "--path", "a/[b]")


def test_a_rule_is_set_beside_those_that_the_bucket_has(
    hw: Hw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "k")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    lake = Lake(hw, embedded(tmp_path / "lake"), monkeypatch)
    with pretending() as bucket:
        for name in ("events", "sales"):
            root = bucket.uri.replace("/lake?", f"/{name}?")
            lake.done("repo", "create", name, "--namespace", root)
        asked = ("--expire", "30d", "--path", "a/b", "--set", "--yes")
        set_first = lake.document("ws", "lifecycle", "events", *asked)
        assert (set_first["done"], set_first["others"]) == ("added", 0)
        set_second = lake.document("ws", "lifecycle", "sales", *asked)
        assert (set_second["done"], set_second["others"]) == ("added", 1)
        again = lake.document("ws", "lifecycle", "events", "--expire", "7d", "--path", "/a/b/", "--set", "--yes")
        assert again == {"id": set_first["id"], "done": "replaced", "others": 1}
        before = bucket.rules
        assert before is not None
        assert ("<Days>7</Days>" in before, "sales/workspaces/" in before) == (True, True)
        lake.failed(130, "ws", "lifecycle", "events", "--expire", "1d", "--path", "a", "--set", given="n\n")
        lake.done("ws", "lifecycle", "events", "--expire", "1d", "--path", "a")
        assert bucket.rules == before
    lake.done("repo", "create", "local")
    lake.failed(2, "ws", "lifecycle", "local", *asked)


def test_a_place_that_others_fill_is_followed(lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("kafka")
    (place / "2026").mkdir()
    for name in ("a", "b", "c"):
        (place / "2026" / name).write_text(name)
    source, target = f"file://{quote(str(place))}/2026/", f"hw://{lake.main}/kafka/2026/"
    lake.commit({"kafka/2026-10": "not below", "other": "elsewhere"})
    between = ("--from", source, "--to", target)
    assert paths(lake, "ingest", "diff", *between) == ["kafka/2026/a", "kafka/2026/b", "kafka/2026/c"]
    lake.done("ingest", "commit", *between, "-m", "the first")
    assert lake.cat("kafka/2026/b") == b"b"
    lake.failed(5, "ingest", "commit", *between, "-m", "nothing new")
    (place / "2026" / "a").unlink()
    (place / "2026" / "b").write_text("bb")
    (place / "2026" / "d").write_text("d")
    found = {each["path"]: each["type"] for each in lake.documents("ingest", "diff", *between)}
    assert found == {"kafka/2026/a": "removed", "kafka/2026/b": "changed", "kafka/2026/d": "added"}
    never_rewritten = {each["path"] for each in lake.documents("ingest", "diff", *between, "--immutable")}
    assert never_rewritten == {"kafka/2026/a", "kafka/2026/d"}
    lake.done("ingest", "commit", *between, "-m", "the second")
    assert lake.paths() == ["kafka/2026-10", "kafka/2026/b", "kafka/2026/c", "kafka/2026/d", "other"]
