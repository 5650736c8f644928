"""What a hook is given to run with, whatever its kind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from headwater.actions.destinations import Destinations
from headwater.actions.events import Event
from headwater.actions.limits import MAX_OUTPUT
from headwater.actions.secrets import Secrets
from headwater.actions.snapshot import Snapshot


class Output:
    """What a hook says, for whoever looks at its run. What is too much is cut off."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._lines: list[str] = []
        self._room = MAX_OUTPUT

    def line(self, text: str) -> None:
        """Say *text*, which may have several lines."""
        if self._room > 0:
            kept = self._secrets.blotted(text)
            self._lines.append(
                kept if len(kept) <= self._room else f"{kept[: self._room]}\n… and more, which is not kept"
            )
            self._room -= len(kept) + 1

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self._lines)


class Setting(msgspec.Struct, frozen=True):
    """One hook's run: what it is about, what it may use, and where it says things."""

    event: Event
    action: str
    hook: str
    run: str
    secrets: Secrets
    output: Output
    destinations: Destinations
    snapshot: Snapshot
    scripts: Callable[[ScriptRun], Awaitable[None]]
    """Runs a script when there is room for one more."""


class ScriptRun(msgspec.Struct, frozen=True):
    """A script, what it is given, and how long it may take."""

    name: str
    source: str
    event: dict[str, object]
    arguments: dict[str, object]
    seconds: float
    snapshot: Snapshot
    output: Output
