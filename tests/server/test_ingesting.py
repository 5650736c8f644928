"""Ingesting on a server is a task: begun, asked about, waited for, and cancelled, by whoever has its id."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import headwater
from dev.servers.headwater import Headwater
from headwater import aio
from headwater.sdk.sync import Branch, Lake
from tests.actions.listener import Answer, Listener, listening


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
def listener(main: Branch) -> Iterator[Listener]:
    """Asked before every commit to *main*. It consents, but only once it is told to stop waiting."""
    with listening() as listener:
        hook = f"{{id: w, type: webhook, properties: {{url: '{listener.url}/'}}}}"
        main.put("_lakefs_actions/wait.yaml", f"on: {{pre-commit: }}\nhooks: [{hook}]\n".encode())
        main.commit("from now on commits wait")
        listener.received.clear()
        listener.answers = lambda _: Answer() if listener.stopped.wait(60) else Answer(500)
        yield listener


class Hw:
    """`hw` on a server, as a process of its own."""

    def __init__(self, server: Headwater, home: Path) -> None:
        self._program = Path(sys.executable).parent / "hw"
        self._environment = {
            "HOME": str(home),
            "HEADWATER_ENDPOINT": server.url,
            "HEADWATER_ACCESS_KEY_ID": server.access_key_id,
            "HEADWATER_SECRET_ACCESS_KEY": server.secret_access_key,
        }

    def begun(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([self._program, *words], env=self._environment)

    def __call__(self, *words: str, status: int = 0) -> str:
        command: list[str | Path] = [self._program, *words]
        ran = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)
        assert ran.returncode == status, ran.stderr
        return ran.stdout.strip()


@pytest.fixture
def hw(server: Headwater, tmp_path: Path) -> Hw:
    return Hw(server, tmp_path)


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


def test_what_is_cancelled_commits_nothing(main: Branch, source: str, listener: Listener) -> None:
    begun = main.start_ingest(source, "in")
    until(lambda: bool(listener.received))
    assert not main.ingest_status(begun).done
    main.cancel_ingest(begun)
    status = main.ingest_status(begun)
    assert (status.done, status.commit, str(status.error)) == (True, None, "it was cancelled")
    listener.stopped.set()
    nothing_comes_of_it(main)


def test_who_stops_waiting_gives_it_up(
    server: Headwater, main: Branch, repository: str, source: str, listener: Listener
) -> None:

    async def wait_and_stop() -> None:
        async with await aio.connect(server.url, *server.login) as lake:
            branch = (await lake.repo(repository)).branch("main")
            waiting = asyncio.ensure_future(branch.ingest(source, "in"))
            await asyncio.to_thread(until, lambda: bool(listener.received))
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    asyncio.run(wait_and_stop())
    listener.stopped.set()
    nothing_comes_of_it(main)


def test_the_command_line_leaves_it_to_the_server_or_gives_it_up(
    hw: Hw, main: Branch, repository: str, source: str, listener: Listener
) -> None:
    place = f"{repository}/main"
    between = ("--from", source, "--to", f"hw://{place}/in/")
    with hw.begun("ingest", "commit", *between) as waiting:
        until(lambda: bool(listener.received))
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(30) != 0
    listener.received.clear()
    begun = hw("ingest", "commit", *between, "--detach")
    until(lambda: bool(listener.received))
    assert hw("ingest", "status", place, begun).endswith("under way")
    hw("ingest", "cancel", place, begun)
    hw("ingest", "status", place, begun, status=7)
    listener.stopped.set()
    nothing_comes_of_it(main)
    begun = hw("ingest", "commit", *between, "--detach")
    until(lambda: main.ingest_status(begun).done)
    assert hw("ingest", "status", place, begun).startswith("3 objects listed, committed as ")


def test_a_lake_in_this_process_has_nobody_to_leave_it_to(tmp_path: Path) -> None:
    with headwater.open(tmp_path / "lake") as lake:
        main = lake.create_repo("sales").branch("main")
        for call in (main.start_ingest, main.ingest_status, main.cancel_ingest):
            with pytest.raises(headwater.BadRequest, match="no server"):
                call("x")
