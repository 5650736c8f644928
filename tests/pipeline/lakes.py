"""Repositories for tests of the pipeline, filled through the SDK."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pyarrow as pa

import headwater
from headwater.engine.looking import commit_of
from headwater.pipeline import Place
from headwater.sdk.opening import open_stores


def place_in(directory: Path, repo: str = "sales") -> Place:
    """A place for a new repository in a directory."""
    with headwater.open(directory, durability="os") as lake:
        lake.create_repo(repo)
    return Place(repo, lake=str(directory))


def table(count: int, *, salt: str = "", prefix: str = "p", step: int = 1) -> pa.Table:
    """Entries to import, in no order: paths, and where their bytes are said to be."""
    numbers = [number * step for number in range(count)][::-1]
    return pa.table(
        {
            "path": [f"{prefix}{number % 7}/{number:07d}" for number in numbers],
            "address": [f"s3://elsewhere/{number}{salt}" for number in numbers],
            "size": [number % 1000 for number in numbers],
            "checksum": [f"c{number}{salt}" for number in numbers],
            "modified": [1_700_000_000_000 + number for number in numbers],
        }
    )


def rows_of(place: Place, ref: str, prefix: str = "") -> dict[str, tuple[int, str | None]]:
    """What the SDK says is at *ref*: sizes and checksums by path."""
    assert place.lake is not None
    with headwater.open(place.lake, durability="os") as lake:
        found = lake.repo(place.repo).ref(ref).list(prefix)
        return {each.path: (each.size, each.checksum) for each in found if hasattr(each, "checksum")}


def tree_of(place: Place, ref: str) -> str:
    """The id of the tree of a commit."""

    async def found() -> str:
        stores = await open_stores(place.lake)
        try:
            return (await commit_of(await stores.lake.open(place.repo), ref)).tree
        finally:
            await stores.lake.aclose()

    return asyncio.run(found())
