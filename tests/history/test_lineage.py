"""First-parent histories: ancestors at a distance, at a time, in a range, and whether a commit has landed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.drive import drive
from headwater.history import (
    Commit,
    CommitNotFound,
    CommitStore,
    CorruptClock,
    NotAnAncestor,
    NotFound,
    as_of,
    between,
    has_landed,
    is_first_parent_ancestor,
    nth_ancestor,
)
from headwater.history.clock import clock_key
from headwater.testing.counting import Trips
from tests.history.world import ACTIONS, PARTITION, PATIENTLY, World

NESTED = st.sampled_from([0, 5, 70])
"""Branches off branches to begin with: none, some, and more than a clock keeps."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def in_between(commits: CommitStore, older: Commit, newer: Commit) -> list[Commit]:
    return [commit async for batch in between(commits, older, newer) for commit in batch]


@PATIENTLY
@given(ACTIONS, NESTED, st.integers(0, 99), st.integers(0, 99))
def test_the_nth_ancestor_is_n_first_parents_back(
    actions: list[tuple[str, int, int]], nested: int, which: int, n: int
) -> None:
    world = drive(World.after(actions, nested))
    commit = world.any(which)
    history = world.first_parents(commit)
    if n < len(history):
        assert drive(nth_ancestor(world.forget(), commit, n)) == history[n]
    else:
        with pytest.raises(NotFound, match=f"has {len(history) - 1} first-parent ancestors, not {n}"):
            drive(nth_ancestor(world.forget(), commit, n))


@PATIENTLY
@given(ACTIONS, NESTED, st.integers(0, 99), st.integers(0, 99))
def test_a_range_holds_what_came_after_its_beginning(
    actions: list[tuple[str, int, int]], nested: int, one: int, other: int
) -> None:
    world = drive(World.after(actions, nested))
    older, newer = world.any(one), world.any(other)
    history = world.first_parents(newer)
    if older in history:
        assert drive(in_between(world.forget(), older, newer)) == history[: history.index(older)]
    else:
        with pytest.raises(NotAnAncestor, match=older.id):
            drive(in_between(world.forget(), older, newer))


@PATIENTLY
@given(ACTIONS, NESTED, st.integers(0, 99), st.integers(0, 99))
def test_first_parent_ancestry_holds_however_far(
    actions: list[tuple[str, int, int]], nested: int, one: int, other: int
) -> None:
    world = drive(World.after(actions, nested))
    older, newer = world.any(one), world.any(other)
    found = drive(is_first_parent_ancestor(world.forget(), older, newer))
    assert found == (older in world.first_parents(newer))


@PATIENTLY
@given(ACTIONS, NESTED)
def test_a_commit_has_landed_if_the_head_descends_from_it_and_not_if_it_lost(
    actions: list[tuple[str, int, int]], nested: int
) -> None:
    world = drive(World.after([*actions, ("lose", 0, 0), ("commit", 0, 0)], nested))
    head = world.heads[0]
    history = world.first_parents(head)
    for commit in [*world.landed.values(), *world.lost.values()]:
        assert drive(has_landed(world.commits, commit, head)) == (commit in history)


def test_the_loser_of_the_last_race_has_not_landed() -> None:
    world = drive(World.begin())
    lost = drive(world.lose())
    assert lost.clock == world.heads[0].clock
    assert not drive(has_landed(world.commits, lost, world.heads[0]))


@PATIENTLY
@given(ACTIONS, NESTED, st.integers(0, 99), st.integers(-1, 99))
def test_a_history_as_of_a_time_is_the_newest_commit_not_younger(
    actions: list[tuple[str, int, int]], nested: int, which: int, at: int
) -> None:
    world = drive(World.after(actions, nested))
    commit = world.any(which)
    moment = world.any(at).time + at % 3 - 1 if at >= 0 else 0
    expected = next((past for past in world.first_parents(commit) if past.time <= moment), None)
    assert drive(as_of(world.forget(), commit, moment)) == expected


@PATIENTLY
@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(0, 9))
def test_where_times_run_backwards_a_commit_is_found_whose_child_is_younger(times: list[int], moment: int) -> None:
    world = drive(World.begin())
    for time in times:
        drive(world.commit(time=time))
    history = world.first_parents(world.heads[0])
    found = drive(as_of(world.forget(), world.heads[0], moment))
    if found is None:
        assert history[-1].time > moment
    else:
        assert found.time <= moment
        assert found == history[0] or history[history.index(found) - 1].time > moment


