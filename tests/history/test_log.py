"""The log: its order, its pages, its bounds and filters, and what a page costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.drive import drive
from headwater.history import (
    BadCursor,
    Commit,
    CommitNotFound,
    LimitExceeded,
    all_parents,
    first_parent,
    log,
    newest_first,
)
from headwater.history.clock import clock_key
from headwater.history.limits import MAX_LOG_EXAMINED
from headwater.testing.counting import Trips
from tests.history.world import ACTIONS, PARTITION, PATIENTLY, World

NESTED = st.sampled_from([0, 5, 40])
AMOUNT = st.sampled_from([1, 2, 3, 7, 100])
LINEAGE = st.sampled_from([first_parent, all_parents])


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def pages(world: World, start: Commit, **arguments: Any) -> list[list[Commit]]:
    """The whole log, page by page, each by somebody who has read nothing yet."""
    found: list[list[Commit]] = []
    after: str | None = ""
    while after is not None:
        page = await log(world.forget(), start, after=after, **arguments)
        found.append(list(page.commits))
        after = page.after
    return found


def whole(world: World, start: Commit, **arguments: Any) -> list[Commit]:
    return [commit for page in drive(pages(world, start, **arguments)) for commit in page]


async def even(commits: Sequence[Commit]) -> list[bool]:
    """A log of the commits whose number is even."""
    return [int(commit.message.split()[1]) % 2 == 0 for commit in commits]


def expected(world: World, start: Commit, lineage: object, stop_at: frozenset[str], since: int) -> list[Commit]:
    """What may be reached from *start*, without going on behind what ends the log."""
    found = {start.id: start}
    to_do = [start]
    while to_do:
        commit = to_do.pop()
        if commit.id in stop_at or commit.time < since:
            continue
        for parent in commit.parents[:1] if lineage is first_parent else commit.parents:
            if parent not in found:
                found[parent] = world.landed[parent]
                to_do.append(world.landed[parent])
    return sorted((commit for commit in found.values() if commit.time >= since), key=newest_first)


@PATIENTLY
@given(ACTIONS, NESTED, st.integers(0, 99), AMOUNT)
def test_the_log_is_the_first_parent_history(
    actions: list[tuple[str, int, int]], nested: int, which: int, amount: int
) -> None:
    world = drive(World.after(actions, nested))
    found = drive(pages(world, world.any(which), amount=amount))
    assert [commit for page in found for commit in page] == world.first_parents(world.any(which))
    assert {len(page) for page in found[:-1]} <= {amount}
    assert 1 <= len(found[-1]) <= amount


@PATIENTLY
@given(ACTIONS, NESTED, st.integers(0, 99), AMOUNT)
def test_the_log_of_all_parents_has_every_ancestor_once_and_newest_first(
    actions: list[tuple[str, int, int]], nested: int, which: int, amount: int
) -> None:
    world = drive(World.after(actions, nested, scattered=True))
    found = whole(world, world.any(which), amount=amount, lineage=all_parents)
    assert found == world.ancestors(world.any(which))


@PATIENTLY
@given(ACTIONS, AMOUNT, LINEAGE, st.tuples(st.integers(0, 99), st.integers(0, 99)), st.integers(0, 40))
def test_the_log_ends_where_it_is_told_to_and_shows_what_it_is_told_to(
    actions: list[tuple[str, int, int]], amount: int, lineage: object, ends: tuple[int, int], since: int
) -> None:
    world = drive(World.after(actions))
    start, stop_at = world.any(ends[0]), frozenset({world.any(ends[1]).id})
    bounds = {"stop_at": stop_at, "since": since * 1000}
    reached = expected(world, start, lineage, stop_at, since * 1000)
    assert whole(world, start, amount=amount, lineage=lineage, **bounds) == reached
    verdicts = drive(even(reached))
    filtered = whole(world, start, amount=amount, lineage=lineage, touched=even, **bounds)
    assert filtered == [commit for commit, verdict in zip(reached, verdicts, strict=True) if verdict]


@PATIENTLY
@given(ACTIONS, AMOUNT, LINEAGE, st.integers(0, 99), st.integers(0, 60))
def test_the_log_leaves_out_what_is_younger_than_its_bound(
    actions: list[tuple[str, int, int]], amount: int, lineage: object, start: int, until: int
) -> None:
    world = drive(World.after(actions))
    reached = expected(world, world.any(start), lineage, frozenset(), 0)
    older = [commit for commit in reached if commit.time <= until * 1000]
    assert whole(world, world.any(start), amount=amount, lineage=lineage, until=until * 1000) == older


@PATIENTLY
@given(ACTIONS, LINEAGE, st.integers(0, 99), st.integers(0, 99))
def test_the_log_is_right_whatever_the_index_says(
    actions: list[tuple[str, int, int]], lineage: Any, gone: int, wrong: int
) -> None:
    world = drive(World.after(actions))
    drive(world.store.delete(PARTITION, clock_key(world.any(gone).clock.last)))
    misled = clock_key(world.any(wrong).clock.last)
    drive(world.store.set(PARTITION, misled, bytes.fromhex(world.any(wrong + 1).id)))
    history = expected(world, world.heads[0], lineage, frozenset(), 0)
    assert whole(world, world.heads[0], lineage=lineage, amount=7) == history


@pytest.mark.anyio
class TestCosts:
    async def test_a_hundred_commits_are_one_scan_and_one_bulk_read(self) -> None:
        world = await World.begin()
        await world.commit_many(250)
        commits = world.forget()
        with world.store.counted() as trips:
            page = await log(commits, world.heads[0], amount=100)
        assert trips == Trips(scan=1, get_many=1)
        with world.store.counted() as trips:
            page = await log(commits, world.heads[0], amount=100, after=page.after or "")
        assert trips == Trips(scan=1, get_many=1)
        assert list(page.commits) == world.first_parents(world.heads[0])[100:200]

    async def test_a_page_deep_in_the_history_costs_no_more_than_the_first(self) -> None:
        world = await World.begin()
        await world.commit_many(1500)
        with world.store.counted() as trips:
            await log(world.forget(), world.heads[0], amount=100, after=world.any(200).id)
        assert trips == Trips(get=1, scan=1, get_many=1)

    async def test_crossing_from_branch_to_branch_costs_nothing_more(self) -> None:
        world = await World.after([], nested=20)
        commits = world.forget()
        with world.store.counted() as trips:
            assert len((await log(commits, world.heads[0], amount=20)).commits) == 20
        assert trips == Trips(get_many=2)

    async def test_what_was_read_before_costs_nothing(self) -> None:
        world = await World.begin()
        await world.commit_many(99)
        commits = world.forget()
        await log(commits, world.heads[0], amount=100)
        with world.store.counted() as trips:
            await log(commits, world.heads[0], amount=100)
        assert trips == Trips()

    async def test_a_filtered_log_of_a_thousand_costs_ten_scans_and_ten_bulk_reads(self) -> None:
        world = await World.begin()
        await world.commit_many(1000)
        commits = world.forget()
        asked: list[int] = []

        async def first_only(batch: Sequence[Commit]) -> list[bool]:
            asked.append(len(batch))
            return [commit.parents == () for commit in batch]

        with world.store.counted() as trips:
            page = await log(commits, world.heads[0], touched=first_only)
        assert page.commits == (world.any(0),)
        assert trips == Trips(scan=10, get_many=10)
        assert asked == [100] * 10 + [1]

    async def test_what_is_too_young_is_leapt_over(self) -> None:
        world = await World.begin()
        await world.commit_many(2000)
        commits = world.forget()
        with world.store.counted() as trips:
            page = await log(commits, world.heads[0], until=world.any(50).time)
        assert list(page.commits) == world.first_parents(world.any(50))
        assert trips.total < 50

    async def test_two_branches_with_a_merge_cost_little_more_than_one(self) -> None:
        world = await World.begin()
        side = world.branch(world.heads[0])
        await world.commit_many(40)
        await world.commit_many(40, side)
        await world.commit(merging=world.heads[side])
        commits = world.forget()
        with world.store.counted() as trips:
            page = await log(commits, world.heads[0], amount=100, lineage=all_parents)
        assert len(page.commits) == 82
        assert trips.total <= 6

    async def test_a_history_of_merges_is_not_read_one_by_one(self) -> None:
        world = await World.begin()
        for _ in range(60):
            side = world.branch(world.heads[0])
            await world.commit_many(2, side)
            await world.commit(merging=world.heads[side])
        commits = world.forget()
        with world.store.counted() as trips:
            page = await log(commits, world.heads[0], amount=181, lineage=all_parents)
        assert len(page.commits) == 181
        assert trips.total <= 10


@pytest.mark.anyio
class TestPages:
    async def test_a_filtered_log_that_finds_nothing_answers_now_and_then(self) -> None:
        world = await World.begin()
        await world.commit_many(MAX_LOG_EXAMINED + 50)

        async def none(batch: Sequence[Commit]) -> list[bool]:
            return [False] * len(batch)

        page = await log(world.commits, world.heads[0], touched=none)
        assert page.commits == ()
        assert page.after == world.first_parents(world.heads[0])[MAX_LOG_EXAMINED - 1].id
        assert await log(world.commits, world.heads[0], touched=none, after=page.after) == type(page)((), None)

    async def test_a_page_that_ends_between_two_lines_of_history_loses_neither(self) -> None:
        world = await World.begin()
        side = world.branch(world.heads[0])
        for _ in range(10):
            await world.commit(0)
            await world.commit(side)
        await world.commit(merging=world.heads[side])

        async def every(batch: Sequence[Commit]) -> list[bool]:
            return [True] * len(batch)

        found = await pages(world, world.heads[0], amount=1, lineage=all_parents, touched=every)
        assert [commit for page in found for commit in page] == world.ancestors(world.heads[0])

    async def test_in_a_first_parent_log_the_last_commit_tells_where_to_go_on(self) -> None:
        world = await World.begin()
        await world.commit_many(9)
        page = await log(world.commits, world.heads[0], amount=4, touched=even)
        assert page.after == page.commits[-1].id

    @pytest.mark.parametrize("after", ["main", "ab" * 32 + ",", "AB" * 32, "~"])
    async def test_a_cursor_of_another_kind_is_refused(self, after: str) -> None:
        world = await World.begin()
        with pytest.raises(BadCursor, match="page before"):
            await log(world.commits, world.heads[0], after=after)

    async def test_a_cursor_that_names_a_commit_twice_does_not_show_it_twice(self) -> None:
        world = await World.begin()
        await world.commit_many(3)
        first, second, third, last = world.landed.values()
        page = await log(world.commits, last, after=f"{last.id},{second.id},{second.id}", lineage=all_parents)
        assert page.commits == (third, second, first)

    async def test_a_cursor_with_an_unknown_commit_is_refused(self) -> None:
        world = await World.begin()
        with pytest.raises(CommitNotFound):
            await log(world.commits, world.heads[0], after="ab" * 32)

    @pytest.mark.parametrize("amount", [0, -1, 1001])
    async def test_a_page_has_a_limit(self, amount: int) -> None:
        world = await World.begin()
        with pytest.raises(LimitExceeded, match="1 to 1000"):
            await log(world.commits, world.heads[0], amount=amount)

    async def test_nothing_was_there_before_the_first_commit(self) -> None:
        world = await World.begin()
        await world.commit(time=5000)
        page = await log(world.commits, world.heads[0], until=world.any(0).time - 1)
        assert page == type(page)((), None)
