"""A driver that is killed in the middle leaves the branch as it was, and the job can be run again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark import TaskContext

import headwater
from headwater import pipeline
from tests.pipeline.half_written import ENTRIES, MANY
from tests.pipeline.lakes import place_in, rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def killed_half_way(directory: Path, *jobs: str) -> None:
    """Run *jobs* in a process of their own, and kill that when files of each lie there."""
    driver = subprocess.Popen(
        [sys.executable, "-m", "tests.pipeline.half_written", str(directory), *jobs],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parents[2],
        start_new_session=True,
    )
    assert driver.stdout is not None
    try:
        assert "half" in iter(driver.stdout.readline, "").__next__()
    finally:
        os.killpg(driver.pid, signal.SIGKILL)  # the driver and its JVM
        driver.wait()
        driver.stdout.close()


def test_a_killed_driver_leaves_branches_readable_and_its_jobs_run_again(spark: SparkSession, tmp_path: Path) -> None:
    """It was writing a DataFrame to one branch, and committing entries to another."""
    place = place_in(tmp_path)
    with headwater.open(tmp_path, durability="os") as lake:
        repo = lake.repo("sales")
        repo.branch("main").put("before", b"1")
        repo.branch("main").commit("before")
        repo.create_branch("entries", "main")
    killed_half_way(tmp_path, "write", "commit")
    assert set(rows_of(place, "main")) == set(rows_of(place, "entries")) == {"before"}
    assert list((tmp_path / "objects/sales/workspaces").iterdir())

    pipeline.write(spark.range(4), place, "main", "table")
    assert pipeline.read(spark, place, "main", "table").count() == 4
    frame = spark.range(0, MANY, 1, 2).selectExpr(*ENTRIES)
    assert pipeline.commit_entries(frame, place, "entries", message="again").entries == MANY + 1
    found = pipeline.entries(spark, place, "entries", prefix="p/").selectExpr("count(DISTINCT path)", "sum(size)")
    assert [tuple(row) for row in found.collect()] == [(MANY, sum(number % 1000 for number in range(MANY)))]


def test_a_killed_export_is_not_taken_for_done_and_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    place = place_in(tmp_path)
    files = {f"many/{number:03d}": b"%d" % number for number in range(200)}
    with headwater.open(tmp_path, durability="os") as lake:
        main = lake.repo("sales").branch("main")
        for path, content in files.items():
            main.put(path, content)
        main.commit("files")
    target = tmp_path / "target"
    target.mkdir()
    killed_half_way(tmp_path, "export")
    assert not (target / "_SUCCESS").exists()
    there = len(list((target / "many").iterdir()))
    assert 0 < there < len(files)
    done = pipeline.export(spark, place, "main", f"file://{target}")
    assert (done.files, done.copied < len(files)) == (len(files), True)
    assert {f"many/{file.name}": file.read_bytes() for file in (target / "many").iterdir()} == files
    assert (target / "_SUCCESS").exists()


def test_tasks_that_fail_after_they_wrote_and_are_tried_again_leave_no_duplicate(
    spark: SparkSession, tmp_path: Path
) -> None:
    place = place_in(tmp_path)

    def failing_first(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        yield from batches
        context = TaskContext.get()
        if context is not None and context.attemptNumber() == 0:
            (tmp_path / f"failed{context.partitionId()}").touch()
            raise RuntimeError("the first try fails at its end")

    frame = spark.range(0, 40, 1, 2).mapInArrow(failing_first, "id long")
    done = pipeline.write(frame, place, "main", "table", options={"maxRecordsPerFile": "5"})
    assert {file.name for file in tmp_path.glob("failed*")} == {"failed0", "failed1"}
    assert sorted(row.id for row in pipeline.read(spark, place, "main", "table").collect()) == list(range(40))
    assert len(rows_of(place, "main")) == done.files == 8
