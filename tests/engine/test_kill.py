"""Kill -9 in the middle of writing and committing: nothing acknowledged is lost, nothing is half there."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from headwater import blob, kv
from headwater.engine import log, read, write
from headwater.engine.commit import Description, commit
from headwater.engine.lake import Lake
from headwater.engine.paths import path_of
from headwater.engine.repository import Repository
from headwater.index import Entry
from headwater.outside import real_outside
from headwater.staging.errors import NothingToCommit

KILLS = 20


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_what_was_acknowledged_before_a_kill_is_there_after_it(tmp_path: Path) -> None:
    lake = await opened(tmp_path)
    await lake.create("killed", f"file://{tmp_path}/objects?durability=os")
    await lake.aclose()
    luck = random.Random(20260101)  # noqa: S311  (moments to kill at, not secrets)
    puts: set[str] = set()
    commits: set[str] = set()
    for _ in range(KILLS):
        for line in work_until_killed(tmp_path, acknowledgements=luck.randrange(5, 120)):
            kind, _, what = line.partition(" ")
            (puts if kind == "put" else commits).add(what)
        lake = await opened(tmp_path)
        repository = await lake.open("killed")
        await check(repository, puts, commits)
        await lake.aclose()
    assert len(puts) > KILLS
    assert len(commits) > KILLS // 2


async def check(repository: Repository, puts: set[str], commits: set[str]) -> None:
    assert puts <= await paths_at(repository, "main")
    page = await log.log(repository, "main", amount=1000)
    assert commits <= {found.id for found in page.commits}
    await write.put(repository, "main", f"after/{len(puts)}", b"still writable")
    landed = await commit(repository, "main", Description("after the kill", "tests", 0))
    assert puts <= await paths_at(repository, landed.id)
    path = max(puts)
    reading = await read.get(repository, landed.id, path)
    assert b"".join([chunk async for chunk in reading.chunks]) == path.encode() * 100


async def paths_at(repository: Repository, ref: str) -> set[str]:
    found: set[str] = set()
    after = ""
    while page := await read.list_entries(repository, ref, after=after):
        paths = [path_of(entry.key) for entry in page if isinstance(entry, Entry)]
        found.update(paths)
        after = paths[-1]
    return found


async def opened(directory: Path) -> Lake:
    store = await kv.open(f"lmdb://{directory}/kv?durability=os")
    return Lake(store, blob.open, real_outside())


def work_until_killed(directory: Path, *, acknowledgements: int) -> list[str]:
    """Four writers and two committers in a child process that names what was acknowledged; kill -9 after some."""
    command = [sys.executable, "-m", "tests.engine.test_kill", str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as child:
        assert child.stdout is not None
        named = [child.stdout.readline() for _ in range(acknowledgements)]
        child.kill()
        named += child.stdout.read().splitlines(keepends=True)
    return [line.decode().strip() for line in named if line.endswith(b"\n")]


async def work(directory: Path) -> None:
    repository = await (await opened(directory)).open("killed")

    def say(line: str) -> None:
        os.write(1, f"{line}\n".encode())

    async def writer(number: int) -> None:
        for step in range(10_000):
            path = f"{os.getpid()}/{number}/{step}"
            await write.put(repository, "main", path, path.encode() * 100)
            say(f"put {path}")
            await asyncio.sleep(0)  # a put that waits for no disk does not suspend: the others have their turn

    async def committer(number: int) -> None:
        for step in range(10_000):
            try:
                landed = await commit(repository, "main", Description(f"{number} {step}", "tests", step))
            except NothingToCommit:
                await asyncio.sleep(0)
            else:
                say(f"commit {landed.id}")

    await asyncio.gather(*(writer(number) for number in range(4)), *(committer(number) for number in range(2)))


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1])))
