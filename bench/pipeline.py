"""The pipeline beside plain Parquet: `python -m bench.pipeline --rows 2000000`. Prints the table of docs/pipeline.md.

The same rows are committed to a lake, and written, sorted, as one plain Parquet dataset; both are read by the same
Spark in the same run. Committing is timed in sessions of their own, on one core and on two.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import headwater
from headwater import pipeline
from headwater.pipeline import Place

REPEATS = 3


def session(cores: int) -> SparkSession:
    settings = {
        "spark.driver.memory": "3g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "8",
    }
    builder = SparkSession.builder.master(f"local[{cores}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def rows(spark: SparkSession, count: int, *, changed: bool = False) -> DataFrame:
    """Entries with paths of some 60 bytes; *changed*: of one in a hundred, all over, the content is another."""
    salt = "if(id % 100 = 7, 'x', '')" if changed else "''"
    return spark.range(count).selectExpr(
        "concat('warehouse/orders/day=', lpad(cast(id DIV 50000 AS string), 5, '0'), '/part-', "
        "lpad(cast(id AS string), 12, '0'), '.parquet') AS path",
        "concat('data/f8cb61/', md5(cast(id AS string))) AS address",
        "id % 100000 AS size",
        f"md5(concat(cast(id AS string), {salt})) AS checksum",
        "1700000000000 + id AS modified",
    )


def seconds(work: Callable[[], object]) -> float:
    """The fastest of some runs: what else the machine does makes them slower, and never faster."""
    found = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)


def commit(directory: Path, cores: int, count: int) -> float:
    """How long a commit of that many entries takes, from a frame that is at hand."""
    with headwater.open(directory, durability="os") as lake:
        lake.create_repo("bench")
    spark = session(cores)
    source = str(directory / "source")
    rows(spark, count).write.parquet(source)
    frame = spark.read.parquet(source)
    frame.limit(1000).mapInArrow(lambda batches: batches, frame.schema).count()  # Python is up
    began = time.perf_counter()
    pipeline.commit_entries(frame, Place("bench", lake=str(directory)), "main", message="entries", tasks=8)
    return time.perf_counter() - began


def compare(directory: Path, count: int) -> dict[str, tuple[float, float]]:
    """Seconds of each operation, on the lake and on plain Parquet."""
    place = Place("bench", lake=str(directory))
    spark = session(2)
    with headwater.open(directory, durability="os") as lake:
        lake.create_repo("bench")
    for changed in (False, True):
        pipeline.commit_entries(rows(spark, count, changed=changed), place, "main", message="entries", tasks=8)
        plain = rows(spark, count, changed=changed).repartitionByRange(4, "path").sortWithinPartitions("path")
        plain.write.option("compression", "zstd").parquet(str(directory / f"plain{changed}"))
    old, new = (spark.read.parquet(str(directory / f"plain{changed}")) for changed in (False, True))
    prefix = "warehouse/orders/day=00003/"
    columns = ["path", "size", "checksum"]
    ours: dict[str, Callable[[], object]] = {
        "count": lambda: pipeline.entries(spark, place, "main").count(),
        "sum of sizes": lambda: pipeline.entries(spark, place, "main").agg(F.sum("size")).collect(),
        "prefix filter": lambda: pipeline.entries(spark, place, "main", prefix=prefix).agg(F.sum("size")).collect(),
        "diff of 1 % changed": lambda: pipeline.diff(spark, place, "main~1", "main").count(),
        "distinct addresses (marking)": lambda: (
            pipeline.entries(spark, place, "main").select("address").distinct().count()
        ),
    }
    plain_work: dict[str, Callable[[], object]] = {
        "count": old.count,
        "sum of sizes": lambda: old.agg(F.sum("size")).collect(),
        "prefix filter": lambda: old.where(F.col("path").startswith(prefix)).agg(F.sum("size")).collect(),
        "diff of 1 % changed": lambda: new.select(columns).join(old.select(columns), columns, "left_anti").count(),
        "distinct addresses (marking)": lambda: old.select("address").distinct().count(),
    }
    return {name: (seconds(work), seconds(plain_work[name])) for name, work in ours.items()}


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--rows", type=int, default=2_000_000)
    given.add_argument("--cores", type=int, help="only the commit, on so many")
    arguments = given.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        if arguments.cores:
            print(json.dumps(commit(Path(directory), arguments.cores, arguments.rows)))
            return
        print(
            f"{arguments.rows} entries, two cores\n\n| | seconds | plain Parquet | ratio |\n| --- | --- | --- | --- |"
        )
        for name, (ours, plain) in compare(Path(directory), arguments.rows).items():
            print(f"| {name} | {ours:.2f} | {plain:.2f} | {ours / plain:.2f} |", flush=True)
    times = {cores: _commit_alone(cores, arguments.rows) for cores in (1, 2)}
    ratio = times[1] / times[2]
    print(f"\ncommit_entries: {times[1]:.1f} s on one core, {times[2]:.1f} s on two: {ratio:.2f} times as fast")


def _commit_alone(cores: int, count: int) -> float:
    command = [sys.executable, "-m", "bench.pipeline", "--rows", str(count), "--cores", str(cores)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    return float(json.loads(ran.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
