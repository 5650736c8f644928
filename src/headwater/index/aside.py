"""Long work on rows: in a thread under an event loop, in place without one, or where it is short."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from headwater.index.limits import ASIDE

Result = TypeVar("Result")


async def aside(rows: int, call: Callable[[], Result]) -> Result:
    """What *call*, which works on so many rows, answers."""
    if rows < ASIDE:
        return call()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return call()
    return await asyncio.to_thread(call)
