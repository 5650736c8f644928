"""Files that grow, through the face that waits: the examples of the page on them."""

from __future__ import annotations

from pathlib import Path

import pytest

import headwater
from headwater.files.directories import Directory
from headwater.sdk.results import Entry
from headwater.sdk.sync import Branch, Lake, Repository


@pytest.fixture
def events(lake: Lake) -> Repository:
    return lake.create_repo("events", mode="append")


@pytest.fixture
def stream(events: Repository) -> Branch:
    return events.branch("main")


def added(repo: Repository, path: str, **bounds: object) -> bytes:
    return b"".join(repo.read_file(path, **bounds))  # type: ignore[arg-type]  # as they are given


def test_what_a_range_of_commits_added_is_read_and_nothing_else(events: Repository, stream: Branch) -> None:
    assert events.mode == "append"
    stream.append("clicks.json", b"one\n")
    first = stream.commit("until noon")
    stream.append("clicks.json", iter([b"t", b"wo\n"]))
    second = stream.commit("until six")
    stream.append("clicks.json", b"staged\n")
    assert added(events, "clicks.json", since=first, until=second) == b"two\n"
    assert added(events, "clicks.json", since=first) == b"two\nstaged\n"
    assert added(events, "clicks.json", until=second) == b"one\ntwo\n"
    assert stream.get("clicks.json", start=4, end=8) == b"two\n"
    with pytest.raises(headwater.NotAnAncestor):
        added(events, "clicks.json", since=second, until=first)


def test_an_append_that_is_made_again_counts_once(events: Repository, stream: Branch) -> None:
    kept = events.new_append_id()
    receipt = stream.append("log", b"once", id=kept)
    stream.commit("first")
    stream.append("log", b"once", id=receipt.id, again=True)
    assert (receipt.id, receipt.size) == (kept, 4)
    assert stream.get("log") == b"once"


def test_a_commit_in_progress_is_seen_by_nobody_until_it_is_finished(events: Repository, stream: Branch) -> None:
    stream.append("a", b"1")
    stream.commit("first")
    with events.start_commit("main", "gathered") as gathered:
        gathered.append("a", b"2")
        gathered.put("b", b"3")
        resumed = events.commit_in_progress(gathered.id)
        resumed.append("a", b"4")
        assert [each.id for each in events.commits_in_progress()] == [gathered.id]
        assert (gathered.branch, gathered.get("a"), stream.get("a")) == ("main", b"124", b"1")
    assert (stream.head().message, stream.get("a"), stream.get("b")) == ("gathered", b"124", b"3")
    assert events.commits_in_progress() == []


def test_a_commit_in_progress_is_dropped_after_an_error(events: Repository, stream: Branch) -> None:
    before = stream.head()
    with pytest.raises(ZeroDivisionError), events.start_commit("main") as gathered:
        gathered.append("a", b"%d" % (1 // 0))
    assert stream.head() == before
    with pytest.raises(headwater.NoSuchCommitInProgress):
        gathered.finish()


def test_directories_patterns_and_walks(stream: Branch) -> None:
    for path in ("2026-10/eu/a.json", "2026-11/eu/a.json", "2026-11/us/b.json", "2026-11/note", "top"):
        stream.append(path, b"12345")
    assert [child.path for child in stream.list_dir()] == ["2026-10", "2026-11", "top"]
    found = list(stream.list_dir("2026-11", totals=True))
    assert found[0] == Directory("2026-11/eu", 5, 1)
    assert [type(child) for child in found] == [Directory, Entry, Directory]
    assert [entry.path for entry in stream.glob("**/2026-*/*.json")] == []
    assert [entry.path for entry in stream.glob("2026-11/*/*.json")] == ["2026-11/eu/a.json", "2026-11/us/b.json"]
    assert [(each.path, len(each.files)) for each in stream.walk("2026-11")] == [
        ("2026-11", 1),
        ("2026-11/eu", 1),
        ("2026-11/us", 1),
    ]


def test_packing_changes_no_content_and_no_range(events: Repository, stream: Branch) -> None:
    commits = []
    for number in range(30):
        stream.append("log", b"%02d" % number)
        commits.append(stream.commit(f"{number}"))
    before = stream.stat("log")
    packed = stream.pack("log")
    after = stream.stat("log")
    assert (after.size, after.checksum) == (before.size, before.checksum)
    assert list(events.diff(commits[-1], packed)) == []
    assert added(events, "log", since=commits[26]) == b"272829"
    with pytest.raises(headwater.NothingToCommit):
        stream.pack("log")


def test_the_history_of_a_path_and_who_came_before_whom(events: Repository, stream: Branch) -> None:
    commits = []
    for number in range(6):
        stream.append("even" if number % 2 == 0 else "odd", b"x")
        commits.append(stream.commit(f"{number}"))
    assert [commit.message for commit in events.history("even")] == ["4", "2", "0"]
    assert [commit.message for commit in events.commits(commits[1], "main")] == ["5", "4", "3", "2"]
    assert events.is_ancestor(commits[0], "main")
    assert not events.is_ancestor("main", commits[0])


def test_both_sides_appending_is_a_conflict_unless_asked_for(events: Repository, stream: Branch) -> None:
    stream.append("log", b"0")
    stream.commit("first")
    dev = events.create_branch("dev", stream)
    for branch, text in ((dev, b"theirs"), (stream, b"ours")):
        branch.append("log", text)
        branch.commit("more")
    with pytest.raises(headwater.MergeConflict):
        dev.merge_into("main")
    dev.merge_into("main", merge_appends="ours-then-theirs")
    assert stream.get("log") == b"0ourstheirs"


def test_what_cannot_be_is_refused(repo: Repository, stream: Branch) -> None:
    with pytest.raises(headwater.NotAppendable, match="mode='append'"):
        repo.branch("main").append("a", b"x")
    stream.append("a", b"x")
    stream.append("a/b", b"x")
    with pytest.raises(headwater.PathConflict, match="directory"):
        stream.commit("both")


def test_a_lake_that_is_opened_again_goes_on_where_it_was(tmp_path: Path) -> None:
    with headwater.open(tmp_path, durability="os") as lake:
        repo = lake.create_repo("events", mode="append")
        repo.branch("main").append("log", b"1")
        begun = repo.start_commit("main")
        begun.append("log", b"2")
    with headwater.open(tmp_path, durability="os") as lake:
        repo = lake.repo("events")
        repo.commit_in_progress(begun.id).finish("second")
        assert repo.branch("main@").get("log") == b"2"
        assert repo.branch("main").get("log") == b"21"
