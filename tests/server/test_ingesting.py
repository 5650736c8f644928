"""Ingesting on a server is a task: begun, asked about, waited for, and cancelled, by whoever has its id."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import headwater
from dev.servers.headwater import Headwater
from headwater import aio
from headwater.sdk.sync import Branch, Lake
from tests.actions.gate import Gate, gated


@pytest.fixture
def lake(server: Headwater) -> Iterator[Lake]:
    with headwater.connect(server.url, *server.login) as opened:
        yield opened


@pytest.fixture
def main(lake: Lake, repository: str) -> Branch:
    return lake.repo(repository).branch("main")


@pytest.fixture
def source(imports: Path) -> str:
    for name in "abc":
        (imports / name).write_text(name)
    return f"file://{imports}/"


@pytest.fixture
def gate(main: Branch) -> Iterator[Gate]:
    with gated() as gate:
        main.put("_lakefs_actions/wait.yaml", gate.action)
        main.commit("from now on commits wait")
        gate.close()
        yield gate


def nothing_comes_of_it(main: Branch) -> None:
    """What was let go of would be there by the time that somebody has looked that often."""
    for _ in range(50):
        assert list(main.list("in/")) == []


def until(holds: Callable[[], bool]) -> None:
    while not holds():
        pass


def test_it_is_begun_asked_about_and_told_apart_from_others(
    main: Branch, lake: Lake, repository: str, source: str
) -> None:
    begun = main.start_ingest(source, "in", "the first", metadata={"from": "a directory"})
    until(lambda: main.ingest_status(begun).done)
    status = main.ingest_status(begun)
    assert (status.id, status.listed, status.error) == (begun, 3, None)
    assert status.commit == main.head()
    assert (main.head().message, main.head().metadata["from"]) == ("the first", "a directory")
    assert [entry.path for entry in main.list()] == ["in/a", "in/b", "in/c"]
    again = main.start_ingest(source, "in")
    until(lambda: main.ingest_status(again).done)
    failed = main.ingest_status(again)
    assert (failed.commit, type(failed.error)) == (None, headwater.NothingToCommit)
    other = lake.repo(repository).create_branch("other", "main")
    for call in (other.ingest_status, other.cancel_ingest):
        with pytest.raises(headwater.HeadwaterError, match="there is no ingest"):
            call(begun)
    with pytest.raises(headwater.HeadwaterError, match="has ended"):
        main.cancel_ingest(begun)


def test_whoever_waits_is_told_how_far_it_is(main: Branch, source: str) -> None:
    told: list[int] = []
    made = main.ingest(source, "in", progress=told.append)
    assert (told[-1], made) == (3, main.head())
    with pytest.raises(headwater.NothingToCommit):
        main.ingest(source, "in")


def test_what_is_cancelled_commits_nothing(main: Branch, source: str, gate: Gate) -> None:
    begun = main.start_ingest(source, "in")
    gate.wait()
    assert not main.ingest_status(begun).done
    main.cancel_ingest(begun)
    status = main.ingest_status(begun)
    assert (status.done, status.commit, str(status.error)) == (True, None, "it was cancelled")
    gate.open()
    nothing_comes_of_it(main)


def test_who_stops_waiting_gives_it_up(
    server: Headwater, main: Branch, repository: str, source: str, gate: Gate
) -> None:

    async def wait_and_stop() -> None:
        async with await aio.connect(server.url, *server.login) as lake:
            branch = (await lake.repo(repository)).branch("main")
            waiting = asyncio.ensure_future(branch.ingest(source, "in"))
            await asyncio.to_thread(gate.wait)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    asyncio.run(wait_and_stop())
    gate.open()
    nothing_comes_of_it(main)


def test_a_lake_in_this_process_has_nobody_to_leave_it_to(tmp_path: Path) -> None:
    with headwater.open(tmp_path / "lake") as lake:
        main = lake.create_repo("sales").branch("main")
        for call in (main.start_ingest, main.ingest_status, main.cancel_ingest):
            with pytest.raises(headwater.BadRequest, match="no server"):
                call("x")
