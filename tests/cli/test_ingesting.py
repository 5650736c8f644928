"""`hw ingest` on a server: left to it, asked about, cancelled, and given up by an interrupt."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.servers.headwater import Headwater
from tests.actions.gate import Gate, gated
from tests.cli.conftest import Hw, Lake, embedded, of_server


@pytest.fixture
def lake(hw: Hw, server: Headwater, monkeypatch: pytest.MonkeyPatch) -> Lake:
    return Lake(hw, of_server(server), monkeypatch)


@pytest.fixture
def between(lake: Lake, tmp_path: Path) -> tuple[str, ...]:
    """A place with two objects, and a directory of a branch."""
    for name in ("a", "b"):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / name).write_text(name)
    return ("--from", f"file://{tmp_path}/in/", "--to", f"hw://{lake.main}/in/")


@pytest.fixture
def gate(lake: Lake) -> Iterator[Gate]:
    """Before every commit to the branch."""
    with gated() as gate:
        lake.commit({"_lakefs_actions/wait.yaml": gate.action.decode()})
        gate.close()
        yield gate


def nothing_comes_of_it(lake: Lake) -> None:
    for _ in range(20):
        assert lake.paths() == ["_lakefs_actions/wait.yaml"]


def test_it_is_left_to_the_server_and_asked_about(lake: Lake, between: tuple[str, ...]) -> None:
    begun = lake.done("ingest", "commit", *between, "--detach").strip()
    while not (found := lake.document("ingest", "status", lake.main, begun))["done"]:
        assert found["commit"] is None
    assert (found["id"], found["listed"]) == (begun, 2)
    assert found["commit"]["id"] == lake.document("log", lake.main, "-n", "1")["id"]
    assert lake.paths() == ["in/a", "in/b"]
    assert "2 objects listed, committed as " in lake.done("ingest", "status", lake.main, begun)
    lake.failed(4, "ingest", "cancel", lake.main, begun)
    lake.failed(3, "ingest", "status", lake.main, "ingest-of-nobody")


def test_what_is_cancelled_commits_nothing(lake: Lake, between: tuple[str, ...], gate: Gate) -> None:
    begun = lake.document("ingest", "commit", *between, "--detach")["id"]
    gate.wait()
    assert "under way" in lake.done("ingest", "status", lake.main, begun)
    lake.done("ingest", "cancel", lake.main, begun)
    assert "it was cancelled" in lake.failed(7, "ingest", "status", lake.main, begun)
    gate.open()
    nothing_comes_of_it(lake)


def test_an_interrupt_gives_it_up(lake: Lake, between: tuple[str, ...], gate: Gate) -> None:
    program = Path(sys.executable).parent / "hw"
    with subprocess.Popen([program, "ingest", "commit", *between]) as waiting:
        gate.wait()
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(60) != 0
    gate.open()
    nothing_comes_of_it(lake)


def test_a_lake_in_a_directory_has_no_server_to_leave_it_to(
    hw: Hw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake(hw, embedded(tmp_path / "lake"), monkeypatch)
    between = ("--from", f"file://{tmp_path}/", "--to", f"hw://{lake.main}/in/")
    assert "no server" in lake.failed(2, "ingest", "commit", *between, "--detach")
