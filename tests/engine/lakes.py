"""Lakes for tests of the verbs, over embedded stores: in memory, and in a directory."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from headwater import blob, kv
from headwater.engine import commit as committing
from headwater.engine import read, write
from headwater.engine.commit import Description
from headwater.engine.lake import Lake
from headwater.engine.paths import path_of
from headwater.engine.repository import Repository
from headwater.history import Commit
from headwater.index import Change, Entry
from headwater.kv import Store
from headwater.outside import real_outside

_names = count()


def description(message: str = "a change") -> Description:
    return Description(message, "tests", 1_700_000_000_000)


def lake_over(store: Store) -> Lake:
    return Lake(store, blob.open, real_outside())


async def lake_in(kind: str, directory: Path) -> tuple[Lake, str]:
    """A lake on a store of that *kind*, and a namespace for a repository in it."""
    if kind == "mem":
        return lake_over(await kv.open("mem://")), f"mem://tests-{next(_names)}"
    return lake_over(await kv.open(f"lmdb://{directory}/kv")), f"file://{directory}/objects"


async def put(repository: Repository, branch: str = "main", **files: str) -> None:
    """Stage *files*, named by their paths."""
    for path, text in files.items():
        await write.put(repository, branch, path, text.encode())


async def commit(repository: Repository, branch: str = "main", message: str = "a change", **files: str) -> Commit:
    """Stage *files* and commit all that is staged."""
    await put(repository, branch, **files)
    return await committing.commit(repository, branch, description(message))


async def text_at(repository: Repository, ref: str, path: str) -> str:
    reading = await read.get(repository, ref, path)
    return b"".join([bytes(chunk) async for chunk in reading.chunks]).decode()


async def files_at(repository: Repository, ref: str, prefix: str = "") -> dict[str, str]:
    """What is at *ref*: paths and their text."""
    entries = await read.list_entries(repository, ref, prefix=prefix)
    paths = [path_of(entry.key) for entry in entries if isinstance(entry, Entry)]
    return {path: await text_at(repository, ref, path) for path in paths}


def told(changes: list[object] | list[Change] | object) -> dict[str, str]:
    """Changes by path, with what happened there."""
    assert isinstance(changes, list)
    return {path_of(change.key): change.type for change in changes if isinstance(change, Change)}
