"""Concurrent requests for one thing fetch it once: the first goes, the others wait for what it brings."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

Result = TypeVar("Result")


class _Abandoned(Exception):
    """Whoever was fetching was cancelled: somebody else has to go."""


class Flights(Generic[Result]):
    """Fetches under way in this process, by name, from any thread, with an event loop or without."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[str, Future[Result]] = {}

    async def fetch(self, name: str, fetch: Callable[[], Awaitable[Result]]) -> Result:
        """What *fetch* answers, or what it answered to whoever asked for *name* meanwhile."""
        while True:
            with self._lock:
                flight = self._under_way.get(name)
                if flight is None:
                    ours = self._under_way[name] = Future()
                    ours.set_running_or_notify_cancel()
                    break
            try:
                return await _landed(flight)
            except _Abandoned:
                continue
        return await self._fly(name, ours, fetch)

    async def _fly(self, name: str, flight: Future[Result], fetch: Callable[[], Awaitable[Result]]) -> Result:
        try:
            result = await fetch()
        except BaseException as error:
            self._end(name)
            flight.set_exception(error if isinstance(error, Exception) else _Abandoned())
            raise
        self._end(name)
        flight.set_result(result)
        return result

    def _end(self, name: str) -> None:
        with self._lock:
            del self._under_way[name]


async def _landed(flight: Future[Result]) -> Result:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return flight.result()  # of another thread, which goes on by itself
    return await asyncio.wrap_future(flight)
