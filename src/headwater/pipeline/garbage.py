"""Garbage collection on Spark: the plan that one process would make, of a namespace too large for one process."""

from __future__ import annotations

import asyncio

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from headwater.garbage import Plan, Swept
from headwater.garbage.limits import PART, SAFETY_AGE
from headwater.garbage.listing import old_objects
from headwater.garbage.plan import PLANS
from headwater.garbage.sweeping import Progress
from headwater.index import Corrupt
from headwater.pipeline.executing import Stores, on_executors
from headwater.pipeline.frames import segments
from headwater.pipeline.marks import Marks, marks_of
from headwater.pipeline.place import Place
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

    The driver reads references, staging and the changes that commits hold themselves, or a server tells them; all of
    that is small.
    """
    with marks_of(spark, place, age) as marks:
        root = f"{marks.objects.root}/{PLANS}{marks.plan.run}"
        candidates = _listed(spark, marks)
        candidates.write.parquet(f"{root}/candidates")
        candidates = spark.read.schema(OBJECTS).parquet(f"{root}/candidates")
        kept, segments = _referred_to(spark, marks)
        rest = candidates.join(kept, "address", "left_anti").sort("address")
        rest.write.options(compression="zstd", maxRecordsPerFile=PART).parquet(f"{root}/objects")
        left = spark.read.schema(OBJECTS).parquet(f"{root}/objects").agg(F.count("*"), F.sum("size")).collect()[0]
        found = candidates.count()
        return marks.finish(candidates=found, segments=segments, objects=int(left[0]), size=int(left[1] or 0))


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


def _listed(spark: SparkSession, marks: Marks) -> DataFrame:
    """The candidates, slice by slice, listed by executors."""
    cutoff, names = marks.plan.cutoff, marks.parts

    async def listed(stores: Stores, batch: pa.RecordBatch) -> pa.RecordBatch:
        found = await asyncio.gather(
            *(old_objects(stores.named[0], part, cutoff) for part in batch.column("part").to_pylist())
        )
        tables = [frame.to_arrow().cast(_ARROW) for frame in found]
        return pa.concat_tables(tables).combine_chunks().to_batches()[0] if any(map(len, tables)) else _NONE

    if not names:
        return spark.createDataFrame([], OBJECTS)
    tasks = min(len(names), max(spark.sparkContext.defaultParallelism * 4, len(names) // 16))
    frame = spark.createDataFrame([(name,) for name in names], "part string").repartition(tasks)
    return frame.mapInArrow(on_executors(listed, marks.objects), OBJECTS)


def _referred_to(spark: SparkSession, marks: Marks) -> tuple[DataFrame, int]:
    """The addresses of all that is kept for being referred to, each once, and how many segments were read for it.
    Notes of copies are read last."""
    told = marks.references()
    counts = marks.segments()
    rows, seen = segments(spark, marks.objects.root, list(counts)), Observation()
    if counts:
        rows = rows.observe(seen, F.count(F.lit(1)).alias("rows"))
    addresses = rows.select(
        F.explode(
            F.when(F.col("address").isNotNull(), F.array("address")).otherwise(
                F.transform("blocks", lambda block: block["address"])
            )
        ).alias("address")
    )
    named = addresses.select(_in_namespace(f"{marks.objects.uri.partition('?')[0].rstrip('/')}/").alias("address"))
    found = named.where("address IS NOT NULL").distinct().persist()
    lists = [row.address for row in found.where("address LIKE 'meta/%'").collect()]
    if counts and seen.get["rows"] != sum(counts.values()):
        raise Corrupt(
            "the segments of retained commits", f"{seen.get['rows']} rows were read of {sum(counts.values())}"
        )
    told += [marks.expanded(lists), marks.notes()]
    local = pa.table({"address": pa.chunked_array(told, pa.string())})
    return (found.unionByName(spark.createDataFrame(local)) if local.num_rows else found), len(counts)


def _in_namespace(own: str) -> Column:
    """A name in the namespace, be it written as a URI; null for what is elsewhere."""
    address = F.col("address")
    name = F.substring(address, len(own) + 1, 1 << 30)
    for escape, character in (("%25", "%"), ("%3F", "?"), ("%23", "#")):
        name = F.replace(name, F.lit(escape), F.lit(character))
    return F.when(~address.contains("://"), address).when(address.startswith(own), name)


_ARROW = pa.schema([("address", pa.string()), ("size", pa.int64()), ("modified", pa.int64())])
_NONE = pa.RecordBatch.from_pylist([], schema=_ARROW)
