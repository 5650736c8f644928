"""Ancestry over all parents, and merge bases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.drive import drive
from headwater.history import Commit, is_ancestor, merge_base, merge_bases
from headwater.history.clock import clock_key
from headwater.testing.counting import Trips
from tests.history.world import ACTIONS, PARTITION, PATIENTLY, World

NESTED = st.sampled_from([0, 0, 40])


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@PATIENTLY
@given(ACTIONS, NESTED, st.integers(0, 99), st.integers(0, 99))
def test_an_ancestor_is_what_can_be_reached(
    actions: list[tuple[str, int, int]], nested: int, one: int, other: int
) -> None:
    world = drive(World.after(actions, nested, scattered=True))
    older, newer = world.any(one), world.any(other)
    assert drive(is_ancestor(world.forget(), older, newer)) == (older in world.ancestors(newer))


@PATIENTLY
@given(ACTIONS, NESTED, st.integers(0, 99), st.integers(0, 99))
def test_merge_bases_are_the_best_common_ancestors_from_either_side(
    actions: list[tuple[str, int, int]], nested: int, one: int, other: int
) -> None:
    world = drive(World.after(actions, nested, scattered=True))
    first, second = world.any(one), world.any(other)
    bases = drive(merge_bases(world.forget(), first, second))
    assert bases == world.merge_bases(first, second)
    assert drive(merge_bases(world.forget(), second, first)) == bases
    assert drive(merge_base(world.forget(), first, second)) == bases[0]


@PATIENTLY
@given(ACTIONS, st.integers(0, 99), st.integers(0, 99))
def test_merge_bases_need_no_index(actions: list[tuple[str, int, int]], one: int, other: int) -> None:
    world = drive(World.after(actions))
    for commit in world.landed.values():
        drive(world.store.delete(PARTITION, clock_key(commit.clock.last)))
    first, second = world.any(one), world.any(other)
    assert drive(merge_bases(world.forget(), first, second)) == world.merge_bases(first, second)


@pytest.mark.anyio
async def test_a_criss_cross_merge_has_two_bases_and_the_choice_is_fixed() -> None:
    world = await World.begin()
    side = world.branch(world.heads[0])
    left, right = await world.commit(0), await world.commit(side)
    await world.commit(0, merging=right)
    await world.commit(side, merging=left)
    one, other = world.heads[0], world.heads[side]
    assert await merge_bases(world.forget(), one, other) == [right, left]
    assert await merge_base(world.forget(), other, one) == right


@pytest.mark.anyio
async def test_histories_that_never_met_have_no_base() -> None:
    world = await World.begin()
    first = Commit.create([], b"stranger", message="", committer="", time=0)
    second = Commit.create([first], b"stranger", message="", committer="", time=0)
    await world.store.pipeline([*world.commits.landing(first, None), *world.commits.landing(second, first)])
    await world.commit_many(3)
    assert await merge_bases(world.commits, world.heads[0], second) == []
    assert await merge_base(world.commits, world.heads[0], second) is None
    assert not await is_ancestor(world.commits, first, world.heads[0])


@pytest.mark.anyio
class TestCosts:
    async def test_branches_that_parted_lately_are_compared_in_few_trips(self) -> None:
        world = await World.begin()
        await world.commit_many(500)
        parted = world.heads[0]
        side = world.branch(parted)
        await world.commit_many(8)
        await world.commit_many(8, side)
        commits = world.forget()
        with world.store.counted() as trips:
            assert await merge_base(commits, world.heads[0], world.heads[side]) == parted
        assert trips == Trips(get_many=2)

    async def test_an_ancestor_by_clock_is_a_base_at_no_cost(self) -> None:
        world = await World.begin()
        await world.commit_many(50)
        commits = world.forget()
        with world.store.counted() as trips:
            assert await merge_base(commits, world.any(3), world.heads[0]) == world.any(3)
            assert await merge_base(commits, world.heads[0], world.any(3)) == world.any(3)
        assert trips == Trips()

    async def test_what_was_merged_long_ago_is_found_without_reading_what_is_older(self) -> None:
        world = await World.begin()
        await world.commit_many(1000)
        side = world.branch(world.heads[0])
        merged = await world.commit(side)
        await world.commit(merging=merged)
        await world.commit_many(300)
        commits = world.forget()
        with world.store.counted() as trips:
            assert await is_ancestor(commits, merged, world.heads[0])
        assert trips.total <= 2 * (300 // 32 + 2)
