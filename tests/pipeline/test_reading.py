"""Entries, differences and history as DataFrames, against what the SDK says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import headwater
from headwater import pipeline
from headwater.pipeline import Place
from tests.pipeline.lakes import place_in, rows_of, table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Twenty thousand entries in segments, then a few changes on top, then something staged."""
    directory = tmp_path_factory.mktemp("reading")
    place = place_in(directory)
    with headwater.open(directory, durability="os") as lake:
        repo = lake.repo("sales")
        main = repo.branch("main")
        main.import_table(table(20_000), message="import")
        repo.create_tag("v1", "main", message="the first")
        main.put("p1/new", b"new", metadata={"owner": "ann"})
        main.delete("p0/0000007")
        main.put("p2/0000002", b"changed")
        main.commit("a few changes")
        main.put("staged/a", b"1")
        main.delete("p1/new")
    return place


def told(frame: DataFrame) -> dict[str, tuple[int, str | None]]:
    return {row.path: (row.size, row.checksum) for row in frame.select("path", "size", "checksum").collect()}


def test_entries_of_a_commit_are_those_that_the_sdk_lists(spark: SparkSession, place: Place) -> None:
    found = told(pipeline.entries(spark, place, "main@"))
    assert found == rows_of(place, "main@")
    assert pipeline.entries(spark, place, "main@").count() == 20_000
    assert pipeline.entries(spark, place, "v1").count() == 20_000


def test_entries_below_a_prefix_open_no_other_segments(spark: SparkSession, place: Place) -> None:
    frame = pipeline.entries(spark, place, "v1", prefix="p3/")
    assert told(frame) == rows_of(place, "v1", "p3/")
    assert 0 < len(frame.inputFiles()) < len(pipeline.entries(spark, place, "v1").inputFiles())
    assert pipeline.entries(spark, place, "main", prefix="nothing/").count() == 0


def test_entries_with_what_is_staged_are_what_a_reader_of_the_branch_sees(spark: SparkSession, place: Place) -> None:
    assert told(pipeline.entries(spark, place, "main", staged=True)) == rows_of(place, "main")


def test_a_diff_tells_both_sides_and_reads_only_segments_that_differ(spark: SparkSession, place: Place) -> None:
    rows = pipeline.diff(spark, place, "v1", "main").collect()
    changes = {row.path: (row.change, row.left and row.left.size, row.right and row.right.size) for row in rows}
    assert changes == {
        "p0/0000007": ("removed", 7, None),
        "p1/new": ("added", None, 3),
        "p2/0000002": ("changed", 2, 7),
    }
    assert pipeline.diff(spark, place, "v1", "v1").count() == 0
    assert [row.path for row in pipeline.diff(spark, place, "v1", "main", prefix="p2/").collect()] == ["p2/0000002"]


def test_a_diff_of_trees_joins_the_segments_that_are_not_shared(spark: SparkSession, tmp_path: Path) -> None:
    place = place_in(tmp_path)
    with headwater.open(tmp_path, durability="os") as lake:
        main = lake.repo("sales").branch("main")
        main.import_table(table(20_000), message="import")
        main.import_table(table(4_000, salt="x", step=2), message="some again")
    rows = pipeline.diff(spark, place, "main~1", "main").collect()
    assert {row.path for row in rows} == {f"p{number % 7}/{number:07d}" for number in range(0, 8000, 2)}
    assert {row.change for row in rows} == {"changed"}


