"""What scripts can call: `lake.read`, `lake.stat`, `lake.list`, `lake.diff` and `lake.metadata`."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from headwater.actions.errors import HookFailed
from headwater.actions.limits import SCRIPT_READS
from headwater.actions.snapshot import Snapshot
from headwater.errors import HeadwaterError


class Library:
    """Answers the calls of one script, so many at most."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._left = SCRIPT_READS
        self._functions: Mapping[str, Callable[..., Awaitable[Any]]] = {
            "read": _text_of(snapshot),
            "stat": snapshot.stat,
            "list": snapshot.listing,
            "diff": snapshot.diff,
            "metadata": snapshot.metadata,
        }

    async def answer(self, name: str, positional: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """What the call answers, or why it does not: the script may not catch it, so that it fails."""
        self._left -= 1
        if self._left < 0:
            return {"error": f"a script may ask {SCRIPT_READS} times, and has"}
        function = self._functions[name]
        try:
            arguments = _checked(function, positional, named)
            return {"value": await function(**arguments)}
        except (HeadwaterError, TypeError) as error:
            return {"error": f"lake.{name}: {error}"}


def _text_of(snapshot: Snapshot) -> Callable[..., Awaitable[str]]:
    async def read(path: str, ref: str = "") -> str:
        try:
            return (await snapshot.read(path, ref)).decode()
        except UnicodeDecodeError:
            raise HookFailed(f"{path!r} is no text in UTF-8") from None

    return read


def _checked(function: Callable[..., Any], positional: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by their names. `TypeError` if they are not what the function takes."""
    signature = inspect.signature(function)
    arguments = signature.bind(*positional, **named).arguments
    for name, value in arguments.items():
        wanted = int if signature.parameters[name].annotation == "int" else str
        if not isinstance(value, wanted):
            raise TypeError(f"{name} is of type {wanted.__name__}, unlike {msgspec.json.encode(value).decode()[:80]}")
    return dict(arguments)
