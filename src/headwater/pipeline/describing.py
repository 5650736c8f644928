"""References and commits as DataFrames. The driver has them from the key-value store: they are few beside entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T  # noqa: N812

from headwater.engine.branches import list_branches, list_tags
from headwater.engine.limits import MAX_PAGE
from headwater.engine.log import all_commits
from headwater.engine.log import log as engine_log
from headwater.engine.repository import Repository
from headwater.history import Commit
from headwater.pipeline.frames import from_arrow
from headwater.pipeline.place import Place, opened
from headwater.pipeline.remote import pages, served
from headwater.sdk import results
from headwater.sdk.ports import Found
from headwater.sdk.remote import RemoteRepository

COMMITS = T.StructType(
    [
        T.StructField("id", T.StringType()),
        T.StructField("parents", T.ArrayType(T.StringType())),
        T.StructField("message", T.StringType()),
        T.StructField("committer", T.StringType()),
        T.StructField("time", T.TimestampType()),
        T.StructField("metadata", T.MapType(T.StringType(), T.StringType())),
        T.StructField("generation", T.LongType()),
        T.StructField("tree", T.StringType()),
    ]
)
"""The columns of commits. *tree* is null for one that is a delta on nothing."""

REFS = T.StructType(
    [
        T.StructField("name", T.StringType()),
        T.StructField("kind", T.StringType()),
        T.StructField("commit", T.StringType()),
        T.StructField("message", T.StringType()),
    ]
)
"""The columns of references: *kind* is `branch` or `tag`, *message* that of a tag."""


CommitRow: TypeAlias = tuple[str, Sequence[str], str, str, int, Mapping[str, str], int, str | None]
"""The values of `COMMITS`, with a time in milliseconds."""

RefRow: TypeAlias = tuple[str, str, str, str | None]
"""The values of `REFS`."""


def log(spark: SparkSession, place: Place, ref: str, *, amount: int | None = None) -> DataFrame:
    """The commits that led to *ref* along first parents, the newest *amount* of them, or all."""
    return from_arrow(spark, log_at(place, ref, amount), COMMITS)


def commits(spark: SparkSession, place: Place) -> DataFrame:
    """Every commit that the repository has a record of, on whichever branch, in no order."""
    if place.endpoint is not None:
        with served(place) as remote:
            return from_arrow(spark, remote.run(_commits_of(remote.repository)), COMMITS)
    with opened(place) as driver:
        return from_arrow(spark, driver.run(commits_table(driver.repository)), COMMITS)


def refs(spark: SparkSession, place: Place) -> DataFrame:
    """Branches and tags, and the commits that they stand for."""
    return from_arrow(spark, refs_at(place), REFS)


def log_at(place: Place, ref: str, amount: int | None) -> pa.Table:
    """The commits of `log`."""
    if place.endpoint is not None:
        with served(place) as remote:
            return _log_rows(remote.log(ref, amount))
    with opened(place) as driver:
        return driver.run(log_table(driver.repository, ref, amount))


def refs_at(place: Place) -> pa.Table:
    """The references of `refs`."""
    if place.endpoint is not None:
        with served(place) as remote:
            return remote.run(_refs_of(remote.repository))
    with opened(place) as driver:
        return driver.run(refs_table(driver.repository))


async def log_table(repository: Repository, ref: str, amount: int | None) -> pa.Table:
    found: list[Commit] = []
    after = ""
    while amount is None or len(found) < amount:
        room = MAX_PAGE if amount is None else min(MAX_PAGE, amount - len(found))
        page = await engine_log(repository, ref, after=after, amount=room)
        found += page.commits
        if page.after is None:
            break
        after = page.after
    return table_of(found)


async def commits_table(repository: Repository) -> pa.Table:
    return table_of([commit async for commit in all_commits(repository)])


async def refs_table(repository: Repository) -> pa.Table:
    rows: list[RefRow] = []
    after = ""
    while branches := await list_branches(repository, after=after, amount=MAX_PAGE):
        rows += [(name, "branch", branch.commit, None) for name, branch in branches]
        after = branches[-1][0]
    after = ""
    while tags := await list_tags(repository, after=after, amount=MAX_PAGE):
        rows += [(tag.name, "tag", tag.target, tag.message) for tag in tags]
        after = tags[-1].name
    return _refs(rows)


def _log_rows(told: Iterable[results.Commit]) -> pa.Table:
    """What the tree of a commit is, the log of a server does not tell."""
    return _commits(
        [
            (
                each.id,
                each.parents,
                each.message,
                each.committer,
                round(each.time.timestamp() * 1000),
                each.metadata,
                each.generation,
                None,
            )
            for each in told
        ]
    )


async def _commits_of(repository: RemoteRepository) -> pa.Table:
    return _commits(
        [
            (
                each.id,
                each.parents,
                each.message,
                each.committer,
                each.creation_time_ms,
                each.metadata,
                each.generation,
                each.meta_range_id,
            )
            async for each in repository.reading.all_commits()
        ]
    )


async def _refs_of(repository: RemoteRepository) -> pa.Table:
    async def heads(after: str) -> Found[tuple[str, str]]:
        return await repository.refs.heads("", after)

    async def tags(after: str) -> Found[results.Tag]:
        return await repository.refs.tags("", after)

    rows: list[RefRow] = [(name, "branch", commit, None) async for name, commit in pages(heads)]
    rows += [(tag.name, "tag", tag.commit, tag.message) async for tag in pages(tags)]
    return _refs(rows)


def _refs(rows: Sequence[RefRow]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(REFS)
    arrays = [pa.array(column, pa.string()) for column in columns]
    return pa.Table.from_arrays(arrays, names=REFS.names)


def table_of(found: Iterable[Commit]) -> pa.Table:
    return _commits(
        [
            (each.id, each.parents, each.message, each.committer, each.time, each.metadata, each.generation, each.tree)
            for each in found
        ]
    )


def _commits(rows: Sequence[CommitRow]) -> pa.Table:
    ids, parents, messages, committers, times, metadata, generations, trees = (
        zip(*rows, strict=True) if rows else [()] * len(COMMITS)
    )
    return pa.table(
        {
            "id": pa.array(ids, pa.string()),
            "parents": pa.array(parents, pa.list_(pa.string())),
            "message": pa.array(messages, pa.string()),
            "committer": pa.array(committers, pa.string()),
            "time": pa.array([time * 1000 for time in times], pa.timestamp("us", "UTC")),
            "metadata": pa.array([list(each.items()) for each in metadata], pa.map_(pa.string(), pa.string())),
            "generation": pa.array(generations, pa.int64()),
            "tree": pa.array([tree or None for tree in trees], pa.string()),
        }
    )
