"""Files and trees, between this machine and a lake."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from dev import terminal
from tests.cli.conftest import Lake
from tests.cli.test_main import HW

ODD = ["a b/c", "-dash", "ü/é", "日本/語.txt", "%2F", "per%20cent", "#?&", "'\"", "new\nline", "tab\there", "~tilde"]
ODD += ["..dots", "back\\slash", ".hidden/x"]
"""Names that a file can have, and that something on the way might take for something else."""

LARGE = {"empty": b"", "deep/er/and/er": b"x", "large": b"0123456789" * 500_000}


def write_tree(directory: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def read_tree(directory: Path) -> dict[str, bytes]:
    return {str(file.relative_to(directory)): file.read_bytes() for file in directory.rglob("*") if file.is_file()}


def test_a_tree_comes_back_as_it_was_sent(lake: Lake, tmp_path: Path) -> None:
    files = {name: name.encode() * 3 for name in ODD} | {
        "empty": b"",
        "deep/er/and/er": b"x",
        "large": b"0123456789" * 500_000,
    }
    write_tree(tmp_path / "sent", files)
    (tmp_path / "sent/nothing-in-it").mkdir()
    sent = lake.document("fs", "upload", tmp_path / "sent", f"{lake.main}/raw")
    assert (sent["files"], sent["bytes"], sent["failed"]) == (len(files), sum(map(len, files.values())), [])
    assert lake.paths() == sorted(f"raw/{name}" for name in files)
    fetched = lake.document("fs", "download", f"{lake.main}/raw", tmp_path / "fetched", "-j", "2")
    assert (fetched["files"], fetched["bytes"]) == (sent["files"], sent["bytes"])
    assert read_tree(tmp_path / "fetched") == files
    lake.done("fs", "download", f"{lake.main}/", tmp_path / "all")
    assert read_tree(tmp_path / "all") == {f"raw/{name}": content for name, content in files.items()}


def test_a_file_gets_the_path_or_its_own_name_there(lake: Lake, tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.csv": b"a", "b.csv": b"b", "tree/c": b"c"})
    lake.done("fs", "upload", tmp_path / "a.csv", f"{lake.main}/x.csv")
    lake.done("fs", "upload", tmp_path / "a.csv", f"{lake.main}/raw/")
    lake.done("fs", "upload", tmp_path / "a.csv", lake.main)
    lake.done("fs", "upload", tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "tree", f"{lake.main}/many")
    assert lake.paths() == ["a.csv", "many/a.csv", "many/b.csv", "many/tree/c", "raw/a.csv", "x.csv"]
    assert lake.document("fs", "stat", f"{lake.main}/x.csv")["content_type"] == "text/csv"
    lake.done("fs", "download", f"{lake.main}/x.csv", tmp_path / "y.csv")
    (tmp_path / "there").mkdir()
    lake.done("fs", "download", f"{lake.main}/x.csv", tmp_path / "there")
    assert (tmp_path / "y.csv").read_bytes() == (tmp_path / "there/x.csv").read_bytes() == b"a"
    assert lake.run("fs", "download", f"{lake.main}/x.csv", "-").stdout_bytes == b"a"
    lake.failed(3, "fs", "upload", tmp_path / "nothing-such", lake.main)
    lake.failed(3, "fs", "download", f"{lake.main}/nothing-such", tmp_path / "z")
    lake.failed(2, "fs", "upload", "-", lake.main, given="x")


def test_links_are_not_followed_unless_that_is_asked_for(lake: Lake, tmp_path: Path) -> None:
    write_tree(tmp_path, {"secret": b"s", "tree/a": b"a"})
    (tmp_path / "tree/link").symlink_to(tmp_path / "secret")
    (tmp_path / "tree/above").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "tree/pipe")
    sent = lake.run("fs", "upload", tmp_path / "tree", lake.main)
    assert sent.exit_code == 0
    assert sent.stderr.count("symbolic link") == 2
    assert lake.paths() == ["a"]
    (tmp_path / "tree/above").unlink()
    lake.done("fs", "upload", "--follow", tmp_path / "tree", lake.main)
    assert lake.cat("link") == b"s"


def test_a_name_that_no_path_can_have_fails_and_the_others_go_on(lake: Lake, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    for name in (b"good", b"bad\xff"):
        (tmp_path / "tree" / os.fsdecode(name)).write_bytes(b"x")
    sent = lake.run("fs", "upload", tmp_path / "tree", lake.main)
    assert sent.exit_code == 1
    assert "bad\\udcff" in sent.stderr
    assert lake.paths() == ["good"]


@pytest.mark.parametrize("name", ["../out", "a/../../out", "a//b", "a/./b", "x/.."])
def test_a_download_never_writes_outside_its_target(lake: Lake, tmp_path: Path, name: str) -> None:
    for path in (name, "good"):
        lake.done("fs", "upload", "-", f"{lake.main}/{path}", given="x")
    fetched = lake.run("fs", "download", lake.main, tmp_path / "some/where")
    assert fetched.exit_code == 1
    assert name in fetched.stderr
    assert read_tree(tmp_path / "some") == {"where/good": b"x"}
    assert not (tmp_path / "out").exists()


def test_a_download_goes_through_no_link_that_is_there(lake: Lake, tmp_path: Path) -> None:
    for path in ("directory/x", "file", "good"):
        lake.put(path, "new")
    write_tree(tmp_path, {"elsewhere/file": b"old"})
    (tmp_path / "target").mkdir()
    (tmp_path / "target/directory").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "target/file").symlink_to(tmp_path / "elsewhere/file")
    fetched = lake.run("--json", "fs", "download", lake.main, tmp_path / "target")
    assert fetched.exit_code == 1
    assert read_tree(tmp_path / "elsewhere") == {"file": b"old"}
    assert (tmp_path / "target/good").read_bytes() == b"new"


def test_what_is_both_a_file_and_a_directory_is_told_of(lake: Lake, tmp_path: Path) -> None:
    for path in ("a", "a/b", "c"):
        lake.put(path, path)
    fetched = lake.run("fs", "download", lake.main, tmp_path / "t", "-j", "1")
    assert fetched.exit_code == 1
    assert read_tree(tmp_path / "t") == {"a": b"a", "c": b"c"}


def test_a_directory_is_listed_by_what_is_in_it(lake: Lake) -> None:
    for path in ("raw/a", "raw/deep/b", "raw.txt", "z"):
        lake.put(path, "1")
    listed = lake.documents("ls", lake.main)
    assert [(each["path"], each["kind"]) for each in listed] == [
        ("raw.txt", "object"),
        ("raw/", "directory"),
        ("z", "object"),
    ]
    assert [each["path"] for each in lake.documents("fs", "ls", f"{lake.main}/raw")] == ["raw/a", "raw/deep/"]
    assert [each["path"] for each in lake.documents("ls", "-r", f"{lake.main}/raw/")] == ["raw/a", "raw/deep/b"]
    assert [each["path"] for each in lake.documents("ls", f"{lake.main}/z")] == ["z"]
    assert lake.repository in [each["name"] for each in lake.documents("ls")]
    assert [each["name"] for each in lake.documents("ls", lake.repository)] == ["main"]
    lake.failed(3, "ls", f"{lake.main}/nothing-such")
    lake.failed(3, "fs", "cat", f"{lake.main}/z", f"{lake.main}/nothing-such")


def test_copies_and_moves(lake: Lake) -> None:
    lake.put("raw/a", "1")
    lake.put("raw/b", "2")
    lake.done("fs", "cp", f"{lake.main}/raw/a", f"{lake.main}/x")
    lake.done("fs", "cp", f"{lake.main}/raw/a", f"{lake.main}/into/")
    lake.done("fs", "cp", "-r", f"{lake.main}/raw", f"{lake.main}/copy")
    lake.done("fs", "mv", f"{lake.main}/x", f"{lake.main}/y")
    lake.done("fs", "mv", "-r", f"{lake.main}/raw/", f"{lake.main}/moved")
    assert lake.paths() == ["copy/a", "copy/b", "into/a", "moved/a", "moved/b", "y"]
    lake.done("repo", "create", f"{lake.repository}-2")
    assert lake.document("fs", "cp", "-r", lake.main, f"{lake.repository}-2/main")["files"] == 6
    assert lake.done("cat", f"{lake.repository}-2/main/copy/b") == "2"
    lake.failed(2, "fs", "cp", "-r", lake.main, f"{lake.main}/below")
    lake.failed(2, "fs", "mv", f"{lake.main}/y", f"{lake.main}/y")
    lake.failed(3, "fs", "mv", f"{lake.main}/nothing-such", f"{lake.main}/z")


def test_files_and_trees_are_deleted(lake: Lake) -> None:
    for path in ("raw/a", "raw/b", "raw2", "x", "y"):
        lake.put(path, "1")
    lake.failed(3, "fs", "rm", f"{lake.main}/nothing-such")
    lake.failed(3, "fs", "rm", f"{lake.main}/raw")
    lake.done("fs", "rm", "-f", f"{lake.main}/nothing-such")
    assert lake.document("fs", "rm", "-r", f"{lake.main}/raw", f"{lake.main}/x")["files"] == 3
    assert lake.paths() == ["raw2", "y"]
    lake.failed(2, "fs", "rm", lake.main)
    assert lake.run("fs", "rm", "-r", lake.main, given="n\n").exit_code == 130
    lake.done("fs", "rm", "-rf", lake.main)
    assert lake.paths() == []


def test_who_has_read_enough_ends_it_quietly(lake: Lake) -> None:
    lake.put("large", "0123456789\n" * 100_000)
    with subprocess.Popen([HW, "cat", f"{lake.main}/large"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ran:
        assert ran.stdout is not None
        assert ran.stderr is not None
        assert ran.stdout.readline() == b"0123456789\n"
        ran.stdout.close()
        assert ran.stderr.read() == b""
    assert ran.returncode == 0


@pytest.mark.parametrize("lake", ["embedded"], indirect=True)
def test_on_a_terminal_one_sees_how_far_it_is(lake: Lake, tmp_path: Path) -> None:
    write_tree(tmp_path / "tree", {f"{number}": b"x" * 1000 for number in range(50)})
    seen = terminal.shown(f"{HW} fs upload {tmp_path}/tree {lake.main} 2>&1", tmp_path, {})
    assert "uploading: " in seen
    assert seen.rstrip().endswith("uploaded 50 files, 48.8 KiB")
