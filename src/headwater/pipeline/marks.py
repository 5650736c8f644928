"""What garbage collection knows beside what lies in the object store: by itself, or as a server tells it."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import pyarrow as pa
from pyspark.sql import SparkSession

from headwater.engine.block_lists import BlockLists
from headwater.garbage.listing import old_parts
from headwater.garbage.marking import Marker
from headwater.garbage.plan import Plan
from headwater.garbage.planning import begin_run, seal_run
from headwater.garbage.plans import read_commits, write_commits
from headwater.garbage.reaching import Reaching, segments_of
from headwater.pipeline.place import Driver, Objects, Place, opened
from headwater.pipeline.remote import Remote, served

Result = TypeVar("Result")


class Marks(Protocol):
    """A run of garbage collection. References are looked at first, and notes of copies when all else was read."""

    plan: Plan
    parts: list[str]
    """The prefixes of the namespace that are to be listed."""

    objects: Objects

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """What *coroutine* answers."""

    def references(self) -> list[pa.Array]:
        """The names that staging and the changes of commits refer to."""

    def segments(self) -> dict[str, int]:
        """The distinct segments of retained commits, and the rows of each. Asked for after the references."""

    def expanded(self, lists: Sequence[str]) -> pa.Array:
        """The names in these lists of blocks."""

    def notes(self) -> pa.Array:
        """The names that were copied."""

    def finish(self, *, candidates: int, segments: int, objects: int, size: int) -> Plan:
        """Make a plan of what was written down."""


@contextmanager
def marks_of(spark: SparkSession, place: Place, age: float) -> Iterator[Marks]:
    """Begin a run at *place*, wherever that is; *spark* is told how to reach its objects."""
    if place.endpoint is None:
        with opened(place, spark) as driver:
            yield _Own(driver, place.repo, age)
    else:
        with served(place) as remote:
            yield _Served(remote, spark, age)


class _Own:
    """Of a lake of one's own, the driver reads references, staging and changes."""

    def __init__(self, driver: Driver, name: str, age: float) -> None:
        self._repository, self.plan = driver.run(begin_run(driver.lake, name, age))
        self._marker = Marker(self._repository, self.plan.rules, now=self.plan.now, since=self.plan.cutoff)
        self.objects = driver.objects
        self.run = driver.run
        self.parts = driver.run(old_parts(self._repository, self.plan.cutoff))

    def references(self) -> list[pa.Array]:
        async def found() -> list[pa.Array]:
            return [names async for names in self._marker.look_above_trees()]

        return self.run(found())

    def segments(self) -> dict[str, int]:
        return self.run(self._marker.segments_of(self._marker.trees))

    def expanded(self, lists: Sequence[str]) -> pa.Array:
        return self.run(self._marker.expanded(lists))

    def notes(self) -> pa.Array:
        return self.run(self._marker.notes())

    def finish(self, *, candidates: int, segments: int, objects: int, size: int) -> Plan:
        retained = self._marker.retained.values()
        self.run(write_commits(self._repository.blobs, self.plan.run, retained))
        return self.run(
            seal_run(
                self._repository,
                self.plan,
                commits=len(retained),
                segments=segments,
                found=candidates,
                objects=objects,
                size=size,
            )
        )


class _Served:
    """Of a server, these are asked for. Trees and lists of blocks the driver reads from the object store itself."""

    def __init__(self, remote: Remote, spark: SparkSession, age: float) -> None:
        self.objects = remote.objects(spark)
        begun = remote.run(remote.repository.garbage.begin(age))
        self._remote = remote
        self._garbage = remote.repository.garbage
        self._reaching = Reaching(remote.repository.namespace, BlockLists(remote.blobs()))
        self.plan = begun.plan
        self.parts = begun.parts
        self.run = remote.run

    def references(self) -> list[pa.Array]:
        return [self.run(self._garbage.references(self.plan.run))]

    def segments(self) -> dict[str, int]:
        async def found() -> dict[str, int]:
            retained = [each async for each in read_commits(self._remote.blobs(), self.plan)]
            trees = list(dict.fromkeys(each.tree for each in retained if each.tree))
            return await segments_of(self._remote.store(), trees)

        self._remote.store()
        return self.run(found())

    def expanded(self, lists: Sequence[str]) -> pa.Array:
        return self.run(self._reaching.names(pa.array(lists, pa.string())))

    def notes(self) -> pa.Array:
        return self.run(self._garbage.notes(self.plan.run))

    def finish(self, *, candidates: int, segments: int, objects: int, size: int) -> Plan:
        return self.run(
            self._garbage.finish(self.plan.run, candidates=candidates, segments=segments, objects=objects, size=size)
        )
