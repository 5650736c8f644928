"""Columns of entries in Spark, as segments have them and as users see them; and DataFrames of what a driver holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (its name in every Spark program)
from pyspark.sql import types as T  # noqa: N812

from headwater.blob.namespace import segment_name
from headwater.index.schema import SCHEMA
from headwater.pipeline.limits import LISTED_AT_ONCE, LOCAL_FILES

FILES: Final = "f/"
"""What the keys of files begin with."""

BLOCK = T.StructType(
    [
        T.StructField("address", T.StringType()),
        T.StructField("offset", T.LongType()),
        T.StructField("length", T.LongType()),
    ]
)

ENTRY: Final = (
    ("kind", T.StringType()),
    ("size", T.LongType()),
    ("modified", T.LongType()),
    ("checksum", T.StringType()),
    ("address", T.StringType()),
    ("blocks", T.ArrayType(BLOCK)),
    ("content_type", T.StringType()),
    ("metadata", T.MapType(T.StringType(), T.StringType())),
    ("content_id", T.BinaryType()),
    ("payload", T.BinaryType()),
)

ROWS = T.StructType([T.StructField("key", T.StringType()), *(T.StructField(*field) for field in ENTRY)])
"""A segment."""

ENTRIES = T.StructType(
    [
        T.StructField("path", T.StringType()),
        *(T.StructField(name, T.TimestampType() if name == "modified" else kind) for name, kind in ENTRY),
    ]
)
"""What users see: a path instead of a key, and a time that is one."""

COLUMNS: Final = tuple(name for name, _ in ENTRY)
"""All but the key."""


def segments(spark: SparkSession, root: str, names: Sequence[str]) -> DataFrame:
    """The rows of segments, read by the JVM. A missing one is an error."""
    if not names:
        return spark.createDataFrame([], ROWS)
    with _quick_listing(spark, local=root.startswith("file:")):
        return spark.read.schema(ROWS).parquet(*(f"{root}/{segment_name(name)}" for name in names))


@contextmanager
def _quick_listing(spark: SparkSession, *, local: bool) -> Iterator[None]:
    """Have Spark look for very many files in a few tasks, where it would make a task of each; local ones in none."""
    wanted = {"parallelism": str(spark.sparkContext.defaultParallelism * LISTED_AT_ONCE)}
    if local:
        wanted["threshold"] = str(LOCAL_FILES)
    names = {f"spark.sql.sources.parallelPartitionDiscovery.{name}": value for name, value in wanted.items()}
    before = {name: spark.conf.get(name) for name in names}
    try:
        for name, value in names.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, kept in before.items():
            if kept is not None:
                spark.conf.set(name, kept)


def rows_of(spark: SparkSession, batch: pa.RecordBatch) -> DataFrame:
    """What the driver holds as rows of `ROWS`: it is little."""
    return from_arrow(spark, pa.Table.from_batches([batch]).select(SCHEMA.names), ROWS)


def from_arrow(spark: SparkSession, table: pa.Table, schema: T.StructType) -> DataFrame:
    if table.num_rows == 0:
        return spark.createDataFrame([], schema)
    if "content_id" in table.column_names:
        place = table.column_names.index("content_id")
        table = table.set_column(place, "content_id", table.column(place).cast(pa.binary()))
    made: DataFrame = spark.createDataFrame(table)
    return made.select(*(F.col(field.name).cast(field.dataType).alias(field.name) for field in schema))


def as_entries(rows: DataFrame) -> DataFrame:
    """Rows of files as users see them."""
    shown = [F.timestamp_millis(F.col(name)).alias(name) if name == "modified" else F.col(name) for name in COLUMNS]
    return rows.select(F.substring("key", len(FILES) + 1, 1 << 30).alias("path"), *shown)


def same_content(left: str, right: str) -> Column:
    """Whether two structs of `COLUMNS` are the same content: `headwater.index.entry.identity`, as a column."""

    def equal(name: str) -> Column:
        return comparable(f"{left}.{name}").eqNullSafe(comparable(f"{right}.{name}"))

    same = equal("kind") & equal("size") & equal("checksum") & equal("content_type") & equal("metadata")
    same = same & equal("content_id") & equal("payload")
    return same & (F.col(f"{left}.checksum").isNotNull() | (equal("address") & equal("blocks")))


def comparable(name: str) -> Column:
    """A column that Spark can compare: a map is not."""
    column = F.col(name)
    return F.array_sort(F.map_entries(column)) if name.rpartition(".")[2] == "metadata" else column


def entry_struct(alias: str) -> Column:
    return F.struct(*(F.col(name) for name in COLUMNS)).alias(alias)


def plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """*batch* of entries with the columns that Spark takes from Python: binary of any length."""
    arrays: list[Any] = []
    for field in batch.schema:
        column = batch.column(field.name)
        arrays.append(column.cast(pa.binary()) if pa.types.is_fixed_size_binary(field.type) else column)
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)
