"""Append repositories for tests, over embedded stores in memory."""

from __future__ import annotations

from itertools import count

from headwater import blob, kv
from headwater.engine.commit import Description, commit
from headwater.engine.lake import Lake
from headwater.engine.read import get
from headwater.engine.repository import Mode, Repository
from headwater.files.append import append
from headwater.files.ranges import read_file
from headwater.outside import real_outside

_names = count()


def description(message: str = "a change") -> Description:
    return Description(message, "tests", 1_700_000_000_000)


async def repository_of(mode: Mode = "append") -> Repository:
    lake = Lake(await kv.open("mem://"), blob.open, real_outside())
    return await lake.create("files", f"mem://files-{next(_names)}", mode=mode)


async def add(repository: Repository, branch: str = "main", **texts: str) -> None:
    for path, text in texts.items():
        await append(repository, branch, path, text.encode())


async def add_and_commit(repository: Repository, branch: str = "main", **texts: str) -> str:
    await add(repository, branch, **texts)
    return (await commit(repository, branch, description())).id


async def text_of(repository: Repository, ref: str, path: str) -> str:
    reading = await get(repository, ref, path)
    return b"".join([chunk async for chunk in reading.chunks]).decode()


async def added(repository: Repository, path: str, since: str | None, until: str) -> str:
    reading = await read_file(repository, path, since=since, until=until)
    return b"".join([chunk async for chunk in reading.chunks]).decode()
