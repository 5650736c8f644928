"""Blocking calls for an asynchronous caller: in a thread under an event loop, in place where there is none.

Why the object store's client is called this way is in `docs/decisions/0002-obstore-through-threads.md`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import ParamSpec, TypeVar

from headwater.drive import drive

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

_AHEAD = 2  # chunks that may lie between the source of a stream and the thread that sends it


class Threads:
    """At most *most* threads; with 0, every call runs in place, for calls so short that a thread would only cost."""

    def __init__(self, most: int, name: str) -> None:
        self._executor = ThreadPoolExecutor(most, thread_name_prefix=name) if most else None

    async def run(self, call: Callable[Arguments, Result], *args: Arguments.args, **named: Arguments.kwargs) -> Result:
        """What *call* answers. When this is cancelled, a call that has begun still goes on to its end."""
        loop = running_loop()
        if loop is None or self._executor is None:
            return call(*args, **named)
        return await loop.run_in_executor(self._executor, lambda: call(*args, **named))

    async def run_on_stream(self, call: Callable[[Iterator[bytes]], Result], source: AsyncIterable[bytes]) -> Result:
        """What *call* answers when it is handed the chunks of *source*, of which few are in memory at a time.

        *source* runs in the caller's own task. When it raises, or this is cancelled, the iterator of *call* raises, so
        that *call* can clear up; of an ordinary exception the caller hears only after that.
        """
        loop = running_loop()
        if loop is None:
            return _call_in_place(call, source)
        if self._executor is None:
            return call(iter([chunk async for chunk in source]))
        handoff = _Handoff(loop)
        work = loop.run_in_executor(self._executor, lambda: call(handoff))
        work.add_done_callback(handoff.stop)
        try:
            async for chunk in source:
                await handoff.send(chunk)
                if work.done():
                    break
        except BaseException as error:
            handoff.end(SourceFailed())
            if isinstance(error, Exception):
                await asyncio.wait([work])
            raise
        handoff.end(None)
        return await work

    async def aclose(self) -> None:
        """Take no more calls, and wait for those that have begun."""
        if self._executor is None:
            return
        loop = running_loop()
        if loop is None:
            self._executor.shutdown()
        else:
            await loop.run_in_executor(None, self._executor.shutdown)


class SourceFailed(Exception):
    """Raised in the thread that reads a stream when the stream's source failed or its reader was cancelled."""


class _Handoff(Iterator[bytes]):
    """Chunks on their way from an event loop to one thread, at most `_AHEAD` at a time."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._chunks: SimpleQueue[bytes | SourceFailed | None] = SimpleQueue()
        self._room = asyncio.Semaphore(_AHEAD)

    def __next__(self) -> bytes:
        """In the thread: the next chunk, once it is there."""
        chunk = self._chunks.get()
        if chunk is None:
            raise StopIteration
        if isinstance(chunk, SourceFailed):
            raise chunk
        self._loop.call_soon_threadsafe(self._room.release)
        return chunk

    async def send(self, chunk: bytes) -> None:
        await self._room.acquire()
        self._chunks.put(chunk)

    def end(self, error: SourceFailed | None) -> None:
        self._chunks.put(error)

    def stop(self, work: asyncio.Future[Result]) -> None:
        """The thread takes no more: wake a sender that waits for room, and let nobody wonder about the result."""
        if not work.cancelled():
            work.exception()
        self._room.release()


def _call_in_place(call: Callable[[Iterator[bytes]], Result], source: AsyncIterable[bytes]) -> Result:
    failures: list[Exception] = []
    try:
        return call(_driven(source, failures))
    except SourceFailed:
        raise failures[0] from None


def _driven(source: AsyncIterable[bytes], failures: list[Exception]) -> Iterator[bytes]:
    """*source*, which never waits, as a plain iterator. It tells its failures apart from those of what reads it."""
    chunks = aiter(source)
    while True:
        try:
            chunk = drive(_next(chunks))
        except StopAsyncIteration:
            return
        except Exception as error:
            failures.append(error)
            raise SourceFailed from error
        yield chunk


async def _next(chunks: AsyncIterator[bytes]) -> bytes:
    return await anext(chunks)


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that this code runs under, or None."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