@pytest.mark.anyio
async def test_more_incarnations_than_a_clock_keeps_hide_nothing() -> None:
    world = await World.after([], nested=100)
    head = world.heads[0]
    history = world.first_parents(head)
    assert [await nth_ancestor(world.forget(), head, n) for n in range(101)] == history
    for n in (1, 31, 32, 33, 64, 65, 100):
        assert await in_between(world.forget(), history[n], head) == history[:n]
        assert await is_first_parent_ancestor(world.forget(), history[n], head)
        assert await has_landed(world.forget(), history[n], head)


@pytest.mark.anyio
class TestCosts:
    async def test_an_ancestor_costs_two_trips_at_any_distance(self) -> None:
        world = await World.begin()
        await world.commit_many(2000)
        commits, head = world.forget(), world.heads[0]
        for n in (1, 1000, 2000):
            with world.store.counted() as trips:
                await nth_ancestor(commits, head, n)
            assert trips == Trips(get=2)

    async def test_a_range_costs_one_scan_an_incarnation(self) -> None:
        world = await World.begin()
        await world.commit_many(50)
        older = world.heads[0]
        for _ in range(3):
            await world.commit_many(40)
            world.move(0, world.heads[0])
        await world.commit_many(2)
        commits = world.forget()
        with world.store.counted() as trips:
            assert len(await in_between(commits, older, world.heads[0])) == 122
        assert trips.scan == 4
        assert trips.total - trips.scan == 4

    async def test_a_long_range_is_one_scan_and_a_trip_for_each_hundred(self) -> None:
        world = await World.begin()
        await world.commit_many(1000)
        commits = world.forget()
        with world.store.counted() as trips:
            assert len(await in_between(commits, world.any(0), world.heads[0])) == 1000
        assert trips == Trips(scan=1, get_many=10)

    async def test_an_ancestor_on_first_parents_costs_nothing(self) -> None:
        world = await World.begin()
        await world.commit_many(100)
        commits = world.forget()
        with world.store.counted() as trips:
            assert await is_first_parent_ancestor(commits, world.any(0), world.heads[0])
        assert trips == Trips()

    async def test_going_back_in_time_costs_the_logarithm(self) -> None:
        world = await World.begin()
        await world.commit_many(2000)
        commits = world.forget()
        with world.store.counted() as trips:
            found = await as_of(commits, world.heads[0], world.any(100).time)
        assert found == world.any(100)
        assert trips.total <= 2 * (11 + 11)


@pytest.mark.anyio
class TestADamagedIndex:
    async def test_an_entry_that_is_missing_is_told(self) -> None:
        world = await World.begin()
        await world.commit_many(5)
        gone = world.any(3)
        await world.store.delete(PARTITION, clock_key(gone.clock.last))
        with pytest.raises(CorruptClock, match=f"nothing at .{world.incarnations[0].hex()}, 3.: check the repository"):
            await nth_ancestor(world.commits, world.heads[0], 2)
        with pytest.raises(CorruptClock, match="check the repository"):
            await in_between(world.commits, world.any(0), world.heads[0])

    async def test_an_entry_that_is_wrong_is_told(self) -> None:
        world = await World.begin()
        await world.commit_many(5)
        wrong = world.any(3)
        await world.store.set(PARTITION, clock_key(wrong.clock.last), bytes.fromhex(world.any(1).id))
        with pytest.raises(CorruptClock, match=world.any(1).id):
            await nth_ancestor(world.commits, world.heads[0], 2)
        with pytest.raises(CorruptClock, match=world.any(1).id):
            await in_between(world.commits, world.any(0), world.heads[0])

    async def test_a_commit_that_is_lost_is_not_taken_for_the_end_of_the_history(self) -> None:
        world = await World.begin()
        await world.commit_many(9)
        await world.store.delete(PARTITION, b"commit/" + bytes.fromhex(world.any(5).id))
        with pytest.raises(CommitNotFound, match=world.any(5).id):
            await as_of(world.forget(), world.heads[0], world.any(4).time)

    async def test_the_end_of_a_range_that_is_missing_is_told(self) -> None:
        world = await World.begin()
        await world.commit_many(5)
        await world.store.delete(PARTITION, clock_key(world.any(1).clock.last))
        with pytest.raises(CorruptClock, match=f"parent of commit {world.any(2).id}"):
            await in_between(world.commits, world.any(0), world.heads[0])
