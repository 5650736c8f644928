"""Each job against what is told in the plainest way, in a directory and on a real S3 server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import headwater
from dev.servers.versitygw import S3, serve
from headwater import pipeline
from headwater.blob.namespace import data_name
from headwater.garbage import make_plan
from headwater.garbage.plans import parts_of, read_part
from headwater.pipeline import Place
from headwater.pipeline.errors import PipelineError
from headwater.pipeline.place import opened
from tests.conftest import Servers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.sdk.sync import Lake

_buckets = count()


@pytest.fixture(params=["directory", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path, servers: Servers) -> Place:
    if request.param == "directory":
        return Place("sales", lake=str(tmp_path / "lake"))
    s3: S3 = servers.start("versitygw", serve)
    bucket = f"spark{next(_buckets)}"
    s3.make_bucket(bucket)
    keys = {"access_key_id": s3.access_key_id, "secret_access_key": s3.secret_access_key}
    storage = f"s3://{bucket}/lake?endpoint={s3.endpoint}&region=us-east-1"
    return Place("sales", kv=f"lmdb://{tmp_path}/kv", storage=storage, storage_credentials=keys)


@pytest.fixture
def lake(place: Place) -> Iterator[Lake]:
    with headwater.open(
        place.lake, kv=place.kv, storage=place.storage, storage_credentials=place.storage_credentials or None
    ) as opened_lake:
        opened_lake.create_repo("sales")
        yield opened_lake


def target_of(place: Place, tmp_path: Path) -> str:
    """Where to export to: beside the lake, reached in the same way."""
    if place.storage is None:
        (tmp_path / "export").mkdir(exist_ok=True)
        return f"file://{tmp_path}/export"
    return place.storage.replace("/lake?", "/export?")


def file_of(place: Place, directory: Path, name: str) -> Path:
    """The file that an object is, on this machine or on that of the S3 server."""
    if place.storage is None:
        return directory / "lake" / "objects" / "sales" / name
    bucket = place.storage.removeprefix("s3://").partition("?")[0]
    return directory / bucket / "sales" / name


def exported(spark: SparkSession, target: str) -> dict[str, bytes]:
    root = target.partition("?")[0].replace("s3://", "s3a://")
    rows = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(root).collect()
    found = {row.path.partition("/export/")[2]: bytes(row.content) for row in rows}
    return {path: content for path, content in found.items() if not path.startswith("_")}


def test_the_jobs_do_what_they_say(
    spark: SparkSession, place: Place, lake: Lake, tmp_path: Path, servers: Servers
) -> None:
    """One lake goes through all of them: what one leaves, the next one finds."""
    main = lake.repo("sales").branch("main")
    for path, content in {"a/x.csv": b"one", "a/y.csv": b"two", "b/copy.bin": b"one", "c": b"three"}.items():
        main.put(path, content)
    first = main.commit("first")

    _write_and_read(spark, place)
    _statistics(spark, place)
    _export(spark, place, lake, target_of(place, tmp_path))
    _deduplicate(spark, place)
    _check(spark, place, first.id)
    _garbage(spark, place, tmp_path if place.lake else servers.start("versitygw", serve).directory)


def _write_and_read(spark: SparkSession, place: Place) -> None:
    written = pipeline.write(spark.range(5), place, "main", "table", message="table")
    assert pipeline.entries(spark, place, "main", prefix="table").count() == written.files
    assert pipeline.read(spark, place, "main", "table").count() == 5
    assert pipeline.entries(spark, place, "main", prefix="a/").count() == 2


def _statistics(spark: SparkSession, place: Place) -> None:
    told = pipeline.stats(spark, place, "main~1")
    assert (told.objects, told.bytes) == (4, 14)
    assert {share.name: (share.objects, share.bytes) for share in told.prefixes} == {
        "a/": (2, 6),
        "b/": (1, 3),
        "": (1, 5),
    }
    assert {share.name: share.objects for share in told.extensions} == {"csv": 2, "bin": 1, "": 1}
    assert [(each.name, each.shared_bytes) for each in told.branches] == [("main", 0)]
    assert [(each.message, each.added_bytes, each.removed_bytes) for each in told.growth] == [
        ("first", 14, 0),
        ("Repository created", 0, 0),
    ]


def _export(spark: SparkSession, place: Place, lake: Lake, target: str) -> None:
    done = pipeline.export(spark, place, "main~1", target)
    assert (done.files, done.copied, done.bytes, done.since) == (4, 4, 14, None)
    assert exported(spark, target) == {"a/x.csv": b"one", "a/y.csv": b"two", "b/copy.bin": b"one", "c": b"three"}
    again = pipeline.export(spark, place, "main~1", target, full=True)
    assert (again.files, again.copied) == (4, 0)
    lake.repo("sales").create_branch("less", "main~1")
    less = lake.repo("sales").branch("less")
    less.delete("c")
    less.put("a/y.csv", b"changed")
    less.commit("less")
    third = pipeline.export(spark, place, "less", target, delete=True)
    assert (third.files, third.copied, third.deleted, third.since) == (1, 1, 1, done.commit)
    assert exported(spark, target) == {"a/x.csv": b"one", "a/y.csv": b"changed", "b/copy.bin": b"one"}


def _deduplicate(spark: SparkSession, place: Place) -> None:
    dry = pipeline.deduplicate(spark, place, "main", dry_run=True)
    assert (dry.groups, dry.objects, dry.bytes_saved, dry.entries, dry.commit) == (1, 1, 3, 1, None)
    done = pipeline.deduplicate(spark, place, "main")
    assert done.commit is not None
    rows = pipeline.entries(spark, place, "main").where("path IN ('a/x.csv', 'b/copy.bin')").collect()
    assert len({row.address for row in rows}) == 1
    assert {row.path for row in rows} == {"a/x.csv", "b/copy.bin"}
    assert pipeline.deduplicate(spark, place, "main").commit is None


def _check(spark: SparkSession, place: Place, ref: str) -> None:
    sound = pipeline.check_objects(spark, place, ref, content=True)
    assert (sound.entries, sound.problems, sound.sound) == (4, 0, True)
    with opened(place) as driver:
        blobs = driver.repository.blobs
        rows = {row.path: row.address for row in pipeline.entries(spark, place, ref).collect()}
        driver.run(blobs.delete(rows["c"]))
        driver.run(blobs.put(rows["a/y.csv"], b"TWO"))
        driver.run(blobs.put(rows["b/copy.bin"], b"longer"))
        quick = pipeline.check_objects(spark, place, ref)
        assert {each.path: each.problem for each in quick.some} == {
            "b/copy.bin": "it has 6 bytes, and its entry says 3",
            "c": "it is not there",
        }
        assert pipeline.check_objects(spark, place, ref, content=True).problems == 3
        driver.run(blobs.put(rows["c"], b"three"))


def _garbage(spark: SparkSession, place: Place, buckets: Path) -> None:
    """Spark's plan is that of one process, row for row, and is swept like that."""
    with opened(place) as driver:
        old = [data_name(1_700_000_000_000 + number * 4_000_000, f"old{number}") for number in range(5)]
        for name in old:
            driver.run(driver.repository.blobs.put(name, b"old"))
            os.utime(file_of(place, buckets, name), (1_700_000_000, 1_700_000_000))
        plan = pipeline.plan_garbage(spark, place)
        one = driver.run(make_plan(driver.lake, "sales"))
        blobs = driver.repository.blobs
        theirs, ours = (
            pl.concat(
                [driver.run(read_part(blobs, part)) for part in driver.run(parts_of(blobs, each))] or [pl.DataFrame()]
            )
            for each in (plan, one)
        )
        assert theirs.equals(ours)
        assert (plan.objects, plan.bytes, plan.candidates) == (one.objects, one.bytes, one.candidates)
        assert plan.commits == one.commits
        assert set(old) <= set(ours["address"])


def test_an_export_that_comes_out_otherwise_fails_and_leaves_no_success(
    spark: SparkSession, place: Place, lake: Lake, tmp_path: Path
) -> None:
    if place.lake is None:
        pytest.skip("the directory shows it")
    main = lake.repo("sales").branch("main")
    main.put("a", b"one")
    main.commit("first")
    with opened(place) as driver:
        row = pipeline.entries(spark, place, "main").collect()[0]
        driver.run(driver.repository.blobs.put(row.address, b"ONE"))
    target = target_of(place, tmp_path)
    with pytest.raises(Exception, match="check the repository") as raised:
        pipeline.export(spark, place, "main", target)
    assert not isinstance(raised.value, PipelineError)  # it comes through Spark
    assert not (tmp_path / "export" / "_SUCCESS").exists()
