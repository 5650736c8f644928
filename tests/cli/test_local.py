"""A directory as a working copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Lake
from tests.cli.test_files import read_tree, write_tree


def tree(directory: Path) -> dict[str, str]:
    return {name: content.decode() for name, content in read_tree(directory).items() if name != ".hw-local"}


def state(lake: Lake, directory: Path) -> set[tuple[str, str, str]]:
    return {(each["path"], each["type"], each["side"]) for each in lake.documents("local", "status", directory)}


@pytest.fixture
def copy(lake: Lake, tmp_path: Path) -> Path:
    """A working copy of `raw` of the main branch."""
    lake.commit({"raw/a": "a", "raw/deep/b": "b", "other": "o"})
    lake.done("local", "clone", f"{lake.main}/raw", tmp_path / "copy")
    return tmp_path / "copy"


def test_a_clone_has_what_is_committed(lake: Lake, copy: Path, tmp_path: Path) -> None:
    assert tree(copy) == {"a": "a", "deep/b": "b"}
    assert state(lake, copy) == set()
    lake.failed(5, "local", "commit", copy, "-m", "nothing")
    lake.failed(4, "local", "clone", lake.main, copy)
    lake.failed(3, "local", "status", tmp_path)
    lake.failed(3, "local", "clone", f"{lake.repository}/nothing-such", tmp_path / "none")


def test_what_was_changed_here_is_committed_and_nothing_else(lake: Lake, copy: Path) -> None:
    write_tree(copy, {"a": b"changed", "new/c": b"c"})
    (copy / "deep/b").unlink()
    lake.put("staged-by-another", "s")
    assert state(lake, copy) == {("a", "changed", "here"), ("new/c", "added", "here"), ("deep/b", "removed", "here")}
    made = lake.document("local", "commit", copy, "-m", "mine", "--metadata", "k=v")
    assert (made["message"], made["metadata"], len(made["parents"])) == ("mine", {"k": "v"}, 1)
    assert lake.paths("main@") == ["other", "raw/a", "raw/new/c"]
    assert [change["path"] for change in lake.documents("diff", lake.main)] == ["staged-by-another"]
    assert state(lake, copy) == set()
    assert [branch["name"] for branch in lake.documents("branch", "list", lake.repository)] == ["main"]


def test_what_was_committed_there_is_pulled(lake: Lake, copy: Path) -> None:
    lake.done("fs", "rm", f"{lake.main}/raw/deep/b")
    lake.commit({"raw/a": "A", "raw/new/c": "c", "other": "O"})
    write_tree(copy, {"mine": b"m"})
    assert state(lake, copy) == {
        ("a", "changed", "there"),
        ("deep/b", "removed", "there"),
        ("new/c", "added", "there"),
        ("mine", "added", "here"),
    }
    pulled = lake.document("local", "pull", copy)
    assert (pulled["written"], pulled["removed"]) == (2, 1)
    assert tree(copy) == {"a": "A", "mine": "m", "new/c": "c"}
    assert not (copy / "deep").exists()
    assert state(lake, copy) == {("mine", "added", "here")}


def test_what_both_changed_stops_a_pull_and_a_commit(lake: Lake, copy: Path) -> None:
    lake.commit({"raw/a": "theirs", "raw/deep/b": "theirs"})
    write_tree(copy, {"a": b"mine"})
    for arguments in (["pull", str(copy)], ["commit", str(copy), "-m", "mine"]):
        said = lake.failed(4, "local", *arguments)
        assert "changed on both sides: a" in said
    assert tree(copy) == {"a": "mine", "deep/b": "b"}
    assert lake.cat("raw/a") == b"theirs"
    lake.done("local", "pull", copy, "--ours")
    assert tree(copy) == {"a": "mine", "deep/b": "theirs"}
    assert state(lake, copy) == {("a", "changed", "here")}
    lake.done("local", "commit", copy, "-m", "mine after all")
    assert lake.cat("raw/a", ref="main@") == b"mine"


def test_theirs_can_be_taken(lake: Lake, copy: Path) -> None:
    lake.done("fs", "rm", f"{lake.main}/raw/a")
    lake.commit({"raw/deep/b": "theirs"})
    write_tree(copy, {"a": b"mine", "deep/b": b"mine"})
    lake.done("local", "pull", copy, "--theirs")
    assert tree(copy) == {"deep/b": "theirs"}
    assert state(lake, copy) == set()


def test_who_changed_other_files_meanwhile_does_not_stop_a_commit(lake: Lake, copy: Path) -> None:
    lake.commit({"raw/deep/b": "theirs"})
    write_tree(copy, {"a": b"mine"})
    lake.done("local", "commit", copy, "-m", "mine")
    assert tree(copy) == {"a": "mine", "deep/b": "theirs"}
    assert (lake.cat("raw/a"), lake.cat("raw/deep/b")) == (b"mine", b"theirs")
    assert state(lake, copy) == set()


def test_both_having_made_the_same_of_a_file_is_no_conflict(lake: Lake, copy: Path) -> None:
    lake.commit({"raw/a": "same"})
    write_tree(copy, {"a": b"same"})
    lake.done("local", "pull", copy)
    assert state(lake, copy) == set()


def test_a_file_that_was_only_touched_is_not_changed(lake: Lake, copy: Path) -> None:
    (copy / "a").write_bytes((copy / "a").read_bytes())
    assert state(lake, copy) == set()


def test_a_directory_that_is_there_becomes_a_working_copy(lake: Lake, tmp_path: Path) -> None:
    lake.commit({"raw/a": "a", "raw/b": "b"})
    write_tree(tmp_path / "mine", {"a": b"a", "c": b"c"})
    lake.done("local", "init", f"{lake.main}/raw", tmp_path / "mine")
    assert state(lake, tmp_path / "mine") == {("a", "added", "both"), ("b", "added", "there"), ("c", "added", "here")}
    lake.done("local", "pull", tmp_path / "mine")
    lake.done("local", "commit", tmp_path / "mine", "-m", "c")
    assert tree(tmp_path / "mine") == {"a": "a", "b": "b", "c": "c"}
    assert lake.paths("main@") == ["raw/a", "raw/b", "raw/c"]
    lake.failed(4, "local", "init", lake.main, tmp_path / "mine")


def test_the_directory_need_not_be_named_from_within(lake: Lake, copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(copy, {"a": b"changed"})
    monkeypatch.chdir(copy / "deep")
    assert {each["path"] for each in lake.documents("local", "status")} == {"a"}
    lake.done("local", "commit", "-m", "from below")
    assert lake.cat("raw/a", ref="main@") == b"changed"


def test_a_lake_cannot_say_what_a_working_copy_knows(lake: Lake, tmp_path: Path) -> None:
    lake.commit({".hw-local": "{}", "sub/.hw-local": "{}", "a": "1"})
    cloned = lake.run("local", "clone", lake.main, tmp_path / "copy")
    assert (cloned.exit_code, cloned.stderr.count("passed over")) == (0, 2)
    assert tree(tmp_path / "copy") == {"a": "1"}
    assert not (tmp_path / "copy/sub").exists()
    assert state(lake, tmp_path / "copy") == set()
