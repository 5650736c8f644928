"""Long work that nobody waits for: it is told of by any worker, stopped by any, and never left hanging."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from dev.servers import headwater
from headwater import kv
from headwater.blob import NotFound
from headwater.outside import Outside, real_outside
from headwater.server.logs import Log
from headwater.server.tasks import SILENCE, Progress, TaskEnded, TaskNotFound, TaskRecord, Tasks
from tests.server.test_lakefs_sdk import until_done

SCOPE = "a repository"


class Clock:
    """A clock that is set forward by hand."""

    def __init__(self) -> None:
        self.ahead = 0

    def outside(self) -> Outside:
        real = real_outside()
        return msgspec.structs.replace(real, now=lambda: real.now() + self.ahead)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store() -> Any:
    async with await kv.open("mem://") as opened:
        yield opened


def worker(store: kv.Store, clock: Clock) -> Tasks:
    return Tasks(store, clock.outside(), Log())


async def never(progress: Progress) -> bytes:
    progress.add(7)
    await asyncio.Event().wait()
    raise AssertionError("the event is never set")


async def ended(tasks: Tasks, identity: str) -> TaskRecord:
    while not (found := await tasks.find("import", SCOPE, identity)).done:  # noqa: ASYNC110  (another worker's)
        await asyncio.sleep(0.02)
    return found


@pytest.mark.anyio
async def test_any_worker_tells_how_a_task_ended(store: kv.Store, clock: Clock) -> None:
    one, other = worker(store, clock), worker(store, clock)

    async def work(progress: Progress) -> bytes:
        progress.add(3)
        return b'"done"'

    identity = await one.start("import", SCOPE, work, subject="")
    found = await ended(other, identity)
    assert (found.result, found.progress, found.failure) == (b'"done"', 3, None)
    for kind, scope, subject in (("dump", SCOPE, ""), ("import", "another", ""), ("import", SCOPE, "main")):
        with pytest.raises(TaskNotFound):
            await other.find(kind, scope, identity, subject=subject)
    with pytest.raises(TaskEnded):
        await other.cancel("import", SCOPE, identity)


@pytest.mark.anyio
async def test_a_task_that_fails_says_why_and_a_defect_does_not_say_more_than_that(
    store: kv.Store, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    one = worker(store, clock)

    async def missing(_: Progress) -> bytes:
        raise NotFound("it is not there")

    async def broken(_: Progress) -> bytes:
        raise KeyError("secret")

    found = await ended(one, await one.start("import", SCOPE, missing))
    assert found.failure is not None
    assert (found.failure.kind, found.failure.message) == ("blob.NotFound", "it is not there")
    found = await ended(one, await one.start("import", SCOPE, broken))
    assert found.failure is not None
    assert "secret" not in found.failure.message
    assert "KeyError" in capsys.readouterr().err


@pytest.mark.anyio
async def test_a_task_is_cancelled_by_the_worker_that_has_it_or_by_another(store: kv.Store, clock: Clock) -> None:
    one, other = worker(store, clock), worker(store, clock)
    first, second = await one.start("import", SCOPE, never), await one.start("import", SCOPE, never)
    assert not (await other.find("import", SCOPE, first)).done
    await one.cancel("import", SCOPE, first)
    assert (await other.find("import", SCOPE, first)).cancelled
    await other.cancel("import", SCOPE, second)
    found = await ended(other, second)
    assert found.failure is not None
    assert (found.failure.kind, found.progress) == ("Cancelled", 7)


@pytest.mark.anyio
async def test_the_task_of_a_worker_that_is_gone_has_failed(store: kv.Store, clock: Clock) -> None:
    gone, other = worker(store, clock), worker(store, clock)
    identity = await gone.start("import", SCOPE, never)
    assert not (await other.find("import", SCOPE, identity)).done
    clock.ahead = SILENCE + 1
    found = await other.find("import", SCOPE, identity)
    assert found.done
    assert found.failure is not None
    assert found.failure.kind == "WorkerGone"
    await gone.aclose()


@pytest.mark.anyio
async def test_a_worker_that_stops_says_so_for_its_tasks(store: kv.Store, clock: Clock) -> None:
    stopping, other = worker(store, clock), worker(store, clock)
    identity = await stopping.start("import", SCOPE, never)
    await stopping.aclose()
    found = await other.find("import", SCOPE, identity)
    assert found.failure is not None
    assert found.failure.kind == "WorkerGone"


@pytest.mark.anyio
async def test_the_tasks_of_a_scope_that_is_gone_are_forgotten(store: kv.Store, clock: Clock) -> None:
    one = worker(store, clock)
    first, second = await one.start("import", SCOPE, never), await one.start("import", f"{SCOPE}s", never)
    await one.forget(SCOPE)
    with pytest.raises(TaskNotFound):
        await one.find("import", SCOPE, first)
    await one.find("import", f"{SCOPE}s", second)
    await one.aclose()


def test_a_commit_and_a_merge_are_made_by_any_of_several_workers(tmp_path: Path) -> None:
    with (
        headwater.serve(tmp_path, workers=2) as server,
        httpx.Client(base_url=server.api, auth=server.login, timeout=60) as api,
    ):
        api.post("/repositories", json={"name": "rivers"}).raise_for_status()
        api.post("/repositories/rivers/branches", json={"name": "side", "source": "main"}).raise_for_status()
        api.post("/repositories/rivers/branches/side/objects?path=a", content=b"x").raise_for_status()
        commits = "/repositories/rivers/branches/side/commits/async"
        begun = api.post(commits, json={"message": "later"})
        assert begun.status_code == 202, begun.text
        committed = until_done(
            lambda: fresh(server, f"{commits}/{begun.json()['id']}/status"), is_done=lambda each: each["completed"]
        )
        assert committed["result"]["message"] == "later"
        merges = "/repositories/rivers/refs/side/merge/main/async"
        begun = api.post(merges, json={})
        merged = until_done(
            lambda: fresh(server, f"{merges}/{begun.json()['id']}/status"), is_done=lambda each: each["completed"]
        )
        assert api.get("/repositories/rivers/branches/main").json()["commit_id"] == merged["result"]["reference"]
        again = api.post(merges, json={}).json()["id"]
        failed = until_done(lambda: fresh(server, f"{merges}/{again}/status"), is_done=lambda each: each["completed"])
        assert "nothing" in failed["error"]["message"]
        assert api.delete(f"{merges}/{again}").status_code == 409
        assert api.get(f"{commits}/{again}/status").status_code == 404


def fresh(server: headwater.Headwater, path: str) -> Any:
    """What is at *path*, over a connection of its own: with luck, another worker answers."""
    return httpx.get(f"{server.api}{path}", auth=server.login).raise_for_status().json()
