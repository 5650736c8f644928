"""The face that awaits: the same names, and what only it can do. What they do is tested through the one that waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import headwater
from dev.servers.headwater import Headwater
from headwater import aio
from headwater.sdk.results import CommonPrefix

LARGE = bytes(range(251)) * 80_000

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["directory", "memory", "remote"])
async def lake(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[aio.Lake]:
    match request.param:
        case "directory":
            opened = await aio.open(tmp_path / "lake", durability="os", committer="ada")
        case "memory":
            opened = await aio.open(kv="mem://", storage="mem://", committer="ada")
        case _:
            server: Headwater = request.getfixturevalue("server")
            opened = await aio.connect(server.url, *server.login)
    async with opened:
        yield opened


@pytest.fixture
async def repo(lake: aio.Lake) -> aio.Repository:
    return await lake.create_repo("sales")


@pytest.fixture
def main(repo: aio.Repository) -> aio.Branch:
    return repo.branch("main")


async def test_a_day_in_a_repository(lake: aio.Lake, repo: aio.Repository, main: aio.Branch) -> None:
    assert [name async for name in lake.repos()] == ["sales"]
    assert (await lake.repo("sales")).name == "sales"
    await main.put("raw/a.csv", b"1")
    first = await main.commit("first load", metadata={"job": "42"})
    dev = await repo.create_branch("dev", source="main")
    await dev.put("raw/b.csv", b"2")
    await dev.copy("raw/a.csv", "raw/c.csv")
    await dev.delete("raw/a.csv")
    assert [(change.path, change.type) async for change in dev.diff()] == [
        ("raw/a.csv", "removed"),
        ("raw/b.csv", "added"),
        ("raw/c.csv", "added"),
    ]
    second = await dev.commit("second")
    assert [change.path async for change in repo.diff("main", "dev")] == ["raw/a.csv", "raw/b.csv", "raw/c.csv"]
    merged = await dev.merge_into(main)
    assert merged.parents == (first.id, second.id)
    assert [branch.name async for branch in repo.branches()] == ["dev", "main"]
    assert await repo.ref("main~1").get("raw/a.csv") == b"1"
    assert [each.message async for each in main.log(paths=["raw/"])] == ["Merge 'dev'", "first load"]
    assert [type(each) async for each in main.list(delimiter="/")] == [CommonPrefix]
    assert (await main.as_arrow("raw/")).column("path").to_pylist() == ["raw/b.csv", "raw/c.csv"]
    await main.revert(merged, parent=1)
    assert await main.exists("raw/a.csv")
    await main.cherry_pick(second)
    assert not await main.exists("raw/a.csv")
    await repo.create_tag("v1", main)
    assert [tag.commit async for tag in repo.tags()] == [(await main.head()).id]
    assert (await main.hard_reset(first)).id == (await repo.commit("main")).id
    await main.put("x", b"1")
    await main.reset()
    assert [entry.path async for entry in main.list()] == ["raw/a.csv"]
    await repo.delete_tag("v1")
    await repo.delete_branch("dev")
    await lake.delete_repo("sales")
    with pytest.raises(headwater.RepositoryNotFound):
        await lake.repo("sales")


async def test_conflicts_are_told_as_changes(repo: aio.Repository, main: aio.Branch) -> None:
    dev = await repo.create_branch("dev", source="main")
    for branch, content in ((main, b"1"), (dev, b"2")):
        await branch.put("a", content)
        await branch.commit("a")
    with pytest.raises(headwater.MergeConflict) as raised:
        await dev.merge_into("main")
    assert [(change.path, change.type) for change in raised.value.changes] == [("a", "conflict")]


async def test_a_file_is_read_piece_by_piece(main: aio.Branch) -> None:
    await main.put("a", LARGE)
    async with main.open("a") as file:
        assert file.size == len(LARGE)
        assert await file.read(5) == LARGE[:5]
        file.seek(len(LARGE) - 5)
        assert await file.read() == LARGE[-5:]
        assert await file.read() == b""
        file.seek(0)
        assert b"".join([chunk async for chunk in file]) == LARGE


@pytest.mark.parametrize("size", [0, 10, len(LARGE)])
async def test_a_file_is_written_piece_by_piece(main: aio.Branch, size: int) -> None:
    async with main.open("a", "wb") as file:
        for start in range(0, size, 999_999):
            await file.write(LARGE[start : min(start + 999_999, size)])
        assert not await main.exists("a")
    assert await main.get("a") == LARGE[:size]
    assert file.entry == await main.stat("a")


@pytest.mark.parametrize("size", [10, len(LARGE)])
async def test_a_block_that_fails_or_is_cancelled_writes_nothing(main: aio.Branch, size: int) -> None:
    written = asyncio.Event()

    async def write() -> None:
        async with main.open("a", "wb") as file:
            await file.write(LARGE[:size])
            written.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(write())
    await written.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(TypeError):
        async with main.open("a", "wb") as file:
            await file.write("text")  # type: ignore[arg-type]
    assert not await main.exists("a")


async def test_other_modes_are_refused(main: aio.Branch) -> None:
    with pytest.raises(headwater.BadRequest, match="'w'"):
        main.open("a", "w")  # type: ignore[call-overload]


async def test_chunks_may_be_awaited(main: aio.Branch) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(LARGE), 1_000_000):
            await asyncio.sleep(0)
            yield LARGE[start : start + 1_000_000]

    await main.put("a", chunks())
    assert await main.get("a") == LARGE


async def test_many_tasks_share_a_lake(lake: aio.Lake, main: aio.Branch) -> None:
    async def work(number: int) -> None:
        branch = (await lake.repo("sales")).branch("main")
        for step in range(5):
            await branch.put(f"t/{number}/{step}", b"1")
            if step == 2:
                await branch.commit(f"{number}", allow_empty=True)

    await asyncio.gather(*(work(number) for number in range(8)))
    assert len([entry async for entry in main.list("t/")]) == 40


async def test_a_page_can_be_had_at_one_go(main: aio.Branch) -> None:
    for name in "abc":
        await main.put(name, b"1")
    pages = main.list()
    assert (await anext(pages)).path == "a"
    assert [entry.path for entry in await pages.next_page()] == ["b", "c"]
    assert await pages.next_page() == []


async def test_a_workspace_is_written_by_many_and_committed(repo: aio.Repository, main: aio.Branch) -> None:
    workspace = await main.workspace()
    there = await repo.branch("main").workspace(workspace.id)
    await asyncio.gather(*(each.put(f"{number}/a", b"1") for number in range(10) for each in (workspace, there)))
    async with there.open("large", "wb") as file:
        await file.write(LARGE)
    await there.delete("0/a")
    assert [change.path async for change in workspace.diff()] == [*(f"{number}/a" for number in range(1, 10)), "large"]
    part = await workspace.add("*/a").commit("a part")
    made = await there.all().commit("the rest")
    assert made.parents == (part.id,)
    assert [entry.path async for entry in main.list("large")] == ["large"]
    with pytest.raises(headwater.WorkspaceClosed):
        await workspace.revert()


async def test_a_commit_in_progress_is_finished_at_the_end_of_the_block(lake: aio.Lake) -> None:
    repo = await lake.create_repo("events", mode="append")
    async with await repo.start_commit("main", "gathered") as gathered:
        await gathered.append("log", b"1")
        await gathered.append("log", b"2")
    assert await repo.branch("main@").get("log") == b"12"
    assert b"".join([chunk async for chunk in repo.read_file("log")]) == b"12"
