"""What becomes of a commit when another process commits what it had set out to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headwater import blob, kv
from headwater.engine import write
from headwater.engine.commit import Description, commit
from headwater.engine.lake import Lake
from headwater.engine.repository import Repository
from headwater.history import Commit
from headwater.index import Index
from headwater.outside import real_outside
from headwater.staging.errors import NothingToCommit

pytestmark = pytest.mark.anyio


async def opened(directory: Path) -> Lake:
    return Lake(await kv.open(f"lmdb://{directory}/kv?durability=os"), blob.open, real_outside())


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[tuple[Repository, Repository]]:
    """One repository, as two processes that share nothing but its stores see it."""
    ours, theirs = await opened(tmp_path), await opened(tmp_path)
    await ours.create("shared", f"file://{tmp_path}/objects?durability=os")
    yield await ours.open("shared"), await theirs.open("shared")
    await ours.aclose()
    await theirs.aclose()


class TakesAlong:
    """Has the other process commit just before a commit lands, once."""

    def __init__(self, other: Repository) -> None:
        self._other = other
        self.commit: Commit | None = None

    async def __call__(self, made: Commit, index: Index) -> None:
        del made, index
        if self.commit is None:
            self.commit = await commit(self._other, "main", Description("theirs", "them", 0))


async def test_nothing_is_left_to_commit(two: tuple[Repository, Repository]) -> None:
    ours, theirs = two
    await write.put(ours, "main", "a", b"1")
    with pytest.raises(NothingToCommit, match="along"):
        await commit(ours, "main", Description("ours", "us", 0), check=TakesAlong(theirs))


async def test_an_empty_commit_that_is_wanted_is_made_on_top(two: tuple[Repository, Repository]) -> None:
    ours, theirs = two
    await write.put(ours, "main", "a", b"1")
    taken = TakesAlong(theirs)
    made = await commit(ours, "main", Description("ours", "us", 0), allow_empty=True, check=taken)
    assert taken.commit is not None
    assert (made.message, made.parents) == ("ours", (taken.commit.id,))
