"""A repository with hooks around what is done to it, in memory, and a listener for webhooks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from headwater.actions import Actions, Destinations, Executor, Runs
from headwater.engine.repository import Repository
from headwater.outside import real_outside
from tests.actions.listener import Listener, listening
from tests.actions.stage import Stage
from tests.engine.lakes import lake_in

SECRET = "hush/1 2"  # noqa: S105  (of these tests)


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as listener:
        yield listener


@pytest.fixture
async def repository(tmp_path: Path) -> AsyncIterator[Repository]:
    lake, namespace = await lake_in("mem", tmp_path)
    yield await lake.create("sales", namespace)
    await lake.aclose()


@pytest.fixture
async def stage(repository: Repository, listener: Listener) -> AsyncIterator[Stage]:
    """The repository, with hooks that may reach the listener and name one secret."""
    defects: list[BaseException] = []
    outside = real_outside()
    executor = Executor(
        Destinations([listener.host]), {"HOOK_SECRET": SECRET}, outside, lambda _, error: defects.append(error)
    )
    actions = Actions(Runs(repository.store, outside), executor, outside, lambda _, error: defects.append(error))
    yield Stage(repository, actions)
    await actions.aclose()
    assert defects == []
