"""Clients of S3 as they are, on a branch: what they write they read back, and what is there is what they wrote."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import httpx
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
import s3fs  # type: ignore[import-untyped]
from pyarrow.fs import FileSelector, S3FileSystem

from dev.servers.headwater import Headwater
from dev.servers.process import TOOLS
from tests.server.s3.conftest import installed, listed

ROWS = 20_000
TABLE = pa.table({"number": range(ROWS), "part": [number % 3 for number in range(ROWS)]})


@pytest.fixture
def options(server: Headwater) -> dict[str, Any]:
    """What fsspec and pandas are to know of the server."""
    return {
        "key": server.access_key_id,
        "secret": server.secret_access_key,
        "client_kwargs": {"endpoint_url": server.url, "region_name": "us-east-1"},
        "skip_instance_cache": True,
    }


@pytest.fixture
def files(options: dict[str, Any]) -> Iterator[Any]:
    opened = s3fs.S3FileSystem(**options)
    yield opened
    s3fs.S3FileSystem.close_session(opened.loop, opened._s3)  # noqa: SLF001  (it has no other way to be closed)


@pytest.fixture
def arrow(server: Headwater) -> S3FileSystem:
    return S3FileSystem(
        access_key=server.access_key_id,
        secret_key=server.secret_access_key,
        endpoint_override=urlsplit(server.url).netloc,
        scheme="http",
        region="us-east-1",
    )


def test_s3fs_sees_directories_files_and_large_ones(files: Any, bucket: str, tmp_path: Path) -> None:
    root = f"{bucket}/main/a"
    files.pipe(f"{root}/small.txt", b"small")
    with files.open(f"{root}/b/large", "wb", block_size=5 * 1024 * 1024) as out:
        for number in range(12):
            out.write(bytes([number]) * 1024 * 1024)
    assert files.ls(root) == [f"{root}/b", f"{root}/small.txt"]
    assert files.isdir(root)
    assert files.info(f"{root}/b/large")["size"] == 12 * 1024 * 1024
    assert files.cat_file(f"{root}/b/large", start=1024 * 1024 - 1, end=1024 * 1024 + 1) == b"\0\1"
    assert files.find(f"{bucket}/main") == [f"{root}/b/large", f"{root}/small.txt"]
    files.copy(f"{root}/small.txt", f"{root}/copy.txt")
    files.mv(f"{root}/copy.txt", f"{root}/moved.txt")
    files.get(root, str(tmp_path / "got"), recursive=True)
    assert (tmp_path / "got" / "moved.txt").read_bytes() == b"small"
    assert files.glob(f"{root}/*.txt") == [f"{root}/moved.txt", f"{root}/small.txt"]
    files.rm(root, recursive=True)
    assert not files.exists(root)


def test_pandas_writes_and_reads(options: dict[str, Any], bucket: str) -> None:
    url = f"s3://{bucket}/main/frame.parquet"
    frame = TABLE.to_pandas()
    frame.to_parquet(url, storage_options=options)
    pd.testing.assert_frame_equal(pd.read_parquet(url, storage_options=options), frame)
    frame.head(10).to_csv(f"s3://{bucket}/main/frame.csv", index=False, storage_options=options)
    assert len(pd.read_csv(f"s3://{bucket}/main/frame.csv", storage_options=options)) == 10


def test_pyarrow_writes_a_dataset_and_reads_it(arrow: S3FileSystem, bucket: str) -> None:
    root = f"{bucket}/main/dataset"
    for _ in range(2):  # the second time it deletes what is there
        ds.write_dataset(
            TABLE,
            root,
            filesystem=arrow,
            format="parquet",
            partitioning=["part"],
            existing_data_behavior="delete_matching",
        )
    read = ds.dataset(root, filesystem=arrow, format="parquet", partitioning=["part"])
    assert read.count_rows() == ROWS
    assert read.to_table(filter=ds.field("part") == 1).num_rows == ROWS // 3 + 1
    assert len([each for each in arrow.get_file_info(FileSelector(root, recursive=True)) if each.is_file]) == 3
    with arrow.open_output_stream(f"{bucket}/main/large") as out:
        out.write(bytes(12 * 1024 * 1024))
    assert arrow.get_file_info(f"{bucket}/main/large").size == 12 * 1024 * 1024
    arrow.move(f"{bucket}/main/large", f"{bucket}/main/moved")
    arrow.delete_dir(root)
    assert [each.path for each in arrow.get_file_info(FileSelector(f"{bucket}/main", recursive=True))] == [
        f"{bucket}/main/moved"
    ]


def test_polars_sinks_and_scans(server: Headwater, bucket: str) -> None:
    storage = {
        "aws_access_key_id": server.access_key_id,
        "aws_secret_access_key": server.secret_access_key,
        "aws_endpoint_url": server.url,
        "aws_allow_http": "true",
        "aws_region": "us-east-1",
    }
    frame = pl.DataFrame({"number": range(ROWS)})
    url = f"s3://{bucket}/main/polars/frame.parquet"
    frame.lazy().sink_parquet(url, storage_options=storage)
    assert pl.scan_parquet(url, storage_options=storage).filter(pl.col("number") > 10).collect().height == ROWS - 11
    glob = f"s3://{bucket}/main/polars/*.parquet"
    assert pl.scan_parquet(glob, storage_options=storage).select(pl.len()).collect().item() == ROWS


def test_duckdb_reads_and_writes_through_fsspec(files: Any, bucket: str) -> None:
    with duckdb.connect() as database:
        database.register_filesystem(files)
        url = f"s3://{bucket}/main/duck"
        database.from_arrow(TABLE).write_parquet(f"{url}/a.parquet")
        (found,) = database.read_parquet(f"{url}/*.parquet").aggregate("count(*), sum(number)").fetchall()
        assert found == (ROWS, ROWS * (ROWS - 1) // 2)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Some files, of which one is sent in parts."""
    root = tmp_path / "tree"
    (root / "a b").mkdir(parents=True)
    (root / "a b" / "ü+%.txt").write_bytes(b"odd")
    (root / "empty").write_bytes(b"")
    (root / "large").write_bytes(os.urandom(9 * 1024 * 1024))
    return root


