"""Beginning again when somebody else was faster is bounded: in number, in time, and told when it is given up."""

from __future__ import annotations

import pytest

from headwater import blob, kv
from headwater.drive import drive
from headwater.engine import write
from headwater.engine.commit import Description, commit
from headwater.engine.lake import Lake
from headwater.index import Entry
from headwater.kv import Predicate, PredicateFailed
from headwater.outside import Outside, real_outside
from headwater.refs.branches import key_of
from headwater.staging.errors import Contended
from headwater.staging.limits import DEADLINE, FIRST_PAUSE, LONGEST_PAUSE, TRIES
from headwater.staging.tries import tries
from headwater.testing.counting import CountingStore


class Clock:
    """Time that passes while somebody sleeps, and *slow* seconds with each look at it."""

    def __init__(self, slow: float = 0.0) -> None:
        self.seconds = 0.0
        self.pauses: list[float] = []
        self._slow = slow

    def outside(self) -> Outside:
        return Outside(lambda: int(self.seconds * 1000), self._elapsed, real_outside().random, self._sleep)

    def _elapsed(self) -> float:
        self.seconds += self._slow
        return self.seconds

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.seconds += seconds


async def made_of(outside: Outside) -> tuple[int, str]:
    """How many tries there were, and what was said in the end."""
    made = 0
    try:
        async for _ in tries(outside, "nothing in particular"):
            made += 1
    except Contended as error:
        return made, str(error)
    raise AssertionError("it ended quietly")


def test_tries_are_bounded_and_pause_longer_and_longer() -> None:
    clock = Clock()
    made, said = drive(made_of(clock.outside()))
    assert made == TRIES
    assert said.startswith("nothing in particular: others were faster")
    assert len(clock.pauses) == TRIES - 2
    assert 0 < clock.pauses[0] <= FIRST_PAUSE
    assert LONGEST_PAUSE / 10 < max(clock.pauses) <= LONGEST_PAUSE


def test_no_try_is_begun_when_it_has_taken_too_long() -> None:
    clock = Clock(slow=DEADLINE / 4)
    assert 1 < drive(made_of(clock.outside()))[0] <= 5


class AlwaysFaster(CountingStore):
    """Somebody changes the branch whenever it is to be swapped."""

    swaps = 0

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        if key == key_of("main") and self.swaps:
            self.swaps -= 1
            raise PredicateFailed(partition, key)
        return await super().set_if(partition, key, value, predicate)


def test_a_commit_that_others_are_always_faster_than_gives_up_says_so_and_may_be_made_later() -> None:
    store = AlwaysFaster(drive(kv.open("mem://")))
    repository = drive(Lake(store, blob.open, Clock().outside()).create("lake", "mem://"))
    drive(write.stage(repository, "main", Entry("f/a", checksum="1")))
    store.swaps = TRIES
    with pytest.raises(Contended, match="branch 'main'"):
        drive(commit(repository, "main", Description("all", "ann", 0)))
    assert store.swaps == 0
    assert drive(commit(repository, "main", Description("all", "ann", 0))).message == "all"
