"""Commits, and what is done with them."""

from __future__ import annotations

from tests.cli.conftest import Lake


def messages(lake: Lake, *arguments: str) -> list[str]:
    return [commit["message"] for commit in lake.documents("log", *arguments)]


def test_what_is_staged_shows_in_a_diff_until_it_is_committed(lake: Lake) -> None:
    lake.commit({"raw/a": "1", "raw/b": "1"})
    lake.put("raw/a", "2")
    lake.put("raw/c", "1")
    lake.done("fs", "rm", f"{lake.main}/raw/b")
    changes = lake.documents("diff", lake.main)
    assert [(change["path"], change["type"]) for change in changes] == [
        ("raw/a", "changed"),
        ("raw/b", "removed"),
        ("raw/c", "added"),
    ]
    assert (changes[0]["left"]["size"], changes[1]["right"]) == (1, None)
    assert [change["path"] for change in lake.documents("diff", f"{lake.main}/raw/c")] == ["raw/c"]
    made = lake.document("commit", lake.main, "-m", "second", "--metadata", "job=42")
    assert (made["message"], made["metadata"], len(made["parents"])) == ("second", {"job": "42"}, 1)
    assert lake.documents("diff", lake.main) == []
    lake.failed(5, "commit", lake.main, "-m", "third")
    lake.done("commit", lake.main, "-m", "third", "--allow-empty")
    lake.failed(2, "commit", lake.main)


def test_a_log_is_of_a_reference_or_of_a_path(lake: Lake) -> None:
    lake.commit({"raw/a": "1"}, "one")
    lake.commit({"raw/b": "1"}, "two")
    lake.commit({"other": "1"}, "three")
    assert messages(lake, lake.main)[:3] == ["three", "two", "one"]
    assert messages(lake, lake.main, "-n", "1") == ["three"]
    assert messages(lake, f"{lake.main}/raw/a") == ["one"]
    assert messages(lake, f"{lake.main}/raw/") == ["two", "one"]
    assert messages(lake, f"{lake.main}~1", "--until", "2999-01-01")[:1] == ["two"]
    assert messages(lake, lake.main, "--since", "2999-01-01") == []
    lake.failed(2, "log", lake.main, "--since", "soon")


def test_a_commit_is_shown_with_what_it_changed(lake: Lake) -> None:
    lake.commit({"a": "1"}, "one")
    shown = lake.document("show", lake.main)
    assert shown["commit"]["message"] == "one"
    assert [(change["path"], change["type"]) for change in shown["changes"]] == [("a", "added")]
    assert "added\ta" in lake.done("show", lake.main)
    assert lake.document("show", f"{lake.main}~1")["changes"] == []


def test_a_diff_of_two_references_goes_from_left_to_right(lake: Lake) -> None:
    lake.commit({"a": "1"})
    lake.done("branch", "create", f"{lake.repository}/dev")
    lake.commit({"b": "1"}, branch="dev")
    lake.commit({"c": "1"})
    both = [(change["path"], change["type"]) for change in lake.documents("diff", lake.main, "dev")]
    assert both == [("b", "added"), ("c", "removed")]
    dots = lake.documents("diff", lake.main, f"{lake.repository}/dev", "--three-dot")
    assert [(change["path"], change["type"]) for change in dots] == [("b", "added")]
    lake.failed(2, "diff", lake.main, "--three-dot")


def test_a_merge_says_what_conflicts_and_lets_one_choose(lake: Lake) -> None:
    lake.commit({"a": "1"})
    dev = f"{lake.repository}/dev"
    lake.done("branch", "create", dev)
    lake.commit({"a": "2", "b": "1"}, branch="dev")
    lake.commit({"a": "3"})
    assert "conflict: a" in lake.failed(4, "merge", dev, "main")
    merged = lake.document("merge", dev, "main", "--strategy", "source-wins", "-m", "together")
    assert (merged["message"], len(merged["parents"])) == ("together", 2)
    assert (lake.cat("a"), lake.cat("b")) == (b"2", b"1")
    lake.failed(5, "merge", dev, "main")
    lake.commit({"keep/x": "1", "skip/x": "1"}, branch="dev")
    squashed = lake.document("merge", dev, lake.main, "--squash", "--drop", "skip/")
    assert len(squashed["parents"]) == 1
    assert lake.paths() == ["a", "b", "keep/x"]


def test_a_commit_is_undone_and_done_again(lake: Lake) -> None:
    lake.commit({"a": "1"}, "one")
    second = lake.commit({"b": "1"}, "two")
    lake.done("revert", lake.main, "main", "-m", "back")
    assert lake.paths() == ["a"]
    again = lake.document("cherry-pick", lake.main, second[:12])
    assert again["message"].startswith("two")
    assert lake.paths() == ["a", "b"]
    lake.failed(3, "revert", lake.main, "nothing-such")


def test_what_is_staged_is_given_up_after_asking(lake: Lake) -> None:
    first = lake.commit({"a": "1"})
    for path in ("raw/x", "raw/y", "b", "c"):
        lake.put(path, "2")
    assert lake.run("reset", f"{lake.main}/b", given="n\n").exit_code == 130
    lake.done("reset", f"{lake.main}/b", "--yes")
    assert lake.paths() == ["a", "c", "raw/x", "raw/y"]
    lake.done("reset", f"{lake.main}/raw/", "--yes")
    assert lake.paths() == ["a", "c"]
    lake.done("reset", lake.main, given="y\n")
    assert lake.paths() == ["a"]
    lake.commit({"a": "2"})
    lake.failed(2, "reset", f"{lake.main}/a", "--hard", "main~1", "--yes")
    assert lake.document("reset", lake.main, "--hard", "main~1", "--yes")["id"] == first
    assert lake.cat("a") == b"1"
