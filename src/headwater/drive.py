"""Running the async core with an event loop or without one.

Over an embedded store the engine never truly waits, so its coroutines can be run to their end by hand: no loop, no
thread, and a call costs what its work costs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar

Result = TypeVar("Result")


def drive(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run *coroutine* to its end, here and now. Raises `RuntimeError` if it waits for anything."""
    try:
        coroutine.send(None)
    except StopIteration as finished:
        result: Result = finished.value
        return result
    coroutine.close()
    raise RuntimeError("this coroutine waits for something: it needs an event loop, as in asyncio.run(…)")


async def together(calls: Sequence[Callable[[], Awaitable[Result]]]) -> list[Result]:
    """What each of *calls* answers: made side by side under an event loop, one after the other without one.

    The first that fails is raised; the others go on or were never begun.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return [await call() for call in calls]
    return await asyncio.gather(*(call() for call in calls))
