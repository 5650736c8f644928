"""How the face that waits runs the one that awaits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

import msgspec

from headwater.blob.threads import running_loop
from headwater.drive import drive
from headwater.kv import StoreUnavailable
from headwater.sdk.bodies import Chunk, Content
from headwater.sdk.limits import GIVING_UP
from headwater.sdk.paging import Pages

Result = TypeVar("Result")


class Runner:
    """Runs coroutines to their end: in place where nothing in them waits, else on an event loop in a thread of its own.

    Under an event loop of the caller's, as in a notebook, it is that thread, too: the caller's loop stands still
    meanwhile, as it does for any call that waits. May be used from any thread.
    """

    def __init__(self) -> None:
        self.closed = False
        self._in_place = False
        self._lock = threading.Lock()
        self._served: _Served | None = None

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """What *coroutine* answers."""
        if self._in_place and running_loop() is None and not self.closed:
            return drive(coroutine)
        return self.run_on_loop(coroutine)

    def run_on_loop(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """What *coroutine* answers, that needs a loop in any case."""
        try:
            loop = self._started()
        except BaseException:
            coroutine.close()
            raise
        ended = threading.Event()
        future = asyncio.run_coroutine_threadsafe(_until_ended(coroutine, ended), loop)
        try:
            return future.result()
        except BaseException:  # an interrupt, perhaps: do not leave it running, nor the process before it has given up
            if future.cancel():
                ended.wait(GIVING_UP)
            raise

    def begin_on_loop(self, coroutine: Coroutine[Any, Any, Result]) -> None:
        """Have *coroutine* run if the loop still does, and do not wait for it. Takes no lock: a finalizer may call."""
        served = self._served
        if served is None:
            coroutine.close()
        else:
            asyncio.run_coroutine_threadsafe(coroutine, served.loop)

    def iterate(self, pages: Pages[Result]) -> Iterator[Result]:
        """What *pages* give, one by one; fetched a page at a time."""
        while page := self.run(pages.next_page()):
            yield from page

    def give_up(self) -> None:
        """Cancel what still runs, as files that are being written, so that nothing waits for it."""
        if self._served is not None:
            self.run_on_loop(_cancel_others(self._served.serving))

    def stay_in_place(self) -> None:
        """Nothing waits from now on: the thread is given up until somebody needs it."""
        self._in_place = True
        self._end_thread()

    def close(self) -> None:
        """Run nothing from now on. End the thread, and what is still running there."""
        self.closed = True
        self._end_thread()

    def _end_thread(self) -> None:
        with self._lock:
            served, self._served = self._served, None
        if served is not None:
            served.loop.call_soon_threadsafe(served.stop.set)
            served.thread.join()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self.closed:
                raise StoreUnavailable("the lake was closed: open it again")
            if self._served is None:
                self._served = _serve()
            if not self._served.thread.is_alive():
                raise StoreUnavailable("the lake was open when this process was forked: open it after forking")
            if self._served.loop is running_loop():
                raise RuntimeError("a call of this lake was made inside another: use headwater.aio in what it awaits")
            return self._served.loop


def running(runner: Runner, content: Content) -> Callable[[Coroutine[Any, Any, Result]], Result]:
    """What runs a call that puts *content*.

    What is streamed is made by the caller's code, which may use this very lake: it runs beside the put, not in it.
    """
    return runner.run if isinstance(content, Chunk) else runner.run_on_loop


async def _until_ended(coroutine: Coroutine[Any, Any, Result], ended: threading.Event) -> Result:
    try:
        return await coroutine
    finally:
        ended.set()


class _Served(msgspec.Struct, frozen=True):
    """An event loop, the thread that it runs in, and what ends both."""

    loop: asyncio.AbstractEventLoop
    thread: threading.Thread
    stop: asyncio.Event
    serving: asyncio.Task[None] | None


async def _cancel_others(serving: asyncio.Task[None] | None) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task(), serving}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _serve() -> _Served:
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event, asyncio.Task[None] | None]] = Future()

    async def until_stopped() -> None:
        stop = asyncio.Event()
        started.set_result((asyncio.get_running_loop(), stop, asyncio.current_task()))
        await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(until_stopped()), name="headwater", daemon=True)
    thread.start()
    loop, stop, serving = started.result()
    return _Served(loop, thread, stop, serving)
