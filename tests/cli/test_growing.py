"""Files that grow, commits in progress, and what is found by patterns."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Lake


@pytest.fixture
def events(lake: Lake) -> Lake:
    """A lake with an append repository."""
    lake.repository += "-events"
    lake.main = f"{lake.repository}/main"
    assert lake.document("repo", "create", lake.repository, "--append")["mode"] == "append"
    return lake


def test_what_a_range_of_commits_added_is_read(events: Lake, tmp_path: Path) -> None:
    clicks = f"{events.main}/2026/clicks.json"
    (tmp_path / "more").write_text("bar")
    events.done("append", clicks, given="foo")
    first = events.document("commit", events.main, "-m", "foo")["id"]
    events.done("append", clicks, tmp_path / "more")
    events.done("commit", events.main, "-m", "bar")
    events.done("append", clicks, given="buzz")
    assert events.done("cat", clicks) == "foobarbuzz"
    assert events.done("cat", clicks, "--since", first) == "barbuzz"
    assert events.done("fs", "cat", clicks, "--since", first[:12], "--until", f"{events.repository}/main@") == "bar"
    assert events.done("cat", clicks, "--until", first) == "foo"
    events.failed(3, "cat", clicks, "--since", "nothing-such")
    assert [commit["message"] for commit in events.documents("history", clicks)] == ["bar", "foo"]


def test_a_repeated_append_counts_once(events: Lake) -> None:
    log = f"{events.main}/log"
    made = events.document("append", log, given="once\n")
    assert (made["path"], made["size"]) == ("log", 5)
    events.done("append", log, "--id", made["id"], "--again", given="once\n")
    assert events.done("cat", log) == "once\n"
    events.failed(2, "append", log, "--again", given="x")
    events.failed(2, "append", log, "--id", "not-an-id", given="x")


def test_nothing_grows_in_a_repository_of_objects(lake: Lake) -> None:
    assert "append" in lake.failed(4, "append", f"{lake.main}/a", given="x")


def test_what_both_appended_is_merged_on_request(events: Lake) -> None:
    log, dev = f"{events.main}/log", f"{events.repository}/dev"
    events.done("append", log, given="1")
    events.done("commit", events.main, "-m", "1")
    events.done("branch", "create", dev)
    for place, text in ((log, "2"), (f"{dev}/log", "3")):
        events.done("append", place, given=text)
        events.done("commit", place.removesuffix("/log"), "-m", text)
    events.failed(4, "merge", dev, "main")
    events.done("merge", dev, "main", "--merge-appends", "ours-then-theirs")
    assert events.done("cat", log) == "123"


def test_a_commit_in_progress_is_seen_by_nobody_until_it_is_finished(events: Lake) -> None:
    events.done("append", f"{events.main}/old", given="old")
    events.done("commit", events.main, "-m", "old")
    begun = events.done("progress", "start", events.main).strip()
    assert events.documents("progress", "list", events.repository) == [{"id": begun, "branch": "main"}]
    events.done("progress", "append", events.repository, begun, "new", given="new")
    events.done("progress", "delete", events.repository, begun, "old")
    assert events.paths() == ["old"]
    finished = events.document("progress", "finish", events.repository, begun, "-m", "in one")
    assert finished["message"] == "in one"
    assert events.paths() == ["new"]
    assert events.documents("progress", "list", events.repository) == []
    events.failed(3, "progress", "finish", events.repository, begun, "-m", "again")
    dropped = events.document("progress", "start", events.main, "--parent", "main~1")["id"]
    events.done("progress", "drop", events.repository, dropped)
    events.failed(3, "progress", "append", events.repository, dropped, "x", given="x")


def test_files_are_found_by_patterns(lake: Lake) -> None:
    for path in ("2026-10/eu/a.json", "2026-11/eu/b.json", "2026-11/eu/b.csv", "2026-11/us/c.json"):
        lake.put(path, "1")
    found = lake.documents("glob", f"{lake.main}/2026-1[01]/eu/*.json")
    assert [entry["path"] for entry in found] == ["2026-10/eu/a.json", "2026-11/eu/b.json"]
    assert [entry["path"] for entry in lake.documents("glob", f"{lake.main}/**/c.json")] == ["2026-11/us/c.json"]
    lake.failed(2, "glob", f"{lake.main}/[a")


def test_directories_are_shown_with_what_they_amount_to(lake: Lake) -> None:
    for path in ("raw/a", "raw/deep/b", "z"):
        lake.put(path, "12")
    listed = lake.documents("ls", "--totals", lake.main)
    assert [(each["path"], each["size"], each.get("count")) for each in listed] == [("raw/", 4, 2), ("z", 2, None)]
