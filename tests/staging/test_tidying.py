"""What was committed is cleared away from where it was staged, by whoever goes on working, and not before its time."""

from __future__ import annotations

import asyncio

import pytest

from headwater import blob, kv
from headwater.drive import drive
from headwater.engine import branches, reset, write
from headwater.engine.commit import Description, commit
from headwater.engine.lake import Lake
from headwater.engine.repository import Repository
from headwater.index import Entry
from headwater.kv import Store
from headwater.outside import Outside, real_outside
from headwater.refs.branches import key_of
from headwater.sdk.embedded.committing import Committing
from headwater.staging.limits import GRACE, TIDY_AFTER, TIDY_AT_ONCE, TIDY_ROUNDS
from headwater.staging.tokens import leaving
from headwater.testing.counting import CountingStore, Trips


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.seconds = 1_700_000_000.0

    def outside(self) -> Outside:
        real = real_outside()
        return Outside(lambda: int(self.seconds * 1000), lambda: self.seconds, real.random, asyncio.sleep)


class World:
    def __init__(self) -> None:
        self.clock = Clock()
        self.store = CountingStore(drive(kv.open("mem://")))
        self.repository = drive(self.lake().create("lake", "mem://"))

    def lake(self) -> Lake:
        return Lake(self.store, blob.open, self.clock.outside())

    def stage(self, count: int, repository: Repository | None = None) -> bytes:
        """The partition that so many entries are staged in."""
        there = repository or self.repository
        for number in range(count):
            drive(write.stage(there, "main", Entry(f"f/{number:06}", checksum=f"{self.clock.seconds}")))
        return b"stage/" + drive(there.branches.fresh("main")).branch.token.encode()

    def commit(self) -> None:
        drive(commit(self.repository, "main", Description("all", "ann", 0)))

    def staged(self, partition: bytes) -> int:
        return drive(count_of(self.store, partition))

    def wait(self, seconds: float) -> None:
        self.clock.seconds += seconds


async def count_of(store: Store, partition: bytes) -> int:
    return sum([len(page) async for page in store.scan(partition)])


@pytest.fixture
def world() -> World:
    return World()


def test_what_a_commit_took_is_left_alone_for_the_grace_period_and_is_then_cleared_away(world: World) -> None:
    partition = world.stage(3)
    world.commit()
    drive(world.repository.tidying.round())
    world.wait(GRACE)
    drive(world.repository.tidying.round())
    assert world.staged(partition) == 3
    world.wait(1)
    drive(world.repository.tidying.round())
    assert world.staged(partition) == 0


def test_rounds_end_when_nothing_changes_and_leave_nothing_behind(world: World) -> None:
    partition = world.stage(3)
    drive(reset.reset(world.repository, "main"))
    for _ in range(TIDY_ROUNDS):
        drive(world.repository.tidying.round())
        world.wait(TIDY_AFTER)
    assert world.staged(partition) == 0
    found = drive(scanned(world.store, world.repository.partition))
    assert not [key for key in found if key.startswith((b"leaving/", b"dropped/"))]
    with world.store.counted() as trips:
        drive(world.repository.tidying.round())
    assert trips == Trips()


async def scanned(store: Store, partition: bytes) -> list[bytes]:
    return [entry.key async for page in store.scan(partition) for entry in page]


def test_a_process_cleans_up_what_another_left_when_it_changes_a_branch_itself(world: World) -> None:
    partition = world.stage(3)
    world.commit()
    elsewhere = drive(world.lake().open("lake"))
    drive(elsewhere.tidying.round())
    assert world.staged(partition) == 3, "it has changed nothing so far"
    world.stage(1, elsewhere)
    drive(elsewhere.tidying.round())
    world.wait(TIDY_AFTER)
    drive(elsewhere.tidying.round())
    assert world.staged(partition) == 0


def test_who_waits_for_a_commit_waits_for_a_part_of_the_work_at_a_time_and_not_each_time(world: World) -> None:
    partition = world.stage(TIDY_AT_ONCE + 500)
    world.commit()
    drive(world.repository.tidying.now_and_then())
    with world.store.counted() as trips:
        drive(world.repository.tidying.now_and_then())
    assert trips == Trips()
    world.wait(TIDY_AFTER)
    drive(world.repository.tidying.now_and_then())
    assert 0 < world.staged(partition) <= 500
    world.wait(TIDY_AFTER)
    drive(world.repository.tidying.now_and_then())
    assert world.staged(partition) == 0


def test_whoever_commits_by_the_sdk_cleans_up(world: World) -> None:
    committing = Committing(world.repository, "ann")
    partitions = []
    for _ in range(4):
        partitions.append(world.stage(2))
        drive(committing.commit("main", "all", metadata={}, time=None, allow_empty=False))
        world.wait(TIDY_AFTER)
    assert [world.staged(partition) for partition in partitions] == [0, 0, 0, 2]


def test_a_commit_that_has_landed_is_no_failure_because_another_branch_is_damaged(world: World) -> None:
    drive(branches.create_branch(world.repository, "damaged", "main"))
    drive(world.store.pipeline(leaving(world.repository.partition, "damaged", ["a token"])))
    drive(world.store.set(world.repository.partition, key_of("damaged"), b"?"))
    world.stage(1)
    landed = drive(Committing(world.repository, "ann").commit("main", "all", metadata={}, time=None, allow_empty=False))
    assert drive(world.repository.branches.fresh("main")).branch.commit == landed.id


def test_a_store_that_fails_is_no_failure_of_whoever_commits(world: World) -> None:
    world.stage(1)
    world.commit()
    drive(world.store.aclose())
    drive(world.repository.tidying.now_and_then())
