"""A server whose repositories are in a bucket: it tells where things are, and the bytes go past it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headwater
from dev.servers import headwater as headwater_server
from headwater import pipeline
from headwater.engine.errors import BadRequest
from headwater.pipeline import Place
from headwater.pipeline.conditions import Condition
from headwater.pipeline.errors import NotInPlace
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


def holed(keep: set[tuple[int, str]]) -> bytes:
    """A Parquet file of four row groups, in which nothing but the columns *keep* of row groups is still there."""
    rows = pa.table({"id": range(400), "text": [f"t{number}" for number in range(400)], "none": [None] * 400})
    sink = io.BytesIO()
    pq.write_table(rows, sink, row_group_size=100, use_dictionary=False, write_page_checksum=True)
    content = bytearray(sink.getvalue())
    metadata = pq.ParquetFile(io.BytesIO(bytes(content))).metadata
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            column = metadata.row_group(group).column(place)
            if (group, column.path_in_schema) not in keep:
                start, size = column.data_page_offset, column.total_compressed_size
                content[start : start + size] = bytes(size)
    return bytes(content)


def test_of_presigned_files_only_what_is_asked_for_is_read(spark: SparkSession, place: Place, main: Branch) -> None:
    main.put("t/day=1/a.parquet", holed({(1, "id"), (2, "id"), (1, "text"), (2, "text")}))
    main.put("t/day=2/a.parquet", b"no Parquet at all")
    where: list[Condition] = [("day", "=", 1), ("id", ">=", 150), ("id", "<", 210)]
    found = pipeline.read(spark, place, "main", "t", presigned=True, columns=["text", "day"], where=where)
    assert found.columns == ["text", "day"]
    assert sorted(map(tuple, found.collect())) == [(f"t{number}", 1) for number in range(150, 210)]
    few: list[Condition] = [*where, ("id", "in", [151, 7])]
    one = pipeline.read(spark, place, "main", "t", presigned=True, columns=["id"], where=few)
    assert ids(one) == [151]
    none = pipeline.read(spark, place, "main", "t", presigned=True, where=[*where, ("id", ">", 1000)])
    assert (none.columns, none.collect()) == (["id", "text", "none", "day"], [])
    with pytest.raises(Exception, match=r"(?i)page|parquet"):
        pipeline.read(spark, place, "main", "t", presigned=True, where=where[:2]).collect()
    with pytest.raises(BadRequest, match="where"):
        pipeline.read(spark, place, "main", "t", presigned=True, where=[("id", "=", "text")])
    for wrong in (("id", "like", "1"), ("id", "=", None), ("id", "in", 7)):
        with pytest.raises(BadRequest, match="where id"):
            pipeline.read(spark, place, "main", "t", where=[wrong])


@pytest.mark.usefixtures("lake")
def test_what_is_asked_for_is_the_same_read_in_place(spark: SparkSession, place: Place) -> None:
    pipeline.write(numbers(spark, 0, 30), place, "main", "t", partition_by=["third"])
    where: list[Condition] = [("third", "!=", 1), ("text", "in", ["t1", "t2", "t3", "t30"])]
    for presigned in (False, True):
        found = pipeline.read(spark, place, "main", "t", columns=["id", "third"], where=where, presigned=presigned)
        assert sorted(map(tuple, found.collect())) == [(2, 2), (3, 0)]


def test_sql_sees_what_is_on_a_server(spark: SparkSession, place: Place, main: Branch) -> None:
    for path in ("a/x", "a/y", "b"):
        main.put(path, path.encode())
    main.commit("first")
    main.put("a/x", b"changed")
    main.delete("b")
    second = main.commit("second")
    main.put("staged", b"1")
    pipeline.register(spark)
    told = {"repo": "sales", "endpoint": place.endpoint or "", "key": place.key, "secret": place.secret}
    for options in (told, {**told, "storage": place.storage or "", **place.storage_credentials}):
        views = spark.read.format("headwater").options(**options)
        rows = views.load().where("path LIKE 'a/%'").orderBy("path").collect()
        plain = pipeline.entries(spark, place, "main", prefix="a/").orderBy("path").collect()
        assert [row.asDict() for row in rows] == [row.asDict() for row in plain]
        assert views.option("staged", "true").load().count() == 3
        assert views.option("view", "log").load().collect()[0].id == second.id
        assert [row.commit for row in views.option("view", "refs").load().collect()] == [second.id]
        changes = views.options(view="diff", left="main~1", right="main").load().orderBy("path").collect()
        assert [(row.path, row.change) for row in changes] == [("a/x", "changed"), ("b", "removed")]
        assert (changes[0].left.size, changes[0].right.size, changes[1].right) == (3, 7, None)


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


def test_a_place_shows_no_secret(place: Place) -> None:
    assert place.secret not in f"{place!r} {place}"


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
