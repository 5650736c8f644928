"""The longest paths there may be, staged and committed: every page of what is there goes on behind the one before."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.engine import diff, read, write
from headwater.engine.commit import commit
from headwater.engine.errors import BadRequest
from headwater.engine.limits import MAX_JOURNALED, MAX_PATH
from headwater.engine.paths import path_of
from headwater.engine.repository import Mode, Repository
from tests.engine.lakes import description, lake_in

LONGEST: dict[Mode, int] = {"object": MAX_PATH, "append": MAX_JOURNALED}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def listed(repository: Repository, after: str = "") -> list[str]:
    found: list[str] = []
    while page := await read.list_entries(repository, "main", after=after, amount=1):
        after = path_of(page[0].key)
        found.append(after)
    return found


async def changed(repository: Repository, after: str = "") -> list[str]:
    found: list[str] = []
    while page := await diff.uncommitted(repository, "main", after=after, amount=1):
        after = path_of(page[0].key)
        found.append(after)
    return found


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["mem", "lmdb"])
@pytest.mark.parametrize("mode", ["object", "append"])
async def test_the_longest_paths_are_listed_page_by_page(kind: str, mode: Mode, tmp_path: Path) -> None:
    lake, namespace = await lake_in(kind, tmp_path)
    repository = await lake.create("sales", namespace, mode=mode)
    stem = "d/" + "é" * ((LONGEST[mode] - 3) // 2)
    stem += "a" * (LONGEST[mode] - 1 - len(stem.encode()))
    paths = [stem + last for last in "0az~"]
    for path in paths:
        await write.put(repository, "main", path, b"1")
    with pytest.raises(BadRequest, match=str(LONGEST[mode])):
        await write.put(repository, "main", paths[0] + "0", b"1")
    for where in ("staged", "committed"):
        assert await listed(repository) == paths
        assert await listed(repository, after=paths[1] + "a") == paths[2:]
        assert await listed(repository, after=paths[1] + "a" * 3_000) == paths[2:]
        found = await read.list_entries(repository, "main", delimiter="/", after="d/" + "z" * 3_000)
        assert found == []
        assert await read.list_entries(repository, "main", prefix=stem, delimiter="z", amount=3) != []
        if where == "staged":
            assert await changed(repository) == paths
            assert await changed(repository, after=paths[2]) == paths[3:]
            await commit(repository, "main", description())
    await write.delete(repository, "main", paths[:3])
    assert await listed(repository) == paths[3:]
