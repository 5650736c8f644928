"""Sessions with a server, for client libraries whose own pools leave open whether a request was sent.

What a driver may say of a failure depends on one thing: could the server have seen the request? Here, getting a
session and using it are two steps, and only what fails in the second one has been sent.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from headwater.kv.errors import SlowDown, StoreUnavailable

SessionT = TypeVar("SessionT")


class Sessions(Generic[SessionT]):
    """At most *most* sessions, opened when they are needed. The one that was used last is used next.

    *connect* raises what its failure means, which is never that something was written. *usable* says of an idle
    session whether it still is one; *close* never fails.
    """

    def __init__(
        self,
        connect: Callable[[], Awaitable[SessionT]],
        usable: Callable[[SessionT], Awaitable[bool]],
        close: Callable[[SessionT], Awaitable[None]],
        *,
        most: int,
        timeout: float,
    ) -> None:
        self._connect = connect
        self._usable = usable
        self._close = close
        self._timeout = timeout
        self._idle: deque[SessionT] = deque()
        self._free = asyncio.Semaphore(most)
        self._closed = False

    @asynccontextmanager
    async def session(self) -> AsyncIterator[SessionT]:
        """A session of the caller's own. When the block fails it is ended: nobody knows what it would answer next."""
        try:
            async with asyncio.timeout(self._timeout):
                await self._free.acquire()
        except TimeoutError:
            raise SlowDown(
                f"no connection in {self._timeout:g} s: all of them were busy; allow more by connections="
            ) from None
        try:
            session = await self._take()
            try:
                yield session
            except BaseException:
                await self._close(session)
                raise
            if self._closed:
                await self._close(session)
            else:
                self._idle.append(session)
        finally:
            self._free.release()

    async def aclose(self) -> None:
        """End the idle sessions now, and those in use when they are given back."""
        self._closed = True
        await self.drop_idle()

    async def drop_idle(self) -> None:
        """End what nobody uses just now: for a driver that found one of them broken."""
        while self._idle:
            await self._close(self._idle.pop())

    async def _take(self) -> SessionT:
        while self._idle:
            session = self._idle.pop()
            if await self._usable(session):
                return session
            await self._close(session)
        if self._closed:
            raise StoreUnavailable("this store was closed: open it again")
        return await self._connect()
