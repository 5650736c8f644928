"""Committers that crash leave sealed tokens behind: they are read, committed by the next, and bounded in number."""

from __future__ import annotations

import pytest

from headwater import blob, kv
from headwater.blob import BlobStore
from headwater.engine import compaction, read, write
from headwater.engine.commit import Description, commit
from headwater.engine.lake import Lake
from headwater.engine.repository import Repository
from headwater.index import Entry
from headwater.outside import real_outside
from headwater.staging.errors import LimitExceeded
from headwater.staging.limits import SEALED
from headwater.staging.sealing import seal


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def repository() -> Repository:
    blobs: BlobStore = await blob.open("mem://")

    async def open_blobs(_: str) -> BlobStore:
        return blobs

    return await Lake(await kv.open("mem://"), open_blobs, real_outside()).create("lake", "mem://")


async def crashed_commit(repository: Repository, number: int) -> None:
    """All that a committer does before it overlays what is staged."""
    await write.stage(repository, "main", Entry(f"f/{number:03}", checksum=f"{number}"))
    await seal(repository.branches, repository.outside, "main")


async def paths(repository: Repository, ref: str) -> list[str]:
    return [entry.key.removeprefix("f/") for entry in await read.list_entries(repository, ref)]


@pytest.mark.anyio
async def test_the_next_commit_takes_along_what_crashed_ones_left(repository: Repository) -> None:
    for number in range(3):
        await crashed_commit(repository, number)
    assert await paths(repository, "main") == ["000", "001", "002"]
    landed = await commit(repository, "main", Description("all of it", "ann", 0))
    assert await paths(repository, landed.id) == ["000", "001", "002"]
    assert (await repository.branches.fresh("main")).branch.clean


@pytest.mark.anyio
async def test_a_branch_with_all_the_sealed_tokens_it_may_have_can_be_compacted_and_then_committed(
    repository: Repository,
) -> None:
    for number in range(SEALED):
        await crashed_commit(repository, number)
    await write.stage(repository, "main", Entry("f/last", checksum="last"))
    with pytest.raises(LimitExceeded, match="compact the branch"):
        await commit(repository, "main", Description("too many", "ann", 0))
    await compaction.compact(repository, "main")
    landed = await commit(repository, "main", Description("all of it", "ann", 0))
    assert await paths(repository, landed.id) == [*(f"{number:03}" for number in range(SEALED)), "last"]
