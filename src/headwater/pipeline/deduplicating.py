"""Equal content in several objects: entries are made to point to one of them, and garbage collection takes the rest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from headwater.pipeline.committing import relocate_entries
from headwater.pipeline.executing import Stores, columns, on_executors, side_by_side
from headwater.pipeline.frames import COLUMNS
from headwater.pipeline.place import Objects, Place
from headwater.pipeline.reading import entries
from headwater.pipeline.remote import objects_at

NO_METADATA: Final[Mapping[str, str]] = {}

HASHED = T.StructType([T.StructField(name, T.StringType()) for name in ("address", "hash")])


class Deduplicated(msgspec.Struct, frozen=True):
    """What was found and done. Without a commit, nothing was to be done, or it was a dry run."""

    groups: int
    """Contents that lay in more than one object."""

    objects: int
    """Objects that nothing on the branch refers to any more."""

    bytes_saved: int
    entries: int
    """Entries that point elsewhere now."""

    commit: str | None


def deduplicate(
    spark: SparkSession, place: Place, branch: str, *, message: str = "Keep equal content once", dry_run: bool = False
) -> Deduplicated:
    """Find objects of equal content among all that is committed on *branch*, and commit entries that share one.

    Equal are those of one size and checksum whose bytes have one BLAKE2b: they are read, once each. Of equal ones the
    first by name stays. Only whole objects of the repository's own namespace count. Nothing is deleted.
    """
    files = entries(spark, place, f"{branch}@").where(
        "kind = 'object' AND address IS NOT NULL AND size > 0 AND checksum IS NOT NULL AND NOT contains(address, '://')"
    )
    objects = objects_at(place)
    suspects = (
        files.select("size", "checksum", "address")
        .distinct()
        .groupBy("size", "checksum")
        .agg(F.collect_list("address").alias("addresses"))
        .where("size(addresses) > 1")
        .select("size", F.explode("addresses").alias("address"))
    )
    hashed = _hashed(suspects, objects).persist()
    try:
        kept = hashed.groupBy("size", "hash").agg(F.min("address").alias("kept"), F.count("*").alias("copies"))
        moves = (
            hashed.join(kept.where("copies > 1"), ["size", "hash"])
            .where("address <> kept")
            .select("address", "kept", "size")
            .persist()
        )
        counted = moves.agg(F.count("*"), F.sum("size"), F.count_distinct("kept")).collect()[0]
        moved = files.join(moves.select("address", "kept"), "address").withColumn("address", F.col("kept"))
        moved = moved.select("path", *COLUMNS)
        number = moved.count()
        commit = None
        if number and not dry_run:
            commit = relocate_entries(moved, place, branch, message=message).commit
        return Deduplicated(int(counted[2]), int(counted[0]), int(counted[1] or 0), number, commit)
    finally:
        hashed.unpersist()


def _hashed(suspects: DataFrame, objects: Objects) -> DataFrame:
    """The content hash of each of *suspects*, computed where executors are."""

    async def hashes(stores: Stores, batch: pa.RecordBatch) -> pa.RecordBatch:
        async def one(row: tuple[str]) -> str:
            digest = hashlib.blake2b(digest_size=32)
            blobs, name = await stores.located(row[0])
            async with await blobs.get(name) as body:
                async for chunk in body:
                    digest.update(chunk)
            return digest.hexdigest()

        found = await side_by_side(columns(batch, "address"), one)
        return pa.RecordBatch.from_pydict(
            {"size": batch.column("size"), "address": batch.column("address"), "hash": pa.array(found, pa.string())}
        )

    schema = T.StructType([T.StructField("size", T.LongType()), *HASHED.fields])
    return suspects.mapInArrow(on_executors(hashes, objects), schema)
