"""A worker cleans up, beside its work, the repositories that were changed through it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from headwater.errors import HeadwaterError
from headwater.server.logs import Log
from headwater.server.services import Repositories
from headwater.staging.limits import TIDY_AFTER


class Upkeep:
    """The task that does so, from `start` to `aclose`."""

    def __init__(self, repositories: Repositories, log: Log, every: float = TIDY_AFTER) -> None:
        self._repositories = repositories
        self._log = log
        self._every = every
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def aclose(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            for repository in self._repositories.known():
                try:
                    await repository.tidying.round()
                except HeadwaterError as error:
                    self._log.defect(f"cleaning up repository {repository.name!r}", error)
