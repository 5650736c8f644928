"""Many requests, one read: whoever asks for a key while it is being read shares the *next* read of it.

Not the one in flight: that may have looked at the store before a write that the request must see. So a request waits
for at most two reads, and a store is asked for one key by one reader at a time, however many requests there are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

Key = TypeVar("Key")
Value = TypeVar("Value")


class _Tasks(Generic[Key, Value]):
    """The reads that are under way on one loop, and those that come after them."""

    def __init__(self) -> None:
        self.running: dict[Key, asyncio.Task[Value]] = {}
        self.following: dict[Key, asyncio.Task[Value]] = {}


class SharedReads(Generic[Key, Value]):
    """Reads through *read*, shared by those on one loop. Without one nobody can be waiting: each reads by itself."""

    def __init__(self, read: Callable[[Key], Awaitable[Value]]) -> None:
        self._read = read
        self._tasks: WeakKeyDictionary[asyncio.AbstractEventLoop, _Tasks[Key, Value]] = WeakKeyDictionary()

    async def get(self, key: Key) -> Value:
        """What a read that began after this call answered."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return await self._read(key)
        tasks = self._tasks.setdefault(loop, _Tasks())
        shared = tasks.following.get(key)
        if shared is None or shared.done():  # the latter: it was cancelled before it began
            shared = loop.create_task(self._read_after(tasks, key))
            tasks.following[key] = shared
        return await asyncio.shield(shared)

    async def _read_after(self, tasks: _Tasks[Key, Value], key: Key) -> Value:
        earlier = tasks.running.get(key)
        if earlier is not None:
            await asyncio.wait([earlier])
        this = tasks.following.pop(key)
        tasks.running[key] = this
        try:
            return await self._read(key)
        finally:
            if tasks.running.get(key) is this:
                del tasks.running[key]
