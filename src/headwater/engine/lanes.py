"""One at a time, first come, first served: commits and merges to one branch, within one process.

Racing each other they would only do work again that the winner made void, and who has much to commit would lose to who
has little, again and again. Between processes the protocol alone decides, and it needs no lane.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from headwater.blob.threads import running_loop
from headwater.engine.limits import WAITING
from headwater.staging.errors import Contended


class Lanes:
    """A lane for each branch that anybody is in."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._waiting: dict[str, int] = {}
        self._finding = threading.Lock()
        self._of_threads: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def lane(self, branch: str) -> AsyncIterator[None]:
        """Wait for one's turn on *branch*. Without an event loop, behind other threads that have none either."""
        if running_loop() is None:
            with self._lock_of_threads(branch):
                yield
            return
        if self._waiting.get(branch, 0) >= WAITING:
            raise Contended(f"{WAITING} commits and merges are waiting for branch {branch!r} already: try again later")
        lock = self._locks.setdefault(branch, asyncio.Lock())
        self._waiting[branch] = self._waiting.get(branch, 0) + 1
        try:
            async with lock:
                yield
        finally:
            self._waiting[branch] -= 1
            if not self._waiting[branch]:
                del self._waiting[branch], self._locks[branch]

    def _lock_of_threads(self, branch: str) -> threading.Lock:
        with self._finding:
            return self._of_threads.setdefault(branch, threading.Lock())
