"""A driver to be killed: it runs jobs, and says `half` when files of each lie there, and nothing is committed."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

from headwater import pipeline
from headwater.pipeline import Place

ENTRIES = (
    "concat('p/', lpad(id, 7, '0')) AS path",
    "concat('s3://elsewhere/', id) AS address",
    "id % 1000 AS size",
    "hex(id) AS checksum",
)
"""Entries, of numbers."""

MANY = 60_000


def write(spark: SparkSession, place: Place, lake: Path) -> None:  # noqa: ARG001  (as the others)
    """Half of its tasks wait for as long as they are let."""
    slow = spark.range(0, 4, 1, 4).selectExpr(
        "id", "if(id > 1, reflect('java.lang.Thread', 'sleep', 600000L), null) AS slept"
    )
    pipeline.write(slow, place, "main", "table")


def commit(spark: SparkSession, place: Place, lake: Path) -> None:  # noqa: ARG001
    """Many tasks make segments, one after the other."""
    frame = spark.range(0, MANY, 1, 2).selectExpr(*ENTRIES)
    pipeline.commit_entries(frame, place, "entries", message="many", tasks=12)


def export(spark: SparkSession, place: Place, lake: Path) -> None:
    """Each copy waits for the disk."""
    pipeline.export(spark, place, "main", f"file://{lake}/target")


JOBS: dict[str, tuple[str, Callable[[SparkSession, Place, Path], None]]] = {
    "write": ("objects/sales/workspaces/*/table/**/*.parquet", write),
    "commit": ("objects/sales/meta/segments/**/*.parquet", commit),
    "export": ("target/many/*", export),
}
"""What each job is to have written when it is half done, and the job."""


def main() -> None:
    lake = Path(sys.argv[1])
    spark = (
        SparkSession.builder.master("local[4]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.driver.memory", "512m")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    for name in sys.argv[2:]:
        pattern, job = JOBS[name]
        threading.Thread(target=job, args=[spark, Place("sales", lake=str(lake)), lake]).start()
        while not any(lake.glob(pattern)):
            time.sleep(0.01)
    sys.stdout.write("half\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
