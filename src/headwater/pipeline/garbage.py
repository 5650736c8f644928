"""Garbage collection on Spark: the plan that one process would make, of a namespace too large for one process."""

from __future__ import annotations

import asyncio

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from headwater.garbage import Plan, Swept
from headwater.garbage.limits import PART, SAFETY_AGE
from headwater.garbage.listing import old_objects, old_parts
from headwater.garbage.marking import Marker
from headwater.garbage.planning import begin_run, seal_run
from headwater.garbage.plans import PLANS, write_commits
from headwater.garbage.sweeping import Progress
from headwater.index import Corrupt
from headwater.pipeline.executing import Stores, on_executors
from headwater.pipeline.frames import segments
from headwater.pipeline.place import Driver, Place, opened
from headwater.pipeline.sweeping import sweep_garbage

OBJECTS = T.StructType(
    [
        T.StructField("address", T.StringType()),
        T.StructField("size", T.LongType()),
        T.StructField("modified", T.LongType()),
    ]
)


def plan_garbage(spark: SparkSession, place: Place, *, age: float = SAFETY_AGE) -> Plan:
    """What may be deleted, as `headwater.garbage.make_plan` finds it: listed and marked by executors.

    The driver reads references, staging and the changes that commits hold themselves; all of that is small.
    """
    with opened(place, spark) as driver:
        repository, plan = driver.run(begin_run(driver.lake, place.repo, age))
        root = f"{driver.objects.root}/{PLANS}{plan.run}"
        candidates = _listed(spark, driver, plan.cutoff)
        candidates.write.parquet(f"{root}/candidates")
        candidates = spark.read.schema(OBJECTS).parquet(f"{root}/candidates")
        marker = Marker(repository, plan.rules, now=plan.now, since=plan.cutoff)
        kept = _referred_to(spark, driver, marker)
        rest = candidates.join(kept, "address", "left_anti").sort("address")
        rest.write.options(compression="zstd", maxRecordsPerFile=PART).parquet(f"{root}/objects")
        found = candidates.count()
        left = spark.read.schema(OBJECTS).parquet(f"{root}/objects").agg(F.count("*"), F.sum("size")).collect()[0]
        driver.run(write_commits(repository.blobs, plan.run, marker.retained.values()))
        return driver.run(seal_run(repository, plan, marker, found=found, objects=int(left[0]), size=int(left[1] or 0)))


def collect_garbage(
    spark: SparkSession,
    place: Place,
    *,
    age: float = SAFETY_AGE,
    rate: float | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Swept:
    """Plan, and sweep: a second look, and then objects are deleted, at most *rate* a second."""
    plan = plan_garbage(spark, place, age=age)
    return sweep_garbage(spark, place, plan.run, rate=rate, dry_run=dry_run, progress=progress)


def _listed(spark: SparkSession, driver: Driver, cutoff: int) -> DataFrame:
    """The candidates, slice by slice, listed by executors."""

    async def listed(stores: Stores, batch: pa.RecordBatch) -> pa.RecordBatch:
        found = await asyncio.gather(
            *(old_objects(stores.named[0], part, cutoff) for part in batch.column("part").to_pylist())
        )
        tables = [frame.to_arrow().cast(_ARROW) for frame in found]
        return pa.concat_tables(tables).combine_chunks().to_batches()[0] if any(map(len, tables)) else _NONE

    names = driver.run(old_parts(driver.repository, cutoff))
    if not names:
        return spark.createDataFrame([], OBJECTS)
    tasks = min(len(names), max(spark.sparkContext.defaultParallelism * 4, len(names) // 16))
    frame = spark.createDataFrame([(name,) for name in names], "part string").repartition(tasks)
    return frame.mapInArrow(on_executors(listed, driver.objects), OBJECTS)


def _referred_to(spark: SparkSession, driver: Driver, marker: Marker) -> DataFrame:
    """The addresses of all that is kept for being referred to, each once. Notes of copies are read last."""

    async def above() -> list[pa.Array]:
        return [found async for found in marker.look_above_trees()]

    told = driver.run(above())
    counts = driver.run(marker.segments_of(marker.trees))
    marker.segments += len(counts)
    rows, seen = segments(spark, driver.objects.root, list(counts)), Observation()
    if counts:
        rows = rows.observe(seen, F.count(F.lit(1)).alias("rows"))
    addresses = rows.select(
        F.explode(
            F.when(F.col("address").isNotNull(), F.array("address")).otherwise(
                F.transform("blocks", lambda block: block["address"])
            )
        ).alias("address")
    )
    named = addresses.select(_in_namespace(f"{driver.objects.uri.partition('?')[0].rstrip('/')}/").alias("address"))
    found = named.where("address IS NOT NULL").distinct().persist()
    lists = [row.address for row in found.where("address LIKE 'meta/%'").collect()]
    if counts and seen.get["rows"] != sum(counts.values()):
        raise Corrupt(
            "the segments of retained commits", f"{seen.get['rows']} rows were read of {sum(counts.values())}"
        )
    told.append(driver.run(marker.expanded(lists)))
    told.append(driver.run(marker.notes()))
    local = pa.table({"address": pa.chunked_array(told, pa.string())})
    return found.unionByName(spark.createDataFrame(local)) if local.num_rows else found


def _in_namespace(own: str) -> Column:
    """A name in the namespace, be it written as a URI; null for what is elsewhere."""
    address = F.col("address")
    name = F.substring(address, len(own) + 1, 1 << 30)
    for escape, character in (("%25", "%"), ("%3F", "?"), ("%23", "#")):
        name = F.replace(name, F.lit(escape), F.lit(character))
    return F.when(~address.contains("://"), address).when(address.startswith(own), name)


_ARROW = pa.schema([("address", pa.string()), ("size", pa.int64()), ("modified", pa.int64())])
_NONE = pa.RecordBatch.from_pylist([], schema=_ARROW)
