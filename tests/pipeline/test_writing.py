"""DataFrames written into branches and read back, in batches and in streams."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater
from headwater import pipeline
from headwater.engine.errors import BadRequest
from headwater.pipeline import Place
from tests.pipeline.lakes import place_in, rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return place_in(tmp_path / "lake")


def numbers(spark: SparkSession, start: int, end: int) -> DataFrame:
    return spark.range(start, end, 1, 2).selectExpr("id", "id % 3 AS third", "concat('t', id) AS text")


def ids(frame: DataFrame) -> list[int]:
    return sorted(row.id for row in frame.select("id").collect())


def test_what_is_appended_is_read_back_and_is_one_commit(spark: SparkSession, place: Place) -> None:
    first = pipeline.write(numbers(spark, 0, 10), place, "main", "t", message="first")
    assert first.files == 2
    pipeline.write(numbers(spark, 10, 15), place, "main", "/t/")
    assert ids(pipeline.read(spark, place, "main", "t")) == list(range(15))
    assert ids(pipeline.read(spark, place, "main~1", "t")) == list(range(10))
    assert [row.message for row in pipeline.log(spark, place, "main", amount=2).collect()] == [
        "Write t from Spark",
        "first",
    ]


def test_overwriting_replaces_all_that_is_below_the_path(spark: SparkSession, place: Place) -> None:
    pipeline.write(numbers(spark, 0, 10), place, "main", "t")
    pipeline.write(numbers(spark, 0, 2), place, "main", "t2")
    pipeline.write(numbers(spark, 20, 25), place, "main", "t", mode="overwrite")
    assert ids(pipeline.read(spark, place, "main", "t")) == list(range(20, 25))
    assert ids(pipeline.read(spark, place, "main", "t2")) == [0, 1]


def test_overwriting_partitions_leaves_the_others(spark: SparkSession, place: Place) -> None:
    pipeline.write(numbers(spark, 0, 9), place, "main", "t", partition_by=["third"])
    fresh = numbers(spark, 100, 109).where("third = 1")
    pipeline.write(fresh, place, "main", "t", mode="overwrite-partitions", partition_by=["third"])
    found = pipeline.read(spark, place, "main", "t")
    assert ids(found.where("third = 1")) == [100, 103, 106]
    assert ids(found.where("third <> 1")) == [0, 2, 3, 5, 6, 8]
    assert dict(found.dtypes)["third"] == "bigint"


def test_a_job_that_fails_leaves_nothing_that_shows(spark: SparkSession, place: Place) -> None:
    frame = numbers(spark, 0, 10).selectExpr("id", "if(id = 7, raise_error('broken'), id) AS checked")
    with pytest.raises(Exception, match="broken"):
        pipeline.write(frame, place, "main", "t")
    assert rows_of(place, "main") == {}
    pipeline.write(numbers(spark, 0, 10), place, "main", "t")
    assert ids(pipeline.read(spark, place, "main", "t")) == list(range(10))


def test_files_put_through_the_sdk_are_read_in_place(spark: SparkSession, place: Place) -> None:
    assert place.lake is not None
    with headwater.open(place.lake, durability="os") as lake:
        main = lake.repo("sales").branch("main")
        main.put("csv/a.csv", b"id,name\n1,a\n")
        main.put("csv/b.csv", b"id,name\n2,b\n")
    found = pipeline.read(spark, place, "main", "csv", format="csv", options={"header": "true"})
    assert sorted(tuple(row) for row in found.collect()) == [("1", "a"), ("2", "b")]
    with pytest.raises(headwater.PathNotFound):
        pipeline.read(spark, place, "main@", "csv")


def test_what_cannot_be_meant_is_refused(spark: SparkSession, place: Place) -> None:
    frame = numbers(spark, 0, 1)
    with pytest.raises(BadRequest, match="mode="):
        pipeline.write(frame, place, "main", "t", mode="upsert")  # type: ignore[arg-type]  # that is the point
    with pytest.raises(BadRequest, match="partition_by"):
        pipeline.write(frame, place, "main", "t", mode="overwrite-partitions")
    with pytest.raises(BadRequest, match="path"):
        pipeline.write(frame, place, "main", "/")
    with pytest.raises(headwater.RefNotFound):
        pipeline.write(frame, place, "nowhere", "t")


def test_a_stream_commits_each_batch_once_across_restarts(spark: SparkSession, place: Place, tmp_path: Path) -> None:
    source, checkpoint = tmp_path / "source", tmp_path / "checkpoint"
    source.mkdir()
    sink = pipeline.stream_into(place, "main", "events", stream="events")

    def run() -> None:
        query = (
            spark.readStream.schema("id bigint")
            .option("maxFilesPerTrigger", 1)
            .json(str(source))
            .writeStream.foreachBatch(sink)
            .option("checkpointLocation", str(checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    for number in range(2):
        (source / f"{number}.json").write_text(f'{{"id": {number}}}\n')
    run()
    assert ids(pipeline.read(spark, place, "main", "events")) == [0, 1]
    last = max((checkpoint / "commits").glob("[0-9]*"), key=lambda file: int(file.name))
    last.unlink()  # as if the driver had been killed after the commit, and before Spark noted that the batch was done
    (checkpoint / "commits" / f".{last.name}.crc").unlink(missing_ok=True)
    (source / "2.json").write_text('{"id": 2}\n')
    run()
    assert ids(pipeline.read(spark, place, "main", "events")) == [0, 1, 2]
    batches = [row.message for row in pipeline.log(spark, place, "main").collect()]
    assert batches == ["Batch 2 of events", "Batch 1 of events", "Batch 0 of events", "Repository created"]
