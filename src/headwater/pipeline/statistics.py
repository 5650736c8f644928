"""What a repository holds: how much, where, of what kind, how much of it branches share, and how it grew."""

from __future__ import annotations

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from headwater.engine.errors import BadRequest
from headwater.engine.log import log as engine_log
from headwater.engine.repository import Repository
from headwater.index import Index, diff_batches
from headwater.pipeline.describing import refs
from headwater.pipeline.limits import SAMPLE
from headwater.pipeline.place import Place, opened
from headwater.pipeline.reading import entries
from headwater.pipeline.remote import Remote, served
from headwater.sdk.results import Commit


class Share(msgspec.Struct, frozen=True):
    """A part of what there is, by name."""

    name: str
    objects: int
    bytes: int


class BranchShare(msgspec.Struct, frozen=True):
    """What a branch holds: bytes of objects that no other branch has, and of those that another has as well."""

    name: str
    objects: int
    unique_bytes: int
    shared_bytes: int


class Growth(msgspec.Struct, frozen=True):
    """What a commit added and removed; of a file that it changed, both."""

    commit: str
    message: str
    time: int
    added_bytes: int
    removed_bytes: int


class Statistics(msgspec.Struct, frozen=True):
    """What there is at a reference. Of prefixes and extensions the largest are listed."""

    objects: int
    bytes: int
    prefixes: tuple[Share, ...]
    extensions: tuple[Share, ...]
    branches: tuple[BranchShare, ...]
    growth: tuple[Growth, ...]


def stats(
    spark: SparkSession, place: Place, ref: str, *, depth: int = 1, branches: bool = True, commits: int = 20
) -> Statistics:
    """Statistics of *ref*: by prefixes of *depth* directories, by extension, of branches, and of its last *commits*."""
    if not 1 <= depth <= 32:
        raise BadRequest(f"depth={depth}: prefixes have 1 to 32 directories")
    growth = _growth(place, ref, commits)
    files = entries(spark, place, ref).select("path", "size").persist()
    try:
        total = files.agg(F.count("*"), F.sum("size")).collect()[0]
        directory = F.regexp_extract("path", f"^((?:[^/]*/){{0,{depth}}})", 1)
        extension = F.lower(F.regexp_extract("path", r"[^/]\.([A-Za-z0-9]{1,16})$", 1))
        prefixes, extensions = (_shares(files, column) for column in (directory, extension))
    finally:
        files.unpersist()
    told = _branches(spark, place) if branches else ()
    return Statistics(int(total[0]), int(total[1] or 0), prefixes, extensions, told, growth)


def _shares(files: DataFrame, name: Column) -> tuple[Share, ...]:
    grouped = files.groupBy(name.alias("name")).agg(F.count("*").alias("objects"), F.sum("size").alias("bytes"))
    rows = grouped.orderBy(F.desc("bytes"), "name").limit(SAMPLE).collect()
    return tuple(Share(row.name, row.objects, row.bytes) for row in rows)


def _branches(spark: SparkSession, place: Place) -> tuple[BranchShare, ...]:
    """By address: an object counts once for each branch that refers to it, whatever the number of paths."""
    names = [row.name for row in refs(spark, place).where("kind = 'branch'").select("name").collect()]
    held: DataFrame | None = None
    for name in names:
        mine = entries(spark, place, f"{name}@").where("address IS NOT NULL").select("address", "size").distinct()
        mine = mine.withColumn("branch", F.lit(name))
        held = mine if held is None else held.unionByName(mine)
    if held is None:
        return ()
    owners = held.groupBy("address").agg(F.count("*").alias("branches"), F.first("size").alias("bytes"))
    joined = held.join(owners, "address")
    alone = F.col("branches") == 1
    rows = (
        joined.groupBy("branch")
        .agg(
            F.count("*").alias("objects"),
            F.sum(F.when(alone, F.col("bytes")).otherwise(0)).alias("own"),
            F.sum(F.when(alone, 0).otherwise(F.col("bytes"))).alias("shared"),
        )
        .collect()
    )
    found = {row.branch: BranchShare(row.branch, row.objects, row.own, row.shared) for row in rows}
    return tuple(found.get(name, BranchShare(name, 0, 0, 0)) for name in names)


def _growth(place: Place, ref: str, commits: int) -> tuple[Growth, ...]:
    if commits < 1:
        return ()
    if place.endpoint is not None:
        with served(place) as remote:
            return tuple(_grown_remotely(remote, each) for each in remote.log(ref, commits))
    with opened(place) as driver:
        return driver.run(_grown(driver.repository, ref, commits))


async def _grown(repository: Repository, ref: str, commits: int) -> tuple[Growth, ...]:
    found: list[Growth] = []
    for commit in (await engine_log(repository, ref, amount=commits)).commits:
        before = await repository.index_of(commit.parents[0]) if commit.parents else repository.empty_index()
        sizes = await _sizes(before, await repository.index_of(commit.id))
        found.append(Growth(commit.id, commit.message, commit.time, *sizes))
    return tuple(found)


def _grown_remotely(remote: Remote, commit: Commit) -> Growth:
    """Of a server that alone is known, the changes themselves are asked for, page by page."""
    parent = commit.parents[0] if commit.parents else None
    time = round(commit.time.timestamp() * 1000)
    if remote.in_reach:
        before = remote.index(remote.made_of(parent)) if parent else Index(remote.store())
        sizes = remote.run(_sizes(before, remote.index(remote.made_of(commit.id))))
    elif parent:
        left, right = remote.changes(parent, commit.id, "")
        sizes = _sum(right), _sum(left)
    else:
        sizes = _sum(remote.listing(commit.id, "", staged=False)), 0
    return Growth(commit.id, commit.message, time, *sizes)


async def _sizes(before: Index, after: Index) -> tuple[int, int]:
    """The bytes of what was added, and of what was removed."""
    added = removed = 0
    async for changes in diff_batches(before, after):
        removed += _sum(changes.left)
        added += _sum(changes.right)
    return added, removed


def _sum(rows: pa.RecordBatch | pa.Table) -> int:
    return pc.sum(rows.column("size")).as_py() or 0
