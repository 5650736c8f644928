"""`hw://…` through fsspec, with the libraries that people read and write files with."""

from __future__ import annotations

import gc
import gzip
import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import fsspec
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import headwater
from dev.servers.headwater import Headwater
from headwater.sdk.filesystem import HeadwaterFileSystem
from headwater.sdk.sync import Repository

LARGE = 20_000_000
"""Bytes that are sent before their file is closed."""

FRAME = pd.DataFrame({"id": range(1000), "name": [f"n{number}" for number in range(1000)], "part": [0, 1] * 500})


@pytest.fixture(params=["directory", "remote"])
def options(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """What says where the lake is."""
    if request.param == "directory":
        return {"lake": str(tmp_path / "lake"), "durability": "os"}
    server: Headwater = request.getfixturevalue("server")
    return {"endpoint": server.url, "key": server.access_key_id, "secret": server.secret_access_key}


@pytest.fixture
def repo(options: dict[str, Any]) -> Iterator[Repository]:
    if "lake" in options:
        opened = headwater.open(options["lake"], durability=options["durability"])
    else:
        opened = headwater.connect(options["endpoint"], options["key"], options["secret"])
    with opened as lake:
        yield lake.create_repo("sales")


@pytest.fixture
def files(repo: Repository, options: dict[str, Any]) -> Iterator[HeadwaterFileSystem]:
    assert repo.name == "sales"
    opened = fsspec.filesystem("hw", **options)
    yield opened
    opened.lake.close()
    HeadwaterFileSystem.clear_instance_cache()


def same(found: pd.DataFrame) -> bool:
    return bool(found.sort_values("id", ignore_index=True)[["id", "name"]].equals(FRAME[["id", "name"]]))


# The libraries


def test_pandas_writes_and_reads_csv(files: HeadwaterFileSystem, options: dict[str, Any]) -> None:
    FRAME.to_csv("hw://sales/main/in/a.csv", index=False, storage_options=options)
    assert files.exists("hw://sales/main/in/a.csv")
    assert same(pd.read_csv("hw://sales/main/in/a.csv", storage_options=options))


def test_pandas_writes_and_reads_parquet(files: HeadwaterFileSystem, options: dict[str, Any], repo: Repository) -> None:
    FRAME.to_parquet("hw://sales/main/a.parquet", storage_options=options)
    FRAME.to_parquet("hw://sales/main/parts", partition_cols=["part"], storage_options=options)
    first = repo.branch("main").commit("first")
    files.rm("hw://sales/main/a.parquet")
    assert same(pd.read_parquet(f"hw://sales/{first.id}/a.parquet", storage_options=options))
    assert same(pd.read_parquet("hw://sales/main/parts", storage_options=options))


def test_polars_writes_and_reads_what_is_open(files: HeadwaterFileSystem) -> None:
    frame = pl.from_pandas(FRAME)
    with files.open("sales/main/a.parquet", "wb") as file:
        frame.write_parquet(file)
    with files.open("sales/main/a.csv", "wb") as file:
        frame.write_csv(file)
    with files.open("sales/main/a.parquet") as file:
        assert pl.read_parquet(file).equals(frame)
    with files.open("sales/main/a.csv") as file:
        assert pl.read_csv(file).equals(frame)


def test_polars_reads_parquet_by_name_through_pyarrow(files: HeadwaterFileSystem, options: dict[str, Any]) -> None:
    assert files.ls("sales/main") == []
    FRAME.to_parquet("hw://sales/main/a.parquet", storage_options=options)
    found = pl.read_parquet("hw://sales/main/a.parquet", use_pyarrow=True, storage_options=options)
    assert same(found.to_pandas())


def test_duckdb_writes_and_reads_by_name(files: HeadwaterFileSystem) -> None:
    connection = duckdb.connect()
    connection.register_filesystem(files)
    connection.register("frame", FRAME)
    connection.execute("COPY frame TO 'hw://sales/main/in/a.parquet' (FORMAT parquet)")
    connection.execute("COPY frame TO 'hw://sales/main/in/a.csv'")
    read = connection.execute("SELECT * FROM 'hw://sales/main/in/a.parquet'").fetch_df()
    assert same(read)
    count = connection.execute("SELECT count(*) FROM read_csv('hw://sales/main/in/*.csv')").fetchall()
    assert count == [(1000,)]


def test_pyarrow_writes_and_reads_files_and_datasets(files: HeadwaterFileSystem) -> None:
    table = pa.Table.from_pandas(FRAME)
    pq.write_table(table, "sales/main/a.parquet", filesystem=files)
    assert pq.read_table("sales/main/a.parquet", filesystem=files).equals(table)
    pq.write_to_dataset(table, "sales/main/set", partition_cols=["part"], filesystem=files)
    found = ds.dataset("sales/main/set", filesystem=files, partitioning="hive")
    assert found.count_rows() == 1000
    assert same(found.to_table(filter=ds.field("part") >= 0).to_pandas())
    ds.write_dataset(
        table.slice(0, 10), "sales/main/set", filesystem=files, format="csv", existing_data_behavior="delete_matching"
    )
    assert ds.dataset("sales/main/set", filesystem=files, format="csv").count_rows() == 10


# What a file system does


@pytest.fixture
def filled(files: HeadwaterFileSystem, repo: Repository) -> HeadwaterFileSystem:
    main = repo.branch("main")
    for path in ("top", "a/1.csv", "a/2.csv", "a/deep/3.csv", "b/4.txt"):
        main.put(path, path.encode())
    main.commit("first")
    repo.create_tag("v1", "main")
    repo.create_branch("team/dev", "main")
    return files


def test_directories_are_the_lake_its_repositories_and_their_refs(filled: HeadwaterFileSystem) -> None:
    assert filled.ls("hw://", detail=False) == ["sales"]
    assert filled.ls("hw://sales", detail=False) == ["sales/main", "sales/team%2Fdev", "sales/v1"]
    assert filled.ls("hw://sales/v1/", detail=False) == ["sales/v1/a", "sales/v1/b", "sales/v1/top"]
    assert filled.ls("sales/main~0/a", detail=False) == [
        f"sales/main~0/a/{name}" for name in ("1.csv", "2.csv", "deep")
    ]
    assert filled.ls("sales/main/top", detail=False) == ["sales/main/top"]
    for name in ("", "sales", "sales/main", "sales/main/a", "sales/main/a/deep"):
        assert filled.isdir(name)
    assert filled.isfile("sales/main/top")


def test_a_slash_in_the_name_of_a_branch_is_escaped(filled: HeadwaterFileSystem) -> None:
    filled.pipe_file("sales/team%2Fdev/new", b"1")
    assert filled.cat_file("sales/team%2Fdev/new") == b"1"
    assert "sales/team%2Fdev/new" in filled.find("sales/team%2Fdev")
    assert not filled.exists("sales/main/new")


def test_what_is_known_of_a_file(filled: HeadwaterFileSystem) -> None:
    info = filled.info("hw://sales/main/a/1.csv")
    assert (info["name"], info["size"], info["type"]) == ("sales/main/a/1.csv", 7, "file")
    assert filled.size("sales/main/a/1.csv") == 7
    assert filled.checksum("sales/main/a/1.csv") == info["checksum"]
    assert isinstance(filled.modified("sales/main/a/1.csv"), datetime)


def test_files_are_found_by_patterns(filled: HeadwaterFileSystem) -> None:
    assert filled.glob("sales/main/a/*.csv") == ["sales/main/a/1.csv", "sales/main/a/2.csv"]
    assert filled.glob("hw://sales/main/**/*.csv") == [
        f"sales/main/a/{name}" for name in ("1.csv", "2.csv", "deep/3.csv")
    ]
    assert filled.find("sales/main/b") == ["sales/main/b/4.txt"]
    assert filled.find("sales/main/top") == ["sales/main/top"]
    assert filled.find("sales/main/nowhere") == []
    assert filled.find("sales/main", maxdepth=1) == ["sales/main/top"]
    assert set(filled.find("sales/v1", detail=True)) == set(filled.find("sales/v1"))
    assert [name for name, _, _ in filled.walk("sales/main/a")] == ["sales/main/a", "sales/main/a/deep"]


def test_parts_of_files_are_read_by_their_bounds(filled: HeadwaterFileSystem) -> None:
    assert filled.cat_file("sales/main/top") == b"top"
    assert filled.cat_file("sales/main/top", 1) == b"op"
    assert filled.cat_file("sales/main/top", -2, -1) == b"o"
    assert filled.cat_file("sales/main/top", 2, 1) == b""
    assert filled.cat("sales/main/a/*.csv") == {f"sales/main/a/{n}.csv": f"a/{n}.csv".encode() for n in (1, 2)}
    with filled.open("sales/main/top", "r") as file:
        assert file.read() == "top"


def test_files_are_copied_moved_and_deleted(filled: HeadwaterFileSystem, repo: Repository) -> None:
    filled.cp("sales/v1/a", "sales/main/copy", recursive=True)
    assert filled.find("sales/main/copy") == [f"sales/main/copy/{name}" for name in ("1.csv", "2.csv", "deep/3.csv")]
    filled.mv("sales/main/copy", "sales/main/moved", recursive=True)
    assert not filled.exists("sales/main/copy")
    filled.mv("sales/main/top", "sales/main/bottom")
    assert filled.cat_file("sales/main/bottom") == b"top"
    filled.rm("sales/main/moved", recursive=True)
    filled.rm(["sales/main/bottom", "sales/main/b/4.txt"])
    filled.rm("sales/main/a/*.csv")
    assert [entry.path for entry in repo.branch("main").list()] == ["a/deep/3.csv"]


def test_files_are_copied_from_one_repository_to_another(filled: HeadwaterFileSystem) -> None:
    filled.lake.create_repo("stock")
    filled.cp("sales/v1/top", "stock/main/top")
    assert filled.cat_file("stock/main/top") == b"top"


@pytest.mark.parametrize(
    "use",
    [
        lambda files: files.info("sales/main/nowhere"),
        lambda files: files.info("sales/nobranch"),
        lambda files: files.info("nothing/main/a"),
        lambda files: files.ls("sales/main/nowhere"),
        lambda files: files.ls("nothing"),
        lambda files: files.open("sales/main/nowhere"),
        lambda files: files.pipe_file("sales/nobranch/a", b"1"),
        lambda files: files.pipe_file("sales/v1/a", b"1"),
        lambda files: files.rm("sales/main/nowhere"),
        lambda files: files.cp("sales/main/nowhere", "sales/main/a"),
    ],
)
def test_what_is_not_there_is_an_error_of_file_systems(
    filled: HeadwaterFileSystem, use: Callable[[HeadwaterFileSystem], object]
) -> None:
    with pytest.raises(FileNotFoundError):
        use(filled)


def test_what_cannot_be_is_refused(filled: HeadwaterFileSystem) -> None:
    with pytest.raises(IsADirectoryError):
        filled.rm("sales/main/a")
    with pytest.raises(headwater.BadRequest):
        filled.rm("sales", recursive=True)
    with pytest.raises(NotImplementedError, match="'ab'"):
        filled.open("sales/main/top", "ab")
    with pytest.raises(NotImplementedError, match="commit"):
        filled.transaction  # noqa: B018
    with pytest.raises(NotImplementedError, match="commit"):
        filled.start_transaction()
    for name in ("sales", "sales/main", "sales/main/"):
        for mode in ("rb", "wb", "xb"):
            with pytest.raises(IsADirectoryError):
                filled.open(name, mode)
    assert len(filled.find("sales/main")) == 5


@pytest.mark.parametrize("method", ["gzip", "bz2", "xz", "zip"])
def test_what_is_compressed_is_there_when_its_file_is_closed(files: HeadwaterFileSystem, method: str) -> None:
    content = bytes(range(256)) * 1_000
    with files.open("sales/main/a", "wb", compression=method) as file:
        for start in range(0, len(content), 100_000):
            file.write(content[start : start + 100_000])
        assert not files.exists("sales/main/a")
    with files.open("sales/main/a", "rb", compression=method) as file:
        assert file.read() == content
    assert files.cat_file("sales/main/a") != content


def test_text_is_compressed_by_the_end_of_its_name(files: HeadwaterFileSystem) -> None:
    with files.open("sales/main/a.txt.gz", "wt", compression="infer", encoding="utf-16", newline="") as file:
        file.write("Zürich\r\n")
    assert gzip.decompress(files.cat_file("sales/main/a.txt.gz")).decode("utf-16") == "Zürich\r\n"


@pytest.mark.parametrize(
    ("mode", "method", "size"),
    [
        ("wb", None, 10),
        ("xb", None, 10),
        ("wt", None, 10),
        ("wb", "gzip", 10),
        ("wt", "zip", 10),
        ("wb", None, LARGE),
        ("wb", "gzip", LARGE),
    ],
)
def test_a_block_that_fails_writes_nothing(
    files: HeadwaterFileSystem, mode: str, method: str | None, size: int
) -> None:
    content: Any = "x" * size if mode == "wt" else os.urandom(size)
    with pytest.raises(ZeroDivisionError), files.open("sales/main/a", mode, compression=method) as file:
        file.write(content[: size // 0 if file.write(content) else 0])
    file = files.open("sales/main/a", mode, compression=method)
    file.write(content)
    del file
    gc.collect()
    assert not files.exists("sales/main/a")


def test_a_file_that_must_not_be_there_yet_is_written_by_one(files: HeadwaterFileSystem) -> None:
    with files.open("sales/main/a", "xb") as first, files.open("sales/main/a", "xb") as second:
        first.write(b"first")
        first.close()
        second.write(b"second")
        with pytest.raises(headwater.PreconditionFailed):
            second.close()
    assert files.cat_file("sales/main/a") == b"first"
    with pytest.raises(FileExistsError):
        files.open("sales/main/a", "x")
    with pytest.raises(FileExistsError):
        files.pipe_file("sales/main/a", b"third", mode="create")
    assert files.cat_file("sales/main/a") == b"first"


def test_what_names_no_reference_is_not_there(files: HeadwaterFileSystem) -> None:
    assert not files.isdir("sales/main~~x^")
    assert not files.exists("sales/main~~x^/a")
    with pytest.raises(FileNotFoundError, match="expected"):
        files.ls("sales/main~~x^")


def test_a_lake_that_is_open_can_be_given_itself() -> None:
    with headwater.open(kv="mem://", storage="mem://") as lake:
        lake.create_repo("sales").branch("main").put("a", b"1")
        assert HeadwaterFileSystem(lake=lake, skip_instance_cache=True).cat_file("sales/main/a") == b"1"


@pytest.mark.parametrize(
    "options",
    [{"endpoint": "http://127.0.0.1:1"}, {"endpoint": "http://127.0.0.1:1", "key": "k", "secret": "s", "lake": "x"}],
)
def test_where_the_lake_is_is_said_once_and_in_full(options: dict[str, Any]) -> None:
    with pytest.raises(headwater.BadRequest, match="endpoint="):
        HeadwaterFileSystem(skip_instance_cache=True, **options)
