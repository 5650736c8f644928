"""Listing a branch on which very much is staged: paid once, not by every page."""

from __future__ import annotations

import pytest

from headwater.engine import diff, read, write
from headwater.engine.commit import commit
from headwater.engine.compaction import compact
from headwater.engine.limits import COMPACT_AFTER
from headwater.engine.paths import path_of
from headwater.index import Change
from headwater.testing.counting import Trips
from tests.engine.counted import description, repository_of
from tests.engine.counted import path_of as listed


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
