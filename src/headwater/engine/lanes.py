"""One at a time, first come, first served: commits and merges to one branch, within one process.

Racing each other they would only do work again that the winner made void, and who has much to commit would lose to who
has little, again and again. Between processes the protocol alone decides, and it needs no lane.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias
from weakref import WeakValueDictionary

from headwater.blob.threads import running_loop
from headwater.engine.limits import WAITING
from headwater.refs.branches import Seen
from headwater.staging.errors import Contended

Look: TypeAlias = Callable[[], Awaitable[Seen]]
"""Reads the record of a branch."""


class Lanes:
    """A lane for each branch that anybody is in."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._waiting: dict[str, int] = {}
        self._finding = threading.Lock()
        self._of_threads: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def lane(self, branch: str, look: Look | None = None) -> AsyncIterator[Seen | None]:
        """Wait for one's turn on *branch*. Without an event loop, behind other threads that have none either.

        Whoever has to wait takes a *look* at the branch before, and is given what it was like.
        """
        if running_loop() is None:
            async with self._lane_of_threads(branch, look) as seen:
                yield seen
            return
        if self._waiting.get(branch, 0) >= WAITING:
            raise Contended(f"{WAITING} commits and merges are waiting for branch {branch!r} already: try again later")
        lock = self._locks.setdefault(branch, asyncio.Lock())
        self._waiting[branch] = self._waiting.get(branch, 0) + 1
        try:
            waits = lock.locked()
            seen = await look() if look is not None and waits else None
            async with lock:
                if look is not None and not waits:
                    await asyncio.sleep(0)  # who has asked already, and was not heard yet, gets in line first
                yield seen
        finally:
            self._waiting[branch] -= 1
            if not self._waiting[branch]:
                del self._waiting[branch], self._locks[branch]

    @asynccontextmanager
    async def _lane_of_threads(self, branch: str, look: Look | None) -> AsyncIterator[Seen | None]:
        with self._finding:
            lock = self._of_threads.setdefault(branch, threading.Lock())
        seen = None
        if not lock.acquire(blocking=False):
            seen = None if look is None else await look()
            lock.acquire()
        try:
            yield seen
        finally:
            lock.release()
