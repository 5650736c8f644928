"""Entries committed from Spark, beside the engine's own import of the same."""

from __future__ import annotations

from collections.abc import Iterable
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


def small(case: str) -> pa.Table:
    """Entries that fall into few of the segments of `table(80_000)`."""
    match case:
        case "here and there":
            return pa.concat_tables([table(3, salt="x", step=9_001), table(2, prefix="a"), table(2, prefix="z")])
        case "many in one place":
            return table(5_000, prefix="p3/0030000-")
        case "those at the ends":
            return pa.concat_tables([table(9, prefix="a"), table(4_000, prefix="z")])
        case _:
            return table(3, salt="x", step=1)


@pytest.mark.parametrize(
    ("case", "tasks"), [("here and there", None), ("many in one place", 3), ("those at the ends", None), ("one", 2)]
)
def test_only_segments_that_rows_fall_into_are_written_and_the_tree_is_that_of_the_engine(
    spark: SparkSession, tmp_path: Path, case: str, tasks: int | None
) -> None:
    """The engine makes its tree of all rows at once. A commit before leaves a delta on the tree that is there."""
    place = place_in(tmp_path)
    delta, rows = table(2, prefix="p5/x"), small(case)
    with headwater.open(tmp_path, durability="os") as lake:
        repo = lake.repo("sales")
        repo.create_branch("engine", "main")
        repo.branch("engine").import_table(latest(table(80_000), delta, rows), message="all")
        repo.branch("main").import_table(table(80_000), message="most")
        repo.branch("main").import_table(delta, message="two more")
    before = segment_files(tmp_path)
    done = pipeline.commit_entries(spark.createDataFrame(rows), place, "main", message="few", tasks=tasks)
    assert done.tree == tree_of(place, "engine")
    assert done.written <= 6 < done.segments
    again = [file for file, time in segment_files(tmp_path).items() if before.get(file) != time]
    assert len(again) <= done.written + 4 * (tasks or 1)


def latest(*tables: pa.Table) -> pa.Table:
    """Of each path the row that comes last."""
    rows = {row["path"]: row for each in tables for row in each.to_pylist()}
    return pa.Table.from_pylist(list(rows.values()), schema=tables[0].schema)


def segment_files(lake: Path) -> dict[Path, int]:
    """The segments that lie there, and when each was written."""
    return {file: file.stat().st_mtime_ns for file in lake.glob("objects/sales/meta/segments/**/*.parquet")}


def test_what_is_replaced_takes_whole_segments_along(spark: SparkSession, tmp_path: Path) -> None:
    """Where a prefix was, what is before it and what comes after meet."""
    place = place_in(tmp_path)
    with headwater.open(tmp_path, durability="os") as lake:
        repo = lake.repo("sales")
        repo.branch("main").import_table(table(80_000), message="import")
        repo.create_branch("engine", "main~1")
        rows = table(80_000)
        kept = [not path.startswith("p3/") or path.endswith("7") for path in rows["path"].to_pylist()]
        repo.branch("engine").import_table(rows.filter(pa.array(kept)), message="less")
    frame = pipeline.entries(spark, place, "main", prefix="p3/").where("path LIKE '%7'").cache()
    done = pipeline.commit_entries(frame.drop("content_id"), place, "main", message="l", mode="replace", prefix="p3/")
    assert done.tree == tree_of(place, "engine")
    assert done.written < done.segments / 2


def test_a_frame_that_comes_out_otherwise_each_time_ends_the_job(spark: SparkSession, tmp_path: Path) -> None:
    place = place_in(tmp_path)
    with headwater.open(tmp_path, durability="os") as lake:
        lake.repo("sales").branch("main").import_table(table(80_000), message="import")
    read_before = tmp_path / "read before"

    def shifting(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for _ in batches:
            path = "p6/0030001" if read_before.exists() else "p1/0030001"
            read_before.touch()
            yield pa.RecordBatch.from_pylist([{"path": path, "address": "s3://elsewhere/1", "size": 1}])

    frame = spark.range(0, 1, 1, 1).mapInArrow(shifting, "path string, address string, size long")
    with pytest.raises(BadFrame, match="read again"):
        pipeline.commit_entries(frame, place, "main", message="few")
    assert len(rows_of(place, "main")) == 80_000


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
