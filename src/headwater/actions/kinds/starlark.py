"""Hooks that are scripts: `starlark`, a dialect of Python that can reach nothing but what it is given."""

from __future__ import annotations

from typing import Any

import msgspec

from headwater.actions.durations import seconds_of
from headwater.actions.errors import BadAction, HookFailed
from headwater.actions.kinds.setting import ScriptRun, Setting
from headwater.actions.limits import MAX_SCRIPT, TIMEOUT
from headwater.engine.paths import key_of
from headwater.engine.read import content


class Starlark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The script, or where in the repository it is, and what it is called with."""

    script: str = ""
    script_path: str = ""
    args: dict[str, Any] = {}
    timeout: str = ""

    def __post_init__(self) -> None:
        if bool(self.script) == bool(self.script_path):
            raise BadAction("script and script_path: give the one or the other")
        if self.timeout:
            seconds_of(self.timeout)

    async def run(self, setting: Setting) -> None:
        """Run the script. It fails by saying so, or by any error."""
        await setting.scripts(
            ScriptRun(
                name=self.script_path or f"{setting.hook}.star",
                source=self.script or await self._found(setting),
                event=setting.event.told(setting.action, setting.hook),
                arguments=self.args,
                seconds=seconds_of(self.timeout) if self.timeout else TIMEOUT,
                snapshot=setting.snapshot,
                output=setting.output,
            )
        )

    async def _found(self, setting: Setting) -> str:
        """The script as it is in the commit. That is part of the hook, so it needs no permission of whoever does it."""
        snapshot = setting.snapshot
        entry = await snapshot.index.get(key_of(self.script_path))
        if entry is None:
            raise HookFailed(f"script_path: there is nothing at {self.script_path!r}")
        if entry.size > MAX_SCRIPT:
            raise HookFailed(f"script_path: {self.script_path!r} has {entry.size} bytes; {MAX_SCRIPT} at most")
        found = b"".join([chunk async for chunk in content(snapshot.repository, entry).chunks])
        try:
            return found.decode()
        except UnicodeDecodeError:
            raise HookFailed(f"script_path: {self.script_path!r} is no text in UTF-8") from None
