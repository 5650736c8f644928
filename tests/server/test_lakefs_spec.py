"""The package `lakefs-spec`, an fsspec file system, as it is published, against a running server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lakefs_spec import LakeFSFileSystem

from dev.servers.headwater import Headwater

_file_system: Any = LakeFSFileSystem


@pytest.fixture
def files(server: Headwater) -> Iterator[Any]:
    yield _file_system(
        host=server.url, username=server.access_key_id, password=server.secret_access_key, skip_instance_cache=True
    )
    _file_system.clear_instance_cache()


def test_files_are_written_read_listed_and_removed(files: Any, repository: str) -> None:
    root = f"lakefs://{repository}/main"
    files.pipe(f"{root}/a/one", b"1")
    files.pipe(f"{root}/a/two", b"22")
    with files.open(f"{root}/a/three", "w") as out:
        out.write("3" * 3)
    assert files.cat(f"{root}/a/two") == b"22"
    assert sorted(each["name"] for each in files.ls(f"{root}/a/", detail=True)) == [
        f"{repository}/main/a/{name}" for name in ("one", "three", "two")
    ]
    assert files.info(f"{root}/a/three")["size"] == 3
    assert files.isdir(f"{root}/a")
    files.rm(f"{root}/a/one")
    assert not files.exists(f"{root}/a/one")
    with pytest.raises(FileNotFoundError):
        files.cat(f"{root}/a/one")


def test_files_go_to_and_from_a_directory(files: Any, repository: str, tmp_path: Path) -> None:
    (tmp_path / "up").write_bytes(b"content")
    files.put(str(tmp_path / "up"), f"lakefs://{repository}/main/up")
    files.get(f"lakefs://{repository}/main/up", str(tmp_path / "down"))
    assert (tmp_path / "down").read_bytes() == b"content"


def test_a_transaction_commits_and_tags(files: Any, repository: str) -> None:
    with files.transaction(repository, "main") as change:
        files.pipe(f"lakefs://{repository}/{change.branch.id}/a", b"1")
        commit = change.commit(message="in a transaction")
        change.tag(commit, "v1")
    assert files.cat(f"lakefs://{repository}/main/a") == b"1"
    assert files.cat(f"lakefs://{repository}/v1/a") == b"1"
