"""A repository on a server: it tells what there is and where; bytes go between executors and the object store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from headwater.blob import BlobStore
from headwater.engine.looking import commit_of
from headwater.engine.paths import key_of
from headwater.index import Edit, Entry, Index, IndexRecord, IndexStore
from headwater.index.schema import SCHEMA, batch_of_edits
from headwater.pipeline.errors import NotInPlace
from headwater.pipeline.frames import FILES
from headwater.pipeline.place import Objects, Place, objects_of, opened, tell_hadoop
from headwater.sdk import results
from headwater.sdk.opening import Storage
from headwater.sdk.ports import Found
from headwater.sdk.remote.lake import RemoteRepository
from headwater.sdk.remote.opening import connected
from headwater.sdk.sync.running import Runner
from headwater.sdk.wire.replies import IndexOf

Item = TypeVar("Item")
Result = TypeVar("Result")

REACHED = ("s3", "gs")
"""Where executors get to without the server."""


class Remote:
    """A repository of a server, as the driver asks about it."""

    def __init__(self, runner: Runner, repository: RemoteRepository, place: Place) -> None:
        self._runner = runner
        self._place = place
        self._store: IndexStore | None = None
        self._blobs: BlobStore | None = None
        self.repository = repository

    @property
    def in_reach(self) -> bool:
        """Whether segments are read where they are: the place says how to get there. Else the server is to list."""
        return self._place.storage is not None and urlsplit(self.repository.namespace).scheme in REACHED

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run_on_loop(coroutine)

    def objects(self, spark: SparkSession | None = None) -> Objects:
        """How executors reach objects; *spark* is told, where the place says how. Else it knows, or it cannot."""
        namespace = self.repository.namespace
        if urlsplit(namespace).scheme not in REACHED:
            raise NotInPlace(f"{namespace} is on the server's own machine: read and write through its S3 gateway")
        if self._place.storage is None:
            return Objects(namespace)
        found = objects_of(Storage(self._place.storage, self._place.storage_credentials), namespace)
        if spark is not None:
            tell_hadoop(spark, found)
        return found

    def made_of(self, ref: str) -> IndexOf:
        """The commit of *ref*, and what it is made of."""
        return self.run(self.repository.reading.index(ref))

    def index(self, told: IndexOf) -> Index:
        """The index that a server *told* of. Its tree and segments are read from the object store."""
        record = IndexRecord(told.tree or None, None, own_in_tree=True, inherited=told.delta)
        return Index(self.store(), record, of=f"commit {told.commit}")

    def blobs(self) -> BlobStore:
        """The namespace, as the driver reaches it."""
        if self._blobs is None:
            self._blobs = self.run(self.objects().open())
        return self._blobs

    def store(self) -> IndexStore:
        """Where segments and trees are, for the driver."""
        if self._store is None:
            self._store = IndexStore(self.blobs())
        return self._store

    async def aclose(self) -> None:
        if self._blobs is not None:
            await self._blobs.aclose()

    def listing(self, ref: str, prefix: str, *, staged: bool) -> pa.Table:
        """What is at *ref*, as rows of segments are, but for `content_id` and `payload`, which a server keeps."""
        return self.run(self._listing(ref, prefix, staged=staged))

    async def _listing(self, ref: str, prefix: str, *, staged: bool) -> pa.Table:
        reading = self.repository.reading
        found = await reading.as_arrow(ref if staged else (await reading.commit(ref)).id, prefix)
        told = {name: found.column(name) for name in found.column_names}
        told["key"] = pc.binary_join_element_wise(FILES, told["path"], "")
        told["modified"] = told["modified"].cast(pa.int64())
        arrays = [told.get(field.name, pa.nulls(len(found), field.type)) for field in SCHEMA]
        return pa.Table.from_arrays(arrays, schema=SCHEMA)

    def log(self, ref: str, amount: int | None) -> list[results.Commit]:
        """The newest *amount* of the commits that led to *ref* along first parents, or all."""
        return self.run(self._log(ref, amount))

    async def _log(self, ref: str, amount: int | None) -> list[results.Commit]:
        async def page(after: str) -> Found[results.Commit]:
            return await self.repository.reading.log(
                ref, after, paths=(), first_parents=True, since=None, until=None, stop_at=None
            )

        found: list[results.Commit] = []
        async for commit in pages(page):
            if len(found) == amount:
                break
            found.append(commit)
        return found

    def changes(self, left: str, right: str, prefix: str) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """What differs between two commits, as rows of each side."""
        return self.run(self._changes(left, right, prefix))

    async def _changes(self, left: str, right: str, prefix: str) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        reading = self.repository.reading
        ours, theirs = (await reading.commit(left)).id, (await reading.commit(right)).id
        sides: tuple[dict[str, Edit], dict[str, Edit]] = ({}, {})

        async def page(after: str) -> Found[results.Change | results.CommonPrefix]:
            return await reading.diff(ours, theirs, prefix, "", after, three_dot=False)

        async for change in pages(page):
            if isinstance(change, results.Change):
                for side, entry in zip(sides, (change.left, change.right), strict=True):
                    if entry is not None:
                        side[key_of(entry.path)] = _entry(entry)
        first, second = (batch_of_edits(side).select(SCHEMA.names) for side in sides)
        return first, second


@contextmanager
def served(place: Place) -> Iterator[Remote]:
    """The repository at *place*, which is on a server."""
    runner = Runner()
    try:
        lake = connected(place.endpoint or "", place.key, place.secret)
        try:
            remote = Remote(runner, runner.run_on_loop(lake.repo(place.repo)), place)
            try:
                yield remote
            finally:
                runner.run_on_loop(remote.aclose())
        finally:
            runner.run_on_loop(lake.aclose())
    finally:
        runner.close()


def objects_at(place: Place) -> Objects:
    """How executors reach the objects of the repository at *place*, wherever that is."""
    if place.endpoint is None:
        with opened(place) as driver:
            return driver.objects
    with served(place) as remote:
        return remote.objects()


class Source(msgspec.Struct, frozen=True):
    """A commit as a job takes it: of which repository it is, by id, and how to reach its objects."""

    repository: str
    commit: str
    objects: Objects


def source_of(spark: SparkSession, place: Place, ref: str) -> Source:
    """What *ref* is at this moment at *place*, wherever that is; *spark* is told how to reach its objects."""
    if place.endpoint is None:
        with opened(place, spark) as driver:
            commit = driver.run(commit_of(driver.repository, ref))
            return Source(driver.repository.record.id, commit.id, driver.objects)
    with served(place) as remote:
        told = remote.made_of(ref)
        return Source(told.repository, told.commit, remote.objects(spark))


async def pages(fetch: Callable[[str], Awaitable[Found[Item]]]) -> AsyncIterator[Item]:
    """All that *fetch* answers, a page at a time."""
    after: str | None = ""
    while after is not None:
        found, after = await fetch(after)
        for each in found:
            yield each


def _entry(told: results.Entry) -> Entry:
    return Entry(
        key_of(told.path),
        told.kind,
        told.blocks,
        told.size,
        told.checksum,
        round(told.modified.timestamp() * 1000),
        told.content_type,
        dict(told.metadata),
    )
