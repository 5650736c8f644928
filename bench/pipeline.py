"""The pipeline beside plain Parquet: `python -m bench.pipeline --rows 2000000`. Prints the tables of docs/pipeline.md.

The same rows are committed to a lake, and written, sorted, as one plain Parquet dataset; both are opened and read by
the same Spark in the same run, in turn. Beside the time that passed, which other work on the machine makes longer, is
the time that this work had the processors for. Committing is timed in sessions of their own, on one core and on two.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import headwater
from headwater import pipeline
from headwater.blob.namespace import data_name
from headwater.pipeline import Place
from headwater.pipeline.place import opened

OLD = 10_000
"""Objects that nothing refers to, for a plan of garbage to find."""

LONG_AGO = 1_600_000_000
PREFIX = "warehouse/orders/day=00003/"
COLUMNS = ["path", "size", "checksum"]


class Spent(msgspec.Struct, frozen=True, order=True):
    """What some work took: of the processors, and on the clock."""

    cpu: float
    wall: float


def session(cores: int) -> SparkSession:
    settings = {
        "spark.driver.memory": "4g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "8",
    }
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
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


_seen: dict[tuple[int, str], int] = {}
"""What each of our processes, by number and start, has had of the processors: those that ended by now, too."""


def processor_seconds() -> float:
    """What this process, the JVM and its Pythons have had of the processors so far."""
    parents: dict[int, int] = {}
    times: dict[int, tuple[str, int]] = {}
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
            parents[int(directory.name)] = int(fields[1])
            times[int(directory.name)] = fields[19], int(fields[11]) + int(fields[12])
    ours = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in ours} - ours:
        ours |= more
    _seen.update({(each, times[each][0]): times[each][1] for each in ours})
    return sum(_seen.values()) / os.sysconf("SC_CLK_TCK")


def spent(work: Callable[[], object]) -> Spent:
    before, began = processor_seconds(), time.perf_counter()
    work()
    return Spent(processor_seconds() - before, time.perf_counter() - began)


def in_turn(repeats: int, *works: Callable[[], object]) -> list[Spent]:
    """The least that each took, of some runs in turn: other work makes them slower, and never faster."""
    found = [[spent(work) for work in works] for _ in range(repeats)]
    return [Spent(min(each.cpu for each in some), min(each.wall for each in some)) for some in zip(*found, strict=True)]


def commit(directory: Path, cores: int, count: int) -> Spent:
    """What a commit of that many entries takes, from a frame that is at hand."""
    with headwater.open(directory, durability="os") as lake:
        lake.create_repo("bench")
    spark = session(cores)
    source = str(directory / "source")
    rows(spark, count).write.parquet(source)
    frame = spark.read.parquet(source)
    frame.limit(1000).mapInArrow(lambda batches: batches, frame.schema).count()  # Python is up
    place = Place("bench", lake=str(directory))
    return spent(lambda: pipeline.commit_entries(frame, place, "main", message="entries", tasks=tasks_of(count)))


def tasks_of(count: int) -> int:
    return max(8, count // 250_000)


def fill(spark: SparkSession, place: Place, directory: Path, count: int) -> None:
    """Two commits, the same as plain datasets, and some garbage. What is there already stays."""
    if not (directory / "kv").exists():
        with headwater.open(directory, durability="os") as lake:
            lake.create_repo("bench")
        for changed in (False, True):
            frame = rows(spark, count, changed=changed)
            pipeline.commit_entries(frame, place, "main", message="entries", tasks=tasks_of(count))
            plain = frame.repartitionByRange(4, "path").sortWithinPartitions("path")
            plain.write.option("compression", "zstd").parquet(str(directory / f"plain{changed}"))
    with opened(place) as driver:
        for number in range(OLD):
            name = data_name(LONG_AGO * 1000 + number * 400_000, f"old{number}")
            driver.run(driver.repository.blobs.put(name, b"old"))
            os.utime(directory / "objects" / "bench" / name, (LONG_AGO, LONG_AGO))


def compare(directory: Path, count: int, repeats: int) -> None:
    """Print what each operation takes, on the lake and on plain Parquet."""
    place = Place("bench", lake=str(directory))
    spark = session(2)
    fill(spark, place, directory, count)
    schema = spark.read.parquet(str(directory / "plainFalse")).schema
    old_names = spark.createDataFrame([(f"data/old{number}",) for number in range(OLD)], "address string")

    def plain(*, changed: bool = False) -> DataFrame:
        return spark.read.schema(schema).parquet(str(directory / f"plain{changed}"))

    def entries(prefix: str = "") -> DataFrame:
        return pipeline.entries(spark, place, "main~1", prefix=prefix)

    def strike() -> None:
        kept = plain().select("address").union(plain(changed=True).select("address"))
        old_names.join(kept, "address", "left_anti").write.mode("overwrite").parquet(str(directory / "struck"))

    total = F.sum("size")
    works: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "count, by `count_entries`": (lambda: pipeline.count_entries(place, "main~1"), lambda: plain().count()),
        "count of the DataFrame": (lambda: entries().count(), lambda: plain().count()),
        "sum of sizes": (lambda: entries().agg(total).collect(), lambda: plain().agg(total).collect()),
        "prefix filter": (
            lambda: entries(PREFIX).agg(total).collect(),
            lambda: plain().where(F.col("path").startswith(PREFIX)).agg(total).collect(),
        ),
        "diff of 1 % changed, all over, beside an anti-join": (
            lambda: pipeline.diff(spark, place, "main~1", "main").count(),
            lambda: plain(changed=True).select(COLUMNS).join(plain().select(COLUMNS), COLUMNS, "left_anti").count(),
        ),
        "distinct addresses": (
            lambda: entries().select("address").distinct().count(),
            lambda: plain().select("address").distinct().count(),
        ),
        "plan of garbage, both commits, beside an anti-join": (lambda: pipeline.plan_garbage(spark, place), strike),
    }
    for name, both in works.items():
        ours, theirs = in_turn(repeats, *both)
        print(
            f"| {name} | {ours.wall:.2f} | {theirs.wall:.2f} | {ours.wall / theirs.wall:.2f} "
            f"| {ours.cpu:.2f} | {theirs.cpu:.2f} | {ours.cpu / theirs.cpu:.2f} |",
            flush=True,
        )


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--rows", type=int, default=2_000_000)
    given.add_argument("--directory", type=Path, help="of a lake that an earlier run has filled with so many, or will")
    given.add_argument("--commit-rows", type=int, help="of the commits; as many as all others have unless told")
    given.add_argument("--repeats", type=int, default=3)
    given.add_argument("--cores", type=int, help="only the commit, on so many")
    arguments = given.parse_args()
    committed = arguments.commit_rows or arguments.rows
    with tempfile.TemporaryDirectory() as directory:
        if arguments.cores:
            print(json.dumps(msgspec.to_builtins(commit(Path(directory), arguments.cores, committed))))
            return
        print(
            f"{arguments.rows} entries, two cores, the least of {arguments.repeats}, load {os.getloadavg()[0]:.0f}\n\n"
            "| | s | plain | ratio | processor s | plain | ratio |\n| --- | --- | --- | --- | --- | --- | --- |"
        )
        compare(arguments.directory or Path(directory), arguments.rows, arguments.repeats)
    times = {cores: _commit_alone(cores, committed) for cores in (1, 2)}
    told = ", ".join(f"{each.wall:.1f} s on {cores} ({each.cpu:.1f} of processors)" for cores, each in times.items())
    print(f"\ncommit_entries of {committed}: {told}: {times[1].wall / times[2].wall:.2f} times as fast")
    print(f"load {os.getloadavg()[0]:.0f}")


def _commit_alone(cores: int, count: int) -> Spent:
    command = [sys.executable, "-m", "bench.pipeline", "--rows", str(count), "--cores", str(cores)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    return msgspec.json.decode(ran.stdout.splitlines()[-1], type=Spent)


if __name__ == "__main__":
    main()
