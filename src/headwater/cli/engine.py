"""The engine of an embedded lake, for commands that are about the whole of a repository and no server does."""

from __future__ import annotations

from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from headwater.cli.session import session
from headwater.cli.settings import BadSettings
from headwater.sdk.opening import Opened, open_stores
from headwater.sdk.sync.running import Runner

if TYPE_CHECKING:
    from headwater.engine.lake import Lake

Result = TypeVar("Result")


class Engine:
    """The lake of the settings, at first hand. What it is asked is run on an event loop, much of it side by side."""

    def __init__(self) -> None:
        self._runner = Runner()
        self._opened: Opened | None = None
        click.get_current_context().find_root().call_on_close(self._close)

    @property
    def lake(self) -> Lake:
        if self._opened is None:
            self._opened = self.run(_opening())
        return self._opened.lake

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run_on_loop(coroutine)

    def _close(self) -> None:
        if self._opened is not None:
            self.run(self._opened.lake.aclose())
        self._runner.close()


def _opening() -> Coroutine[Any, Any, Opened]:
    settings = session().settings
    if settings.lake is not None:
        return open_stores(Path(settings.lake).expanduser(), durability=settings.durability)
    if settings.kv is not None:
        return open_stores(kv=settings.kv, storage=settings.storage)
    raise BadSettings(
        "this works on the stores of a lake, not through a server: hw --lake DIR …, or set kv together with storage"
    )
