"""What becomes of a commit when another process commits what it had set out to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headwater import blob, kv
from headwater.engine import write
from headwater.engine.commit import Description, commit
from headwater.engine.diff import diff
from headwater.engine.lake import Lake
from headwater.engine.read import stat
from headwater.engine.repository import Repository
from headwater.engine.reset import reset
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


async def test_a_commit_that_is_taken_along_lands_behind_and_changes_nothing(
    two: tuple[Repository, Repository],
) -> None:
    ours, theirs = two
    await write.put(ours, "main", "a", b"1")
    taken = TakesAlong(theirs)
    made = await commit(ours, "main", Description("ours", "us", 0, {"job": "17"}), check=taken)
    assert taken.commit is not None
    assert (made.message, made.metadata, made.parents) == ("ours", {"job": "17"}, (taken.commit.id,))
    assert await diff(ours, taken.commit.id, made.id) == []


async def test_a_commit_that_says_the_same_as_the_one_that_took_it_along_is_that_one(
    two: tuple[Repository, Repository],
) -> None:
    ours, theirs = two
    await write.put(ours, "main", "a", b"1")
    taken = TakesAlong(theirs)
    made = await commit(ours, "main", Description("theirs", "them", 5), check=taken)
    assert made == taken.commit


async def test_those_who_commit_at_one_time_all_have_what_they_staged(tmp_path: Path) -> None:
    lake = await opened(tmp_path)
    repository = await lake.create("shared", f"file://{tmp_path}/objects?durability=os")

    async def one(number: int) -> Commit:
        await write.put(repository, "main", f"a/{number}", b"%d" % number)
        await asyncio.sleep(0)  # the others write, too, before anybody commits
        return await commit(repository, "main", Description(f"commit {number}", "us", 0))

    made = await asyncio.gather(*(one(number) for number in range(8)))
    assert [each.message for each in made] == [f"commit {number}" for number in range(8)]
    for number, each in enumerate(made):
        assert (await stat(repository, each.id, f"a/{number}")).size == 1
    with pytest.raises(NothingToCommit, match="nothing staged"):
        await commit(repository, "main", Description("late", "us", 0))
    await lake.aclose()


async def test_what_was_reset_was_not_taken_along(two: tuple[Repository, Repository]) -> None:
    ours, theirs = two

    async def resets(made: Commit, index: Index) -> None:
        del made, index
        await reset(theirs, "main")

    await write.put(ours, "main", "a", b"1")
    with pytest.raises(NothingToCommit):
        await commit(ours, "main", Description("ours", "us", 0), check=resets)


async def test_an_empty_commit_that_is_wanted_is_made_on_top(two: tuple[Repository, Repository]) -> None:
    ours, theirs = two
    await write.put(ours, "main", "a", b"1")
    taken = TakesAlong(theirs)
    made = await commit(ours, "main", Description("ours", "us", 0), allow_empty=True, check=taken)
    assert taken.commit is not None
    assert (made.message, made.parents) == ("ours", (taken.commit.id,))