@pytest.mark.parametrize("prefix", ["", "p3/", "p3/0030"])
def test_a_diff_finds_in_ranges_of_segments_what_a_comparison_of_all_entries_finds(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    """Ranges of two segments; entries at the ends of both sides; deltas on both that tell otherwise than the trees."""
    monkeypatch.setattr("headwater.pipeline.differing.COMPARED", 2)
    place = place_in(tmp_path)
    with headwater.open(tmp_path, durability="os") as lake:
        repo = lake.repo("sales")
        repo.create_branch("other", "main")
        main, other = repo.branch("main"), repo.branch("other")
        main.import_table(table(50_000), message="all")
        other.import_table(
            pa.concat_tables([table(1_300, step=30, salt="x"), table(9_000, prefix="o"), table(9_000, prefix="q")]),
            message="others",
        )
        main.import_table(table(9, prefix="p3/0030"), message="a delta")
        other.import_table(table(9, prefix="p3/0030", salt="y", step=2), message="another")
        other.delete("p3/0000150")
        other.commit("less")
    left, right = rows_of(place, "main", prefix), rows_of(place, "other", prefix)
    rows = pipeline.diff(spark, place, "main", "other", prefix=prefix).collect()
    found = {
        row.path: (row.left and (row.left.size, row.left.checksum), row.right and row.right.checksum) for row in rows
    }
    assert found == {
        path: (left.get(path), right[path][1] if path in right else None)
        for path in left.keys() | right.keys()
        if left.get(path) != right.get(path)
    }
    assert len(rows) == len(found)
    changes = {row.path: row.change for row in rows}
    assert all((changes[path] == "added") == (path not in left) for path in found)
    assert all((changes[path] == "removed") == (path not in right) for path in found)


def test_history_and_references_are_frames(spark: SparkSession, place: Place) -> None:
    log = pipeline.log(spark, place, "main")
    assert [row.message for row in log.collect()] == ["a few changes", "import", "Repository created"]
    assert [row.message for row in pipeline.log(spark, place, "main", amount=1).collect()] == ["a few changes"]
    assert pipeline.commits(spark, place).count() >= 3
    refs = {(row.name, row.kind): row.message for row in pipeline.refs(spark, place).collect()}
    assert refs == {("main", "branch"): None, ("v1", "tag"): "the first"}


def test_metadata_is_searched_with_sql(spark: SparkSession, place: Place) -> None:
    found = pipeline.search(spark, place, "main@", "metadata['owner'] = 'ann' AND size = 3")
    assert [row.path for row in found.collect()] == ["p1/new"]


def test_sql_sees_the_views_and_opens_only_the_segments_of_a_prefix(spark: SparkSession, place: Place) -> None:
    """The format is found by its name alone; registering it has filters handed down, too."""
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    where = spark.read.format("headwater").option("lake", place.lake).option("repo", "sales")
    assert told(where.option("ref", "main").load()) == rows_of(place, "main@")
    assert told(where.option("staged", "true").load()) == rows_of(place, "main")
    assert told(where.option("ref", "v1").load()) == rows_of(place, "v1")  # a tag has nothing staged
    where.load().createOrReplaceTempView("files")
    below = spark.sql("SELECT * FROM files WHERE path LIKE 'p3/%' AND size < 500")
    assert told(below) == {path: row for path, row in rows_of(place, "v1", "p3/").items() if row[0] < 500}
    one = spark.sql("SELECT path, size FROM files WHERE path = 'p0/0000007'").collect()
    assert [(row.path, row.size) for row in one] == [("p0/0000007", 7)]
    changes = where.option("view", "diff").option("left", "v1").option("right", "main").load()
    assert {row.path: (row.change, row.right and row.right.size) for row in changes.collect()} == {
        "p0/0000007": ("removed", None),
        "p1/new": ("added", 3),
        "p2/0000002": ("changed", 7),
    }
    assert where.option("view", "log").option("ref", "main").load().count() == 3
    assert {row.name for row in where.option("view", "refs").load().collect()} == {"main", "v1"}


def test_filters_on_the_path_leave_few_segments_to_be_read(place: Place) -> None:
    """What Spark hands down, handed to the reader by hand: the plan has the segments of that prefix."""
    from pyspark.sql.datasource import EqualTo, StringStartsWith  # noqa: PLC0415  (it needs Spark)

    from headwater.pipeline.source import HeadwaterSource  # noqa: PLC0415

    def segments(*filters: object) -> int:
        source = HeadwaterSource({"lake": str(place.lake), "repo": "sales", "ref": "v1"})
        reader = source.reader(source.schema())
        assert list(reader.pushFilters(list(filters))) == list(filters)  # type: ignore[arg-type]  # they are filters
        return sum(len(getattr(part, "segments", ())) for part in reader.partitions())

    everything = segments()
    assert segments(EqualTo(("path",), "p0/0000007")) == 1
    assert 0 < segments(StringStartsWith(("path",), "p3/")) < everything
