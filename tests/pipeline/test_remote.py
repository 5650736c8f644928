"""A server whose repositories are in a bucket: it tells where things are, and the bytes go past it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater
from dev.servers import headwater as headwater_server
from headwater import pipeline
from headwater.engine.errors import BadRequest
from headwater.pipeline import Place
from headwater.pipeline.errors import NeedsStores, NotInPlace
from headwater.pipeline.landing import Batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headwater.sdk.sync import Branch, Lake


@pytest.fixture
def place(served_place: Place) -> Place:
    return served_place


@pytest.fixture
def lake(place: Place) -> Iterator[Lake]:
    assert place.endpoint is not None
    with headwater.connect(place.endpoint, place.key, place.secret) as connected:
        connected.create_repo("sales")
        yield connected
        connected.delete_repo("sales")


@pytest.fixture
def main(lake: Lake) -> Branch:
    return lake.repo("sales").branch("main")


def numbers(spark: SparkSession, start: int, end: int) -> DataFrame:
    return spark.range(start, end, 1, 2).selectExpr("id", "id % 3 AS third", "concat('t', id) AS text")


def ids(frame: DataFrame) -> list[int]:
    return sorted(row.id for row in frame.select("id").collect())


def test_what_is_written_through_a_server_is_one_commit_and_is_read_in_place(
    spark: SparkSession, place: Place, main: Branch
) -> None:
    written = pipeline.write(numbers(spark, 0, 9), place, "main", "t", partition_by=["third"], message="first")
    assert main.head().id == written.commit
    assert [each.path for each in main.list() if "/_" in each.path] == []
    found = [each for each in main.list() if each.path.startswith("t/third=")]
    assert (len(found), sum(each.size for each in found)) == (written.files, written.bytes)
    assert ids(pipeline.read(spark, place, "main", "t")) == list(range(9))

    fresh = numbers(spark, 100, 109).where("third = 1")
    pipeline.write(fresh, place, "main", "t", mode="overwrite-partitions", partition_by=["third"])
    after = pipeline.read(spark, place, "main", "t")
    assert ids(after.where("third = 1")) == [100, 103, 106]
    assert ids(after.where("third <> 1")) == [0, 2, 3, 5, 6, 8]

    pipeline.write(numbers(spark, 5, 7), place, "main", "t", mode="overwrite")
    assert ids(pipeline.read(spark, place, "main", "t")) == [5, 6]
    assert ids(pipeline.read(spark, place, "main~2", "t")) == list(range(9))


def test_a_uri_and_presigned_urls_are_enough_to_read(spark: SparkSession, place: Place, main: Branch) -> None:
    pipeline.write(numbers(spark, 0, 9), place, "main", "t", partition_by=["third"])
    assert place.endpoint is not None
    server = {"endpoint": place.endpoint, "key": place.key, "secret": place.secret}
    found = pipeline.read(spark, "hw://sales/main/t", presigned=True, **server)  # type: ignore[arg-type]
    plain = pipeline.read(spark, place, "main", "t")
    assert found.dtypes == plain.dtypes
    assert sorted(map(tuple, found.collect())) == sorted(map(tuple, plain.collect()))
    main.put("a.csv", b"1\n")
    with pytest.raises(BadRequest, match="Parquet"):
        pipeline.read(spark, place, "main", "a.csv", format="csv", presigned=True)
    with pytest.raises(headwater.PathNotFound):
        pipeline.read(spark, place, "main", "nowhere", presigned=True)
    with pytest.raises(BadRequest, match="hw://repository"):
        pipeline.read(spark, "hw://sales", **server)  # type: ignore[arg-type]


def test_listings_differences_and_history_are_those_of_the_server(
    spark: SparkSession, place: Place, main: Branch
) -> None:
    main.put("a/x", b"one", content_type="text/plain", metadata={"owner": "ann"})
    main.put("a/y", b"two")
    first = main.commit("first", metadata={"job": "1"})
    main.put("a/y", b"other")
    main.put("b", b"three")
    main.delete("a/x")
    second = main.commit("second")
    main.put("c", b"staged")

    rows = pipeline.entries(spark, place, first.id, prefix="a/").orderBy("path").collect()
    assert [(row.path, row.size, row.metadata) for row in rows] == [("a/x", 3, {"owner": "ann"}), ("a/y", 3, None)]
    assert [row.path for row in pipeline.entries(spark, place, "main").orderBy("path").collect()] == ["a/y", "b"]
    assert pipeline.entries(spark, place, "main", staged=True).count() == 3
    assert pipeline.search(spark, place, first.id, "metadata['owner'] = 'ann'").count() == 1

    changes = pipeline.diff(spark, place, "main~1", "main").orderBy("path").collect()
    assert [(row.path, row.change) for row in changes] == [("a/x", "removed"), ("a/y", "changed"), ("b", "added")]
    assert (changes[1].left.size, changes[1].right.size, changes[0].right) == (3, 5, None)

    log = pipeline.log(spark, place, "main", amount=2).collect()
    assert [(row.id, row.message, row.metadata) for row in log] == [
        (second.id, "second", {}),
        (first.id, "first", {"job": "1"}),
    ]
    assert [tuple(row) for row in pipeline.refs(spark, place).collect()] == [("main", "branch", second.id, None)]


def test_a_batch_is_committed_once_and_a_failed_job_leaves_no_workspace(
    spark: SparkSession, place: Place, main: Branch
) -> None:
    for number in (0, 1, 1, 0):
        pipeline.write(numbers(spark, number, number + 1), place, "main", "t", batch=Batch("events", number))
    assert ids(pipeline.read(spark, place, "main", "t")) == [0, 1]
    head = main.head()
    broken = numbers(spark, 0, 10).selectExpr("id", "if(id = 7, raise_error('broken'), id) AS checked")
    with pytest.raises(Exception, match="broken"):
        pipeline.write(broken, place, "main", "u")
    assert main.head() == head
    assert pipeline.check_objects(spark, place, "main").sound


def test_what_needs_the_stores_says_so(spark: SparkSession, place: Place, lake: Lake) -> None:
    with pytest.raises(NeedsStores, match="kv="):
        pipeline.plan_garbage(spark, place)
    assert place.secret not in repr(place)
    assert lake.repo("sales").name == "sales"


def test_a_repository_on_the_servers_own_machine_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with headwater_server.serve(tmp_path) as server:
        there = Place("sales", endpoint=server.url, key=server.access_key_id, secret=server.secret_access_key)
        with headwater.connect(server.url, server.access_key_id, server.secret_access_key) as lake:
            main = lake.create_repo("sales").branch("main")
            main.put("t/a.parquet", b"anything")
        with pytest.raises(NotInPlace, match="S3 gateway"):
            pipeline.read(spark, there, "main", "t")
        with pytest.raises(NotInPlace, match="signs no URLs"):
            pipeline.read(spark, there, "main", "t", presigned=True)
        with pytest.raises(NotInPlace, match="S3 gateway"):
            pipeline.write(numbers(spark, 0, 1), there, "main", "t")
        assert pipeline.entries(spark, there, "main", staged=True).count() == 1


def test_hw_spark_searches_on_a_server(place: Place, main: Branch) -> None:
    main.put("a", b"one")
    main.commit("first")
    environment = {
        **os.environ,
        "HEADWATER_ENDPOINT": place.endpoint or "",
        "HEADWATER_ACCESS_KEY_ID": place.key,
        "HEADWATER_SECRET_ACCESS_KEY": place.secret,
    }
    local = ["spark.driver.host=127.0.0.1", "spark.driver.bindAddress=127.0.0.1", "spark.driver.memory=512m"]
    conf = [part for setting in local for part in ("--conf", setting)]
    hw = str(Path(sys.executable).parent / "hw")
    command = [hw, "--json", "spark", "search", "--master", "local[1]", *conf, "sales", "main", "size = 3"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert [row["path"] for row in json.loads(ran.stdout)] == ["a"]
