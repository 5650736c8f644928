"""Sweeping on executors: what it spares, how fast it is, where it goes on; and that nothing needed is deleted."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import TYPE_CHECKING

import msgspec
import pytest

from headwater import pipeline
from headwater.blob.namespace import data_name
from headwater.engine import branches, write
from headwater.engine.commit import Description, commit
from headwater.engine.lake import Lake
from headwater.garbage import RetentionRules, Swept, write_rules
from headwater.garbage.limits import DAY, MIN_AGE
from headwater.outside import real_outside
from headwater.pipeline import Place
from headwater.pipeline.place import opened
from headwater.sdk.opening import Opened, open_stores
from tests.garbage.actors import PATHS, acting
from tests.garbage.oracle import needed
from tests.pipeline.lakes import place_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LONG_AGO = 1_700_000_000
RULES = RetentionRules(1)


def old_objects(place: Place, directory: Path, count: int) -> list[Path]:
    """Objects that are old and that nothing refers to."""
    files = []
    with opened(place) as driver:
        for number in range(count):
            name = data_name(LONG_AGO * 1000 + number * 4_000_000, f"old{number}")
            driver.run(driver.repository.blobs.put(name, b"old"))
            files.append(directory / "objects" / "sales" / name)
            os.utime(files[-1], (LONG_AGO, LONG_AGO))
    return files


def left(files: list[Path]) -> int:
    return sum(file.exists() for file in files)


def test_a_sweep_has_rounds_keeps_its_rate_and_spares_what_is_referred_to_by_then(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwater.pipeline.garbage.PART", 10)
    monkeypatch.setattr("headwater.pipeline.sweeping.LOOK_EVERY", 1.0)
    place = place_in(tmp_path)
    files = old_objects(place, tmp_path, 40)
    plan = pipeline.plan_garbage(spark, place)
    dry = pipeline.sweep_garbage(spark, place, plan.run, dry_run=True)
    assert (dry.deleted, dry.bytes, dry.spared, dry.parts, left(files)) == (40, 120, 0, 4, 40)
    with opened(place) as driver:
        address = str(files[7].relative_to(tmp_path / "objects" / "sales"))
        driver.run(write.link(driver.repository, "main", "back", address, size=3, checksum=None))
    rounds: list[Swept] = []
    began = time.monotonic()
    swept = pipeline.sweep_garbage(spark, place, plan.run, rate=8, progress=rounds.append)
    assert time.monotonic() - began >= 39 / 8
    assert (swept.deleted, swept.spared, swept.parts, left(files)) == (39, 1, 4, 1)
    assert files[7].exists()
    assert len(rounds) > 1
    assert pipeline.sweep_garbage(spark, place, plan.run).parts == 0
    assert pipeline.plan_garbage(spark, place).objects == 0


def test_a_sweep_that_was_ended_goes_on_where_it_was(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwater.pipeline.garbage.PART", 10)
    place = place_in(tmp_path)
    files = old_objects(place, tmp_path, 40)
    plan = pipeline.plan_garbage(spark, place)

    def end_it_soon() -> None:
        while left(files) == 40:
            time.sleep(0.01)
        spark.sparkContext.cancelAllJobs()

    ending = Thread(target=end_it_soon)
    ending.start()
    with pytest.raises(Exception, match="cancel"):
        pipeline.sweep_garbage(spark, place, plan.run, rate=0.4)
    ending.join()
    assert 0 < left(files) < 40
    assert pipeline.sweep_garbage(spark, place, plan.run).parts == 4
    assert left(files) == 0


class LiveWorld:
    """A repository in a directory, whose old days are over: what is written in it from now on is young."""

    def __init__(self, place: Place, directory: Path) -> None:
        self.random = Random(1)  # noqa: S311  (a seed decides what clients do)
        self.place = place
        self._objects = directory / "objects" / "lake"
        self._opened: Opened | None = None

    def lake(self, *, calm: bool = False) -> Lake:
        del calm
        assert self._opened is not None
        return self._opened.lake

    def description(self, message: str) -> Description:
        return Description(message, "tests", real_outside().now())

    async def begin(self) -> None:
        """Files of two branches, committed and staged, three days ago."""
        self._opened = await open_stores(self.place.lake)
        back = msgspec.structs.replace(real_outside(), now=lambda: real_outside().now() - 3 * DAY)
        lake = Lake(self._opened.store, self._opened.storage.open, back)
        repository = await lake.create("lake", self._opened.storage.namespace_of("lake"))
        await write_rules(repository, RULES)
        await branches.create_branch(repository, "dev", "main")
        for branch in ("main", "dev"):
            for number in range(5):
                for path in PATHS:
                    await write.put(repository, branch, path, f"{branch} {number} {path}".encode())
                if number < 4:
                    await commit(repository, branch, Description(f"old {number}", "tests", back.now()))
        for file in self._objects.glob("data/**/*"):
            os.utime(file, (time.time() - 3 * DAY / 1000,) * 2)

    async def use(self, over: Event) -> None:
        """Clients do what they do, again and again, until it is *over*."""
        await asyncio.gather(*(self._client(number, over) for number in range(3)))

    async def _client(self, number: int, over: Event) -> None:
        while not over.is_set():
            await acting(self, self.random.randrange(1 << 30) + number)

    async def check(self) -> int:
        """Whatever is needed is there. How much that is."""
        repository = await self.lake().open("lake")
        needs = await needed(repository, RULES, real_outside().now())
        assert not [f"{address} of {why}" for address, why in needs.items() if not (self._objects / address).exists()]
        return len(needs)


@contextmanager
def in_use(place: Place, directory: Path) -> Iterator[None]:
    """A repository that is used all the while; at the end, nothing that is needed may be missing."""
    world, begun, over = LiveWorld(place, directory), Event(), Event()
    outcome: list[BaseException | int] = []

    async def live() -> int:
        await world.begin()
        begun.set()
        await world.use(over)
        return await world.check()

    def run() -> None:
        try:
            outcome.append(asyncio.run(live()))
        except BaseException as error:  # noqa: BLE001  (raised below)
            outcome.append(error)
            begun.set()

    using = Thread(target=run)
    using.start()
    begun.wait()
    try:
        yield
    finally:
        over.set()
        using.join()
    [found] = outcome
    if isinstance(found, BaseException):
        raise found
    assert found


def test_nothing_that_is_needed_is_deleted_while_everything_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    place = Place("lake", lake=str(tmp_path))
    deleted = 0
    with in_use(place, tmp_path):
        for _ in range(2):
            plan = pipeline.plan_garbage(spark, place, age=MIN_AGE)
            deleted += pipeline.sweep_garbage(spark, place, plan.run).deleted
    assert deleted
