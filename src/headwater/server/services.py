"""What every room of the server works with: the lake, who may do what, and where things are told."""

from __future__ import annotations

from collections import OrderedDict

import msgspec

from headwater.actions import Actions
from headwater.auth import Auth
from headwater.engine.lake import Lake
from headwater.engine.repository import Repository
from headwater.kv import Store
from headwater.outside import Outside
from headwater.sdk.opening import Storage
from headwater.server.access import Callers
from headwater.server.columns import WrittenRows
from headwater.server.config import Settings
from headwater.server.handles import Handles
from headwater.server.issued import IssuedAddresses
from headwater.server.limits import REMEMBERED, REPOSITORIES
from headwater.server.logs import Log
from headwater.server.protection import RepositorySettings
from headwater.server.pulls import Pulls
from headwater.server.tasks import Tasks
from headwater.server.telemetry.telemetry import Telemetry


class Services(msgspec.Struct, frozen=True):
    """All of it, for one worker process."""

    settings: Settings
    store: Store
    lake: Lake
    storage: Storage
    repositories: Repositories
    auth: Auth
    callers: Callers
    tasks: Tasks
    rules: RepositorySettings
    pulls: Pulls
    issued: IssuedAddresses
    handles: Handles
    actions: Actions
    telemetry: Telemetry
    log: Log
    outside: Outside
    written_rows: WrittenRows


class Repositories:
    """Repositories by name, with their caches. A record is read for each request, or where that means waiting,
    believed for a second."""

    def __init__(self, lake: Lake, outside: Outside, *, immediate: bool) -> None:
        self._lake = lake
        self._elapsed = outside.elapsed
        self._remembered = 0.0 if immediate else REMEMBERED
        self._known: OrderedDict[str, tuple[Repository, float]] = OrderedDict()

    async def get(self, name: str) -> Repository:
        """The repository *name*, or `RepositoryNotFound`."""
        known = self._known.get(name)
        if known is not None and self._remembered and self._elapsed() - known[1] < self._remembered:
            return known[0]
        return await self.fresh(name)

    async def fresh(self, name: str) -> Repository:
        """The repository *name* as a read that begins now finds it."""
        known = self._known.get(name)
        at = self._elapsed()
        record = await self._lake.record(name)
        repository = known[0] if known is not None and known[0].record == record else await self._lake.opened(record)
        self._known[name] = repository, at
        self._known.move_to_end(name)
        if len(self._known) > REPOSITORIES:
            self._known.popitem(last=False)
        return repository

    def known(self) -> list[Repository]:
        """Those that were asked for not long ago, as they were then."""
        return [repository for repository, _ in self._known.values()]

    def forget(self, name: str) -> None:
        """Believe nothing of *name*: it was deleted, or changed."""
        self._known.pop(name, None)
