"""Workers of a server are killed while programs write to it: nothing acknowledged is lost, and nothing counts twice."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import headwater
from dev.servers import headwater as headwater_server
from dev.servers.headwater import Headwater
from headwater.kv import StoreUnavailable, UnknownOutcome
from headwater.sdk.sync import Lake
from tests.server.processes import workers_of

WRITERS = 4
APPENDS = 40
KILLS = (20, 60, 100)
"""After how many acknowledged appends a worker is killed."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Headwater]:
    with headwater_server.serve(tmp_path, workers=2) as started:
        yield started


@pytest.fixture
def lake(server: Headwater) -> Iterator[Lake]:
    with headwater.connect(server.url, *server.login) as opened:
        yield opened


def test_appends_survive_the_death_of_workers_and_count_once(server: Headwater, lake: Lake) -> None:
    repo = lake.create_repo("events", mode="append")
    acknowledged: list[list[int]] = [[] for _ in range(WRITERS)]
    progress = threading.Semaphore(0)

    def write(writer: int) -> None:
        branch = lake.repo("events").branch("main")
        for number in range(APPENDS):
            try:
                branch.append("log", b"%d:%d\n" % (writer, number))
            except (StoreUnavailable, UnknownOutcome):
                continue
            finally:
                progress.release()
            acknowledged[writer].append(number)
            if number % 10 == 9:
                commit()

    def commit() -> None:
        try:
            lake.repo("events").branch("main").commit("some", allow_empty=True)
        except (StoreUnavailable, UnknownOutcome):
            return

    with ThreadPoolExecutor(WRITERS) as pool:
        writing = [pool.submit(write, writer) for writer in range(WRITERS)]
        for before, after in zip((0, *KILLS), KILLS, strict=False):
            for _ in range(after - before):
                assert progress.acquire(timeout=60)
            os.kill(workers_of(server)[0].id, signal.SIGKILL)
        for each in writing:
            each.result()
    lines = [tuple(map(int, line.split(b":"))) for line in repo.branch("main").get("log").splitlines()]
    assert len(set(lines)) == len(lines)
    for writer, numbers in enumerate(acknowledged):
        written = [number for who, number in lines if who == writer]
        assert written == sorted(written)
        assert set(numbers) <= set(written)
        assert len(numbers) > APPENDS // 2, "most of them got through, as a client tries again"
    assert repo.check().sound
