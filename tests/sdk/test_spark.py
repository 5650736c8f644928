"""Spark writes a data set to a workspace past us, reads it merged with what is committed, and it becomes a commit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import fsspec
import pyarrow.dataset as ds
import pytest

import headwater

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession  # noqa: PLC0415  (it is large, and only here)

    session = (
        SparkSession.builder.master("local[2]")
        .appName("workspaces")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "512m")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .getOrCreate()
    )
    yield session
    session.stop()


def test_a_data_frame_is_written_to_a_workspace_read_merged_and_committed(spark: SparkSession, tmp_path: Path) -> None:
    with headwater.open(tmp_path / "lake", durability="os") as lake:
        main = lake.create_repo("sales").branch("main")
        first = headwater.Workspace(main)
        spark.range(0, 100).repartition(2).write.parquet(first.path("x"))
        first.add("**/*.parquet", "**/_SUCCESS").commit("the first hundred")

        workspace = headwater.Workspace(main)
        spark.range(100, 150).repartition(2).write.parquet(workspace.path("x"))
        merged = fsspec.filesystem("hw", lake=lake)
        files = [path for path in merged.find(workspace.uri("x")) if path.endswith(".parquet")]
        numbers = ds.dataset(files, filesystem=merged).to_table().column("id").to_pylist()
        assert sorted(numbers) == list(range(150))
        assert spark.read.parquet(workspace.path("x")).count() == 50

        made = workspace.all().commit("fifty more")
        paths = [entry.path for entry in main.list("x/") if entry.path.endswith(".parquet")]
        assert (main.head(), len(paths)) == (made, 4)
        assert all("workspaces/" in main.stat(path).blocks[0].address for path in paths)  # nothing was copied
