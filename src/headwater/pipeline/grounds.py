"""What a tree is made on: the head of a branch, in stores of one's own or on a server, and how the tree lands there."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import msgspec
from pyspark.sql import SparkSession

from headwater.engine.adopting import land_relocated, land_tree
from headwater.engine.commit import Description
from headwater.index import Index
from headwater.outside import real_outside
from headwater.pipeline.landing import head_of
from headwater.pipeline.place import Driver, Objects, Place, opened
from headwater.pipeline.remote import Remote, served

Result = TypeVar("Result")

NOTHING: Mapping[str, str] = {}


class Landed(msgspec.Struct, frozen=True):
    """A commit that landed, and its tree."""

    commit: str
    tree: str


class Ground(Protocol):
    """The head of a branch as a job found it: its *index*, with the store where segments and trees are written."""

    objects: Objects
    index: Index

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """What *coroutine* answers."""

    def now(self) -> int:
        """Milliseconds since 1970."""

    def land(
        self, tree: str | None, message: str, *, relocated: bool = False, metadata: Mapping[str, str] = NOTHING
    ) -> Landed:
        """Land *tree*, which is written, as one commit. If it is *relocated*, on this head or not."""


@contextmanager
def ground_of(place: Place, branch: str, spark: SparkSession) -> Iterator[Ground]:
    """The head of *branch* at *place*, wherever that is; *spark* is told how to reach its objects."""
    if place.endpoint is None:
        with opened(place, spark) as driver:
            driver.repository.check_writable()
            yield _Own(driver, branch, place.committer)
    else:
        with served(place) as remote:
            yield _Served(remote, branch, spark)


class _Own:
    """In stores of one's own, the driver commits."""

    def __init__(self, driver: Driver, branch: str, committer: str) -> None:
        self._driver = driver
        self._branch = branch
        self._committer = committer
        self._head = driver.run(head_of(driver.repository, branch))
        self.objects = driver.objects
        self.index = driver.run(driver.repository.index_of(self._head))
        self.run = driver.run

    def now(self) -> int:
        return self._driver.repository.outside.now()

    def land(
        self, tree: str | None, message: str, *, relocated: bool = False, metadata: Mapping[str, str] = NOTHING
    ) -> Landed:
        description = Description(message, self._committer, self.now(), dict(metadata))
        land = land_relocated if relocated else land_tree
        commit = self.run(land(self._driver.repository, self._branch, self._head, tree, description))
        return Landed(commit.id, commit.tree)


class _Served:
    """On a server, it is asked to commit, and looks at the tree before it does."""

    def __init__(self, remote: Remote, branch: str, spark: SparkSession) -> None:
        self._remote = remote
        self._branch = branch
        remote.run(remote.repository.refs.check_branch(branch))
        told = remote.made_of(f"{branch}@")
        self._head = told.commit
        self.objects = remote.objects(spark)
        self.index = remote.index(told)
        self.run = remote.run

    def now(self) -> int:
        return real_outside().now()

    def land(
        self, tree: str | None, message: str, *, relocated: bool = False, metadata: Mapping[str, str] = NOTHING
    ) -> Landed:
        committing = self._remote.repository.committing
        made = committing.adopt_tree(
            self._branch, tree, self._head, message, relocated=relocated, metadata=dict(metadata)
        )
        commit = self.run(made).id
        return Landed(commit, self._remote.made_of(commit).tree)