EXPECTED = ["main/tree/a b/ü+%.txt", "main/tree/empty", "main/tree/large"]


def aws(server: Headwater, home: Path, *words: str | Path) -> str:
    """Run the AWS CLI; what it prints."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "AWS_ENDPOINT_URL": server.url,
        "AWS_ACCESS_KEY_ID": server.access_key_id,
        "AWS_SECRET_ACCESS_KEY": server.secret_access_key,
        "AWS_REGION": "us-east-1",
        "PYTHONUTF8": "1",
    }
    command: list[str | Path] = [sys.executable, Path(sys.executable).parent / "aws", *words]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_aws_command_line(s3: Any, server: Headwater, bucket: str, tree: Path, tmp_path: Path) -> None:
    made = f"{bucket}-by-aws"
    aws(server, tmp_path, "s3", "mb", f"s3://{made}")
    aws(server, tmp_path, "s3", "sync", tree, f"s3://{made}/main/tree")
    assert listed(s3, made) == EXPECTED
    assert aws(server, tmp_path, "s3", "sync", tree, f"s3://{made}/main/tree") == ""
    assert "PRE main/" in aws(server, tmp_path, "s3", "ls", f"s3://{made}")
    aws(server, tmp_path, "s3", "cp", f"s3://{made}/main/tree/large", f"s3://{made}/main/copy")
    aws(server, tmp_path, "s3", "cp", f"s3://{made}/main/copy", tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == (tree / "large").read_bytes()
    url = aws(server, tmp_path, "s3", "presign", f"s3://{made}/main/tree/large", "--expires-in", "60").strip()
    assert httpx.get(url).content == (tree / "large").read_bytes()
    aws(server, tmp_path, "s3", "rb", f"s3://{made}", "--force")
    assert made not in [each["Name"] for each in s3.list_buckets()["Buckets"]]


def test_the_client_of_minio(s3: Any, server: Headwater, bucket: str, tree: Path, tmp_path: Path) -> None:
    program = installed(TOOLS / "mc-v0.0.0-20250313080218-cf909e1063a9", "minio_client.sh")

    def mc(*words: str | Path, given: str = "", status: int = 0) -> str:
        command: list[str | Path] = [program, "--config-dir", tmp_path / "mc", "--disable-pager", *words]
        ran = subprocess.run(command, input=given, capture_output=True, text=True, timeout=120, check=False)
        assert ran.returncode == status, (words, ran.stdout, ran.stderr)
        return ran.stdout

    mc("alias", "set", "hw", server.url, server.access_key_id, server.secret_access_key)
    made = f"{bucket}-by-mc"
    root = f"hw/{made}/main"
    mc("mb", f"hw/{made}")
    mc("mb", "--ignore-existing", f"hw/{made}")
    mc("cp", "--recursive", f"{tree}/", f"{root}/tree/")
    assert listed(s3, made) == EXPECTED
    assert "large" in mc("ls", f"{root}/tree/")
    assert mc("cat", f"{root}/tree/a b/ü+%.txt") == "odd"
    assert "9.0 MiB" in mc("stat", f"{root}/tree/large")
    assert mc("diff", tree, f"{root}/tree") == ""
    (tree / "empty").unlink()
    (tree / "new").write_bytes(b"new")
    assert "new" in mc("diff", tree, f"{root}/tree")
    mc("mirror", "--overwrite", "--remove", tree, f"{root}/tree")
    assert listed(s3, made) == ["main/tree/a b/ü+%.txt", "main/tree/large", "main/tree/new"]
    mc("mirror", f"{root}/tree", tmp_path / "back")
    assert (tmp_path / "back" / "large").read_bytes() == (tree / "large").read_bytes()
    mc("cp", f"{root}/tree/large", f"{root}/copy")
    mc("mv", f"{root}/copy", f"{root}/moved")
    mc("pipe", f"{root}/piped", given="from a pipe")  # an upload in parts with a checksum of the whole
    assert mc("head", "-n", "1", f"{root}/piped").strip() == "from a pipe"
    mc("tag", "set", f"{root}/piped", "colour=red")
    assert "red" in mc("tag", "list", f"{root}/piped")
    mc("cp", "--attr", "kind=text;Cache-Control=max-age=90", tree / "new", f"{root}/described")
    assert s3.head_object(Bucket=made, Key="main/described")["CacheControl"] == "max-age=90"
    assert mc("find", root, "--name", "*.txt").split("\n")[0] == f"{root}/tree/a b/ü+%.txt"
    mc("rm", f"{root}/piped")
    mc("rm", f"{root}/piped", status=1)
    mc("rm", "--recursive", "--force", f"{root}/tree")
    assert listed(s3, made) == ["main/described", "main/moved"]
    mc("rb", "--force", f"hw/{made}")
    assert made not in [each["Name"] for each in s3.list_buckets()["Buckets"]]


def test_rclone_copies_syncs_and_checks(s3: Any, server: Headwater, bucket: str, tree: Path, tmp_path: Path) -> None:
    program = installed("rclone", "rclone.sh")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "RCLONE_CONFIG_HW_TYPE": "s3",
        "RCLONE_CONFIG_HW_PROVIDER": "Other",
        "RCLONE_CONFIG_HW_ENDPOINT": server.url,
        "RCLONE_CONFIG_HW_ACCESS_KEY_ID": server.access_key_id,
        "RCLONE_CONFIG_HW_SECRET_ACCESS_KEY": server.secret_access_key,
        "RCLONE_S3_UPLOAD_CUTOFF": "6M",
    }

    def rclone(*words: str | Path) -> None:
        ran = subprocess.run(
            [program, *words], env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert ran.returncode == 0, ran.stderr

    remote = f"hw:{bucket}/main/tree"
    rclone("copy", tree, remote)
    assert listed(s3, bucket) == EXPECTED
    rclone("check", tree, remote)
    rclone("check", "--download", tree, remote)
    (tree / "empty").unlink()
    (tree / "new").write_bytes(b"new")
    rclone("sync", tree, remote)
    rclone("check", tree, remote)
    assert listed(s3, bucket) == ["main/tree/a b/ü+%.txt", "main/tree/large", "main/tree/new"]
    rclone("copy", remote, tmp_path / "back")
    assert (tmp_path / "back" / "large").read_bytes() == (tree / "large").read_bytes()
    rclone("purge", remote)
    assert listed(s3, bucket) == []
