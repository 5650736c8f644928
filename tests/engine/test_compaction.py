"""Listing a branch on which very much is staged: paid once, not by every page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Sequence

import pytest

from headwater import kv
from headwater.engine import branches, diff, read, write
from headwater.engine.commit import commit
from headwater.engine.compaction import compact
from headwater.engine.limits import COMPACT_AFTER
from headwater.engine.paths import path_of
from headwater.index import Change
from headwater.kv import Operation, Page, Store, UnknownOutcome
from headwater.kv.limits import PAGE
from headwater.refs.errors import RefNotFound
from headwater.testing.counting import CountingStore, Trips
from tests.engine.counted import description, repository_of
from tests.engine.counted import path_of as listed
from tests.engine.lakes import lake_over


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_a_listing_passes_over_many_tombstones_once(anyio_backend: str) -> None:  # noqa: ARG001
    count = COMPACT_AFTER + 2_000
    counted = await repository_of(count)
    repository = counted.repository
    for first in range(0, count - 10, 10_000):
        await write.delete(
            repository, "main", [listed(number) for number in range(first, min(first + 10_000, count - 10))]
        )
    left = [listed(number) for number in range(count - 10, count)]
    with counted.keys.counted() as first_page:
        assert [path_of(entry.key) for entry in await read.list_entries(repository, "main")] == left
    with counted.keys.counted() as next_page:
        assert [path_of(entry.key) for entry in await read.list_entries(repository, "main")] == left
    assert first_page.scan > 20
    assert next_page == Trips(get=1)
    changes = await diff.uncommitted(repository, "main", amount=10)
    assert [change.type for change in changes if isinstance(change, Change)] == ["removed"] * 10
    await commit(repository, "main", description())
    assert [path_of(entry.key) for entry in await read.list_entries(repository, "main")] == left


@pytest.mark.anyio
async def test_what_is_compacted_can_be_compacted_again() -> None:
    repository = (await repository_of(10)).repository
    for number in range(3):
        await write.put(repository, "main", f"staged/{number}", b"x")
        await compact(repository, "main")
    await write.delete(repository, "main", ["staged/1"])
    found = await read.list_entries(repository, "main", prefix="staged/")
    assert [path_of(entry.key) for entry in found] == ["staged/0", "staged/2"]
    landed = await commit(repository, "main", description())
    assert [entry.key for entry in await read.list_entries(repository, landed.id, prefix="staged/")] == [
        entry.key for entry in found
    ]


class LosesAnAnswer(CountingStore):
    """The first pipeline that compacts never arrives, and whoever sent it is not told so."""

    lost = False

    async def pipeline(self, operations: Sequence[Operation]) -> None:
        if not self.lost and any(operation.key.startswith(b"leaving/") for operation in operations):
            self.lost = True
            raise UnknownOutcome("the answer never came")
        await super().pipeline(operations)


@pytest.mark.anyio
async def test_a_compaction_whose_answer_is_lost_is_done_all_the_same() -> None:
    store = LosesAnAnswer(await kv.open("mem://"))
    repository = await lake_over(store).create("sales", "mem://")
    await write.put(repository, "main", "a", b"1")
    await compact(repository, "main")
    branch = (await repository.branches.fresh("main")).branch
    assert store.lost
    assert (branch.sealed, bool(branch.base)) == ((), True)


class DeletesTheBranch(CountingStore):
    """Once very much was read, somebody deletes the branch."""

    def __init__(self, inner: Store, pages: int) -> None:
        super().__init__(inner)
        self.deletion: Awaitable[object] | None = None
        self._pages = pages

    async def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        async for entries in super().scan(partition, start, page=page):
            yield entries
            if self.deletion is not None:
                self._pages -= 1
                if not self._pages:
                    await self.deletion


@pytest.mark.anyio
async def test_a_listing_of_a_branch_that_is_deleted_meanwhile_is_given_all_the_same() -> None:
    memory = await kv.open("mem://")
    store = DeletesTheBranch(memory, pages=2)
    repository = await lake_over(store).create("sales", "mem://")
    await branches.create_branch(repository, "dev", "main")
    for first in range(0, COMPACT_AFTER + 2_000, 10_000):
        await write.delete(repository, "dev", [listed(number) for number in range(first, first + 10_000)])
    await write.put(repository, "dev", "zuletzt", b"1")
    elsewhere = await lake_over(memory).open("sales")
    store.deletion = branches.delete_branch(elsewhere, "dev")
    assert [path_of(entry.key) for entry in await read.list_entries(repository, "dev")] == ["zuletzt"]
    with pytest.raises(RefNotFound):
        await read.list_entries(repository, "dev")
