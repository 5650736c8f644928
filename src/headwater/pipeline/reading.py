"""Entries and differences as DataFrames: segments are read by the JVM, and what lies on top of them is a short list."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from headwater.engine.looking import commit_of
from headwater.engine.repository import Repository
from headwater.index import Entry, Index
from headwater.index.schema import SCHEMA, batch_of_edits
from headwater.pipeline.differing import Range, differences, ranges
from headwater.pipeline.frames import (
    FILES,
    ROWS,
    as_entries,
    entry_struct,
    from_arrow,
    rows_of,
    same_content,
    segments,
)
from headwater.pipeline.limits import LISTED_KEYS
from headwater.pipeline.place import Place, opened
from headwater.pipeline.remote import served
from headwater.pipeline.snapshots import Snapshot, snapshot, snapshot_of


def entries(spark: SparkSession, place: Place, ref: str, *, prefix: str = "", staged: bool = False) -> DataFrame:
    """All files at *ref* whose paths begin with *prefix*; with *staged*, as who reads the branch sees them.

    The reference is looked at now: what is committed or staged later never shows. Segments without the prefix are not
    opened. The columns are those of `ENTRIES`. Of a server segments are read where they are if the place has *storage*;
    else, and of what is *staged*, it answers with the listing itself, which the driver takes.
    """
    if place.endpoint is not None:
        with served(place) as remote:
            if staged or not remote.in_reach:
                return as_entries(from_arrow(spark, remote.listing(ref, prefix, staged=staged), ROWS))
            told = remote.made_of(ref)
            found = remote.run(snapshot_of(remote.index(told), told.commit, FILES + prefix))
            return as_entries(rows_at(spark, remote.objects(spark).root, found))
    with opened(place, spark) as driver:
        found = driver.run(snapshot(driver.repository, ref, prefix=FILES + prefix, staged=staged))
        return as_entries(rows_at(spark, driver.objects.root, found))


def rows_at(spark: SparkSession, root: str, found: Snapshot) -> DataFrame:
    """The rows of a snapshot, as segments have them."""
    rows = segments(spark, root, found.segments)
    if not found.exact:
        rows = rows.where(F.col("key").startswith(found.prefix))
    if not len(found.edits):
        return rows
    added = found.edits.filter(pc.invert(found.edits.column("removed"))).select(SCHEMA.names)
    rows = without_keys(spark, rows, found.edits.column("key"))
    return rows.unionByName(rows_of(spark, added)) if len(added) else rows


def without_keys(spark: SparkSession, rows: DataFrame, keys: pa.Array) -> DataFrame:
    """*rows* whose keys are not among *keys*."""
    if len(keys) <= LISTED_KEYS:
        return rows.where(~F.col("key").isin(keys.to_pylist()))
    listed = spark.createDataFrame(pa.table({"key": keys}))
    return rows.join(F.broadcast(listed), "key", "left_anti")


def diff(spark: SparkSession, place: Place, left: str, right: str, *, prefix: str = "") -> DataFrame:
    """What differs between the commits of *left* and *right*: `path`, `change`, and structs of both sides.

    Only segments that one side has and the other has not are read. A change is `added`, `removed` or `changed`; the
    side that has no such path is null.
    """
    if place.endpoint is not None:
        with served(place) as remote:
            if not remote.in_reach:
                ours, theirs = (rows_of(spark, each) for each in remote.changes(left, right, prefix))
                return _shown(_joined(ours, theirs))  # the server has left out what is the same
            indexes = [remote.index(remote.made_of(ref)) for ref in (left, right)]
            apart, objects = remote.run(_apart(indexes, FILES + prefix)), remote.objects(spark)
    else:
        with opened(place, spark) as driver:
            indexes = driver.run(indexes_of(driver.repository, left, right))
            apart, objects = driver.run(_apart(indexes, FILES + prefix)), driver.objects
    found = differences(spark, objects, apart.ranges, apart.known)
    if len(apart.known):
        told = _joined(*(rows_of(spark, each) for each in apart.told))
        changed = F.col("left").isNull() | F.col("right").isNull() | ~same_content("left", "right")
        found = found.unionByName(told.where(changed))
    return _shown(found)


def _joined(ours: DataFrame, theirs: DataFrame) -> DataFrame:
    return ours.select("key", entry_struct("left")).join(
        theirs.select("key", entry_struct("right")), "key", "full_outer"
    )


def _shown(changes: DataFrame) -> DataFrame:
    change = (
        F.when(F.col("left").isNull(), "added").when(F.col("right").isNull(), "removed").otherwise("changed")
    ).alias("change")
    return changes.select(F.substring("key", len(FILES) + 1, 1 << 30).alias("path"), change, "left", "right")


class _Apart(msgspec.Struct, frozen=True):
    """Where two indexes may differ: in *ranges* of their trees, and in keys that a delta of either knows."""

    ranges: list[Range]
    known: pa.Array
    told: list[pa.RecordBatch]
    """What each side has at the known keys."""


async def indexes_of(repository: Repository, left: str, right: str) -> list[Index]:
    """The indexes of both commits."""
    return [await repository.index_of((await commit_of(repository, ref)).id) for ref in (left, right)]


async def _apart(indexes: Sequence[Index], prefix: str) -> _Apart:
    left, right = [await index.tree() for index in indexes]
    known = sorted(key for key in indexes[0].delta.keys() | indexes[1].delta.keys() if key.startswith(prefix))
    told: list[pa.RecordBatch] = []
    for index in indexes:
        found = zip(known, await index.get_many(known), strict=True)
        rows = batch_of_edits({key: entry for key, entry in found if isinstance(entry, Entry)})
        told.append(rows.select(SCHEMA.names))
    return _Apart(ranges(left, right, prefix), pa.array(known, pa.string()), told)


def search(
    spark: SparkSession, place: Place, ref: str, condition: str, *, prefix: str = "", staged: bool = False
) -> DataFrame:
    """The entries at *ref* of which *condition*, in SQL, holds: `metadata['owner'] = 'ann' AND size > 0`."""
    return entries(spark, place, ref, prefix=prefix, staged=staged).where(F.expr(condition))
