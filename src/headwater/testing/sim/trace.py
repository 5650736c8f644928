"""What happened in a simulation, in order: recorded as it is, and turned into text only when somebody reads it."""

from __future__ import annotations

from collections.abc import Iterable
from reprlib import Repr
from typing import TypeAlias

from headwater.testing.sim.limits import SHOWN

Event: TypeAlias = tuple[float, str, str, tuple[object, ...]]
"""Virtual time, who, what, and the arguments of what. A bare tuple: one is made for every step."""

STEP = "step {} of {}"
"""One ready task of so many was chosen: the choices are what distinguishes two runs."""

_short = Repr()
_short.maxother = _short.maxstring = SHOWN
_short.maxtuple = _short.maxlist = 20


class Trace:
    """Two runs are the same if their texts are, to the byte."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self.record = self._events.append

    def text(self) -> str:
        """Every step, one a line."""
        return _lines(self._events)

    def timeline(self) -> str:
        """What actors and servers did, without the scheduling: what a person reads."""
        return _lines(event for event in self._events if event[2] is not STEP)


def _lines(events: Iterable[Event]) -> str:
    return "".join(f"{time:14.6f}  {who:16}  {_what(text, arguments)}\n" for time, who, text, arguments in events)


def _what(text: str, arguments: tuple[object, ...]) -> str:
    return text.format(*map(_shown, arguments)) if arguments else text


def _shown(argument: object) -> str:
    return argument if isinstance(argument, str) else _short.repr(argument)
