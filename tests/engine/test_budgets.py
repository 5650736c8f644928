"""What each operation costs in round trips and requests, at any size of the repository. These numbers are promises."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from headwater.engine import branches, commit, diff, log, merge, read, write
from headwater.testing.counting import Trips
from headwater.testing.counting_blobs import Requests
from tests.engine.counted import Counted, description, opened_anew, path_of, repository_of

SIZES = [1, 1_000, 1_000_000]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", params=SIZES)
async def counted(request: pytest.FixtureRequest, anyio_backend: str) -> Counted:  # noqa: ARG001  (the loop it runs in)
    return await repository_of(request.param)


async def cost(counted: Counted, call: Callable[[], Awaitable[object]]) -> tuple[Trips, Requests]:
    with counted.keys.counted() as trips, counted.blobs.counted() as requests:
        await call()
    return trips, requests


async def fresh_branch(counted: Counted, name: str) -> str:
    await branches.create_branch(counted.repository, name, "main")
    await read.stat(counted.repository, name, path_of(0))  # what is immutable is warm
    return name


@pytest.mark.anyio
class TestBudgets:
    async def test_stat_on_a_clean_branch_reads_the_branch_and_nothing_else(self, counted: Counted) -> None:
        branch = await fresh_branch(counted, "clean")
        assert await cost(counted, lambda: read.stat(counted.repository, branch, path_of(0))) == (
            Trips(get=1),
            Requests(),
        )

    async def test_stat_by_commit_id_asks_nobody(self, counted: Counted) -> None:
        head = (await counted.repository.branches.fresh("main")).branch.commit
        await read.stat(counted.repository, head, path_of(0))
        assert await cost(counted, lambda: read.stat(counted.repository, head, path_of(0))) == (Trips(), Requests())

    async def test_stat_on_a_dirty_branch_looks_into_staging_once(self, counted: Counted) -> None:
        branch = await fresh_branch(counted, "dirty")
        await write.put(counted.repository, branch, "staged", b"x")
        for path in (path_of(0), "staged"):
            assert await cost(counted, partial(read.stat, counted.repository, branch, path)) == (
                Trips(get=2),
                Requests(),
            )

    async def test_a_put_to_a_dirty_branch_is_a_write_between_two_looks_one_of_them_cached(
        self, counted: Counted
    ) -> None:
        branch = await fresh_branch(counted, "putting")
        await write.put(counted.repository, branch, "first", b"x")
        assert await cost(counted, lambda: write.put(counted.repository, branch, "second", b"x")) == (
            Trips(set=1, get=1),
            Requests(put=1),
        )

    async def test_the_first_put_after_a_commit_makes_the_branch_dirty_in_the_same_trip(self, counted: Counted) -> None:
        branch = await fresh_branch(counted, "first-put")
        await counted.repository.branches.fresh(branch)
        assert await cost(counted, lambda: write.put(counted.repository, branch, "first", b"x")) == (
            Trips(pipeline=1, get=1),
            Requests(put=1),
        )

    @pytest.mark.parametrize("changes", [1, 50])
    async def test_a_commit_of_few_changes_is_four_trips_and_no_object(self, counted: Counted, changes: int) -> None:
        branch = await fresh_branch(counted, f"commit-{changes}")
        for number in range(changes):
            await write.put(counted.repository, branch, f"changed/{number}", b"x")
        assert await cost(counted, lambda: commit.commit(counted.repository, branch, description())) == (
            Trips(get=1, set_if=1, scan=1, pipeline=1),
            Requests(),
        )

    async def test_a_log_of_a_hundred_commits_is_a_scan_and_a_get_many(self, counted: Counted) -> None:
        branch = await fresh_branch(counted, "log")
        for number in range(120):
            await commit.commit(counted.repository, branch, description(f"{number}"), allow_empty=True)
        cold = await opened_anew(counted)
        await cold.repository.commits.get((await cold.repository.branches.fresh(branch)).branch.commit)
        trips, requests = await cost(cold, lambda: log.log(cold.repository, branch))
        assert (trips, requests) == (Trips(get=1, scan=1, get_many=1), Requests())

    async def test_a_diff_of_what_differs_in_a_few_keys_reads_no_object(self, counted: Counted) -> None:
        branch = await fresh_branch(counted, "diff")
        for number in range(20):
            await write.put(counted.repository, branch, f"changed/{number}", b"x")
        await commit.commit(counted.repository, branch, description())
        trips, requests = await cost(counted, lambda: diff.diff(counted.repository, "main", branch))
        assert (trips, requests) == (Trips(get=2), Requests())

    async def test_uncommitted_changes_of_a_clean_branch_are_told_without_staging(self, counted: Counted) -> None:
        branch = await fresh_branch(counted, "nothing")
        assert await cost(counted, lambda: diff.uncommitted(counted.repository, branch)) == (Trips(get=1), Requests())

    async def test_a_merge_of_a_few_changes_writes_no_object(self, counted: Counted) -> None:
        target, source = await fresh_branch(counted, "target"), await fresh_branch(counted, "source")
        for number in range(20):
            await write.put(counted.repository, source, f"changed/{number}", b"x")
        await commit.commit(counted.repository, source, description())
        await write.put(counted.repository, target, "other", b"x")
        await commit.commit(counted.repository, target, description())
        trips, requests = await cost(counted, lambda: merge.merge(counted.repository, source, target, description()))
        assert trips.total <= 5
        assert requests == Requests()

    async def test_a_new_branch_is_a_few_trips(self, counted: Counted) -> None:
        trips, requests = await cost(counted, lambda: branches.create_branch(counted.repository, "another", "main"))
        assert trips.total <= 5  # the source, the log's head, the record, the intention, the change with its completion
        assert requests == Requests()
