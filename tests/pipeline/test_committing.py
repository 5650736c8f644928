"""Entries committed from Spark, beside the engine's own import of the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import headwater
from headwater import pipeline
from headwater.pipeline import BadFrame, Place
from tests.pipeline.lakes import place_in, rows_of, table, tree_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_spark_and_the_engine_make_the_same_tree_whatever_the_number_of_tasks(
    spark: SparkSession, tmp_path: Path
) -> None:
    place = place_in(tmp_path)
    rows = table(60_000)
    with headwater.open(tmp_path, durability="os") as lake:
        repo = lake.repo("sales")
        for name in ("engine", "one", "many"):
            repo.create_branch(name, "main")
        repo.branch("engine").import_table(rows, message="import")
    frame = spark.createDataFrame(rows)
    for branch, tasks in (("one", 1), ("many", 5)):
        done = pipeline.commit_entries(frame, place, branch, message="import", tasks=tasks)
        assert done.entries == 60_000
        assert done.tree == tree_of(place, "engine")
    assert rows_of(place, "many", "p3/") == rows_of(place, "engine", "p3/")


def test_a_merge_over_what_is_there_is_that_of_the_engine(spark: SparkSession, tmp_path: Path) -> None:
    """Some entries are new, some changed, some the same content at another address, and one has a delta on top."""
    place = place_in(tmp_path)
    again = pa.concat_tables([table(9_000, salt="x", step=3), table(500, prefix="q")])
    moved = table(2_000, prefix="p", step=7).set_column(1, "address", pa.array(["s3://moved/x"] * 2_000))
    moved = moved.filter(pa.array([int(path[-7:]) % 3 != 0 for path in moved["path"].to_pylist()]))
    rows = pa.concat_tables([again, moved])
    with headwater.open(tmp_path, durability="os") as lake:
        repo = lake.repo("sales")
        main = repo.branch("main")
        main.import_table(table(30_000), message="import")
        main.put("p1/new", b"new", metadata={"owner": "ann", "b": "c"}, content_type="text/plain")
        main.commit("on top")
        repo.create_branch("engine", "main")
        repo.branch("engine").import_table(rows, message="again")
    done = pipeline.commit_entries(spark.createDataFrame(rows), place, "main", message="again", tasks=3)
    assert done.tree == tree_of(place, "engine")


def test_replacing_a_prefix_leaves_the_rest(spark: SparkSession, tmp_path: Path) -> None:
    place = place_in(tmp_path)
    frame = spark.createDataFrame(table(5_000))
    pipeline.commit_entries(frame, place, "main", message="all")
    before = rows_of(place, "main")
    few = frame.where("path LIKE 'p3/%' AND size < 500")
    pipeline.commit_entries(few, place, "main", message="fewer", mode="replace", prefix="p3/")
    after = rows_of(place, "main")
    assert after == {p: row for p, row in before.items() if not p.startswith("p3/") or row[0] < 500}


def test_entries_with_metadata_and_blocks_come_back_as_they_were(spark: SparkSession, tmp_path: Path) -> None:
    place = place_in(tmp_path)
    frame = spark.sql(
        "SELECT 'a' AS path, 's3://b/a' AS address, 3L AS size, map('z', '1', 'k', '2') AS metadata, "
        "CAST(null AS array<struct<address:string,offset:bigint,length:bigint>>) AS blocks UNION ALL "
        "SELECT 'b', null, 7L, null, array(named_struct('address', 's3://b/x', 'offset', 2L, 'length', 7L))"
    )
    pipeline.commit_entries(frame, place, "main", message="two")
    a, b = pipeline.entries(spark, place, "main").orderBy("path").collect()
    assert (a.metadata, a.address, a.blocks) == ({"k": "2", "z": "1"}, "s3://b/a", None)
    assert (b.metadata, b.address, [tuple(block) for block in b.blocks]) == (None, None, [("s3://b/x", 2, 7)])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"path": ["a"], "size": [1]}, "missing: address"),
        ({"path": ["a"], "size": [1], "address": ["x"], "colour": ["red"]}, "unknown: colour"),
        ({"path": ["a", "a"], "size": [1, 2], "address": ["x", "y"]}, "'a'"),
        ({"path": ["a\0"], "size": [1], "address": ["x"]}, "without NUL"),
        ({"path": ["a"], "size": [-1], "address": ["x"]}, "a size of 0 or more"),
    ],
)
def test_rows_that_no_entry_can_be_end_the_job_and_change_nothing(
    spark: SparkSession, tmp_path: Path, rows: dict[str, list[object]], message: str
) -> None:
    place = place_in(tmp_path)
    with pytest.raises(Exception, match=message) as raised:
        pipeline.commit_entries(spark.createDataFrame(pa.table(rows)), place, "main", message="bad", tasks=1)
    assert isinstance(raised.value, BadFrame) or message in str(raised.value)
    assert rows_of(place, "main") == {}


def test_what_others_committed_meanwhile_is_kept(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headwater.pipeline import committing, segmenting  # noqa: PLC0415  (they need Spark)

    place = place_in(tmp_path)
    written = segmenting.write_segments

    def write_and_be_overtaken(*arguments: object) -> object:
        done = written(*arguments)  # type: ignore[arg-type]  # as they come
        with headwater.open(tmp_path) as lake:
            main = lake.repo("sales").branch("main")
            main.put("others", b"1")
            main.commit("meanwhile")
        return done

    monkeypatch.setattr(committing, "write_segments", write_and_be_overtaken)
    pipeline.commit_entries(spark.createDataFrame(table(3_000)), place, "main", message="ours")
    assert len(rows_of(place, "main")) == 3_001


def test_committing_what_is_there_is_nothing_to_commit(spark: SparkSession, tmp_path: Path) -> None:
    place = place_in(tmp_path)
    frame = spark.createDataFrame(table(3_000))
    pipeline.commit_entries(frame, place, "main", message="once")
    with pytest.raises(headwater.NothingToCommit):
        pipeline.commit_entries(frame, place, "main", message="twice")


def test_a_place_shows_no_credentials() -> None:
    place = Place("sales", kv="mem://", storage="s3://bucket", storage_credentials={"secret_access_key": "hidden"})
    assert "hidden" not in f"{place} {place!r}"
