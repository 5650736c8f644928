"""Workers are killed under load: nothing acknowledged is lost, whichever worker did it, and service goes on."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from dev.servers import headwater
from dev.servers.headwater import Headwater
from tests.server.processes import workers_of

WORKERS = 2
CLIENTS = 4
KILLS = 4
BRANCHES = ("main", "side")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Headwater]:
    with headwater.serve(tmp_path, workers=WORKERS) as server:
        yield server


class Client:
    """Writes, deletes and commits, and remembers what was acknowledged. What was not may be there or not."""

    def __init__(self, server: Headwater, number: int) -> None:
        self.number = number
        self.there: dict[str, dict[str, bytes | None]] = {branch: {} for branch in BRANCHES}
        """Of each branch what must be at which path, None for nothing. A path with an unknown outcome is not in it."""

        self.committed: list[tuple[str, str, dict[str, bytes | None]]] = []
        """Commits: the branch, the id, and what was acknowledged before it began."""

        self.acknowledged = 0
        self.statuses: set[int] = set()
        self._server = server
        self._random = random.Random(number)  # noqa: S311  (so that a failure can be had again)

    def run(self, stop: threading.Event) -> None:
        """Work until told to stop. A connection that breaks is made anew, as any client does."""
        while not stop.is_set():
            try:
                with httpx.Client(base_url=self._server.api, auth=self._server.login, timeout=30) as http:
                    while not stop.is_set():
                        self._step(http)
            except httpx.TransportError:
                continue

    def _step(self, http: httpx.Client) -> None:
        branch = self._random.choice(BRANCHES)
        base = f"/repositories/killed/branches/{branch}"
        there = self.there[branch]
        if self._random.random() < 0.25:  # so that every client, of some 40 steps, has commits
            before = dict(there)
            answer = http.post(f"{base}/commits", json={"message": str(self.number), "allow_empty": True})
            if self._acknowledged(answer):
                self.committed.append((branch, answer.json()["id"], before))
            return
        path = f"{self.number}/{self._random.randrange(60)}"
        content = None if self._random.random() < 0.2 else self._random.randbytes(64)
        there.pop(path, None)  # until it is acknowledged, nobody knows
        if content is None:
            answer = http.delete(f"{base}/objects", params={"path": path})
        else:
            answer = http.post(f"{base}/objects", params={"path": path}, content=content)
        if self._acknowledged(answer):
            there[path] = content

    def _acknowledged(self, answer: httpx.Response) -> bool:
        self.statuses.add(answer.status_code)
        self.acknowledged += answer.is_success
        return answer.is_success


def test_nothing_acknowledged_is_lost_when_workers_are_killed(server: Headwater) -> None:
    with httpx.Client(base_url=server.api, auth=server.login, timeout=60) as http:
        assert http.post("/repositories", json={"name": "killed"}).status_code == 201
        made = http.post("/repositories/killed/branches", json={"name": "side", "source": "main"})
        assert made.status_code == 201
    clients = [Client(server, number) for number in range(CLIENTS)]
    stop = threading.Event()
    threads = [threading.Thread(target=client.run, args=(stop,)) for client in clients]
    for thread in threads:
        thread.start()
    try:
        killed = kill_workers(server, clients)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert len(killed) == KILLS
    assert {status for client in clients for status in client.statuses} <= {201, 204, 429, 503, 504}
    await_workers(server)
    with httpx.Client(base_url=server.api, auth=server.login, timeout=60) as http:
        for client in clients:
            assert client.committed
            for branch, there in client.there.items():
                assert wrong(http, branch, there) == [], branch
            for branch, commit, there in client.committed[-1:]:
                assert wrong(http, commit, there) == []
                assert commit in history(http, branch)
        checked = http.get("/repositories/killed/check")
        assert checked.status_code == 200
        assert checked.json()["findings"] == []


def kill_workers(server: Headwater, clients: list[Client]) -> set[int]:
    """Kill one worker after the other, each when all clients got further since the last, and say which."""
    killed: set[int] = set()
    deadline = time.monotonic() + 120
    while len(killed) < KILLS:
        before = [client.acknowledged for client in clients]
        while any(client.acknowledged < count + 10 for client, count in zip(clients, before, strict=True)):
            assert time.monotonic() < deadline, "the server does not come back"
            time.sleep(0.01)
        victim = random.Random(len(killed)).choice(workers_of(server))  # noqa: S311
        os.kill(victim.id, signal.SIGKILL)
        killed.add(victim.id)
    return killed


def await_workers(server: Headwater) -> None:
    """Wait until there are as many workers as there should be, and one of them, however young, answers."""
    deadline = time.monotonic() + 60
    while len(workers_of(server)) < WORKERS or not answers(server):
        assert time.monotonic() < deadline, "a worker was not replaced"
        time.sleep(0.05)


def answers(server: Headwater) -> bool:
    try:
        return httpx.get(f"{server.url}/healthcheck").is_success
    except httpx.TransportError:
        return False


def wrong(http: httpx.Client, ref: str, there: dict[str, bytes | None]) -> list[str]:
    """The paths at which there is something else at *ref* than there must be."""
    return [path for path, content in there.items() if content_of(http, ref, path) != content]


def content_of(http: httpx.Client, ref: str, path: str) -> bytes | None:
    answer = http.get(f"/repositories/killed/refs/{ref}/objects", params={"path": path})
    assert answer.status_code in (200, 404), answer.text
    return answer.content if answer.status_code == 200 else None


def history(http: httpx.Client, branch: str) -> set[str]:
    """The ids of all commits of *branch*."""
    found: set[str] = set()
    after = ""
    while True:
        page = http.get(f"/repositories/killed/refs/{branch}/commits", params={"after": after, "amount": 1000}).json()
        found |= {commit["id"] for commit in page["results"]}
        after = page["pagination"]["next_offset"]
        if not page["pagination"]["has_more"]:
            return found
