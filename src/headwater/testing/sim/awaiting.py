"""Look into a suspended task: where it waits; and end one that shall never run again."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from headwater.testing.sim.limits import UNWINDINGS


def where(awaitable: object) -> str:
    """The places at which it is suspended, outermost first: `demo.py:12 in client > locks.py:113 in acquire`."""
    frames = [frame for awaited in _chain(awaitable) if (frame := _frame(awaited)) is not None]
    return " > ".join(f"{Path(f.f_code.co_filename).name}:{f.f_lineno} in {f.f_code.co_name}" for f in frames)


def abandon(awaitable: object) -> None:
    """Close what is suspended, innermost first, whatever its clean-up tries.

    Python has no way to drop a coroutine without running its `finally` blocks, so this runs them where they can do no
    harm: when the simulation is over, every use of its loop fails, and nobody looks any more.
    """
    for awaited in reversed(list(_chain(awaitable))):
        if inspect.iscoroutine(awaited) or inspect.isgenerator(awaited):
            for _ in range(UNWINDINGS):
                if _closed(awaited):
                    break


def _closed(suspended: Any) -> bool:
    try:
        suspended.close()
    except BaseException:  # noqa: BLE001  (a dead process has nobody to tell)
        return _frame(suspended) is None
    return True


def _chain(awaitable: object) -> Iterator[object]:
    """The awaitable, what it awaits, what that awaits, and so on."""
    awaited: object | None = awaitable
    while awaited is not None:
        yield awaited
        awaited = _awaited_by(awaited)


def _awaited_by(suspended: object) -> object | None:
    if inspect.iscoroutine(suspended):
        return suspended.cr_await
    if inspect.isgenerator(suspended):
        return suspended.gi_yieldfrom
    if inspect.isasyncgen(suspended):
        return suspended.ag_await
    # An `anext` in progress keeps its generator to itself; only the collector's view shows it.
    return next(filter(inspect.isasyncgen, gc.get_referents(suspended)), None)


def _frame(suspended: object) -> FrameType | None:
    for name in ("cr_frame", "gi_frame", "ag_frame"):
        frame = getattr(suspended, name, None)
        if isinstance(frame, FrameType):
            return frame
    return None
