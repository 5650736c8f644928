"""An event loop with virtual time that picks the next ready task at random, from a seed.

Time stands still while anything is ready, and then jumps to the next timer: an hour of sleeping costs nothing. There is
no selector, no socket, no thread, no signal: whatever would let the outside in is refused, and fails the run.
"""

from __future__ import annotations

import asyncio
import gc
import heapq
import itertools
import sys
import threading
from asyncio import _get_running_loop, _set_running_loop
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context
from random import Random
from typing import Any, NoReturn, TypeAlias, TypeVarTuple

from headwater.testing.sim.errors import SimulationError
from headwater.testing.sim.process import Process, current_process
from headwater.testing.sim.trace import STEP, Trace

Arguments = TypeVarTuple("Arguments")

Owner: TypeAlias = Process[Any]


class SimTask(asyncio.Task[Any]):
    """A task whose hash is its number, not its address, so that sets of tasks have the same order in every run."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], *, number: int, **keywords: Any) -> None:
        self._number = number
        super().__init__(coroutine, **keywords)

    def __hash__(self) -> int:
        return self._number


class SimFuture(asyncio.Future[Any]):
    """A future whose hash is its number: see `SimTask`."""

    def __init__(self, *, number: int, loop: asyncio.AbstractEventLoop) -> None:
        self._number = number
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self._number


class SimLoop(asyncio.AbstractEventLoop):
    """The scheduler. Every choice comes from *random*; every step goes to *trace*."""

    def __init__(self, random: Random, trace: Trace) -> None:
        self._random = random
        self._trace = trace
        self._now = 0.0
        self._ready: list[tuple[Owner, asyncio.Handle]] = []
        self._timers: list[tuple[float, int, Owner, asyncio.TimerHandle]] = []
        self._numbers = itertools.count(1)
        self._failure: BaseException | None = None
        self._thread: int | None = None
        self._closed = False
        self.running_process: Owner | None = None
        self.outside: Owner = Process("outside", self)

    def run(self, steps: int, seconds: float) -> bool:
        """Run until nothing is ready and no timer is set: True; or until one of the limits is reached: False.

        Raises what escaped from a process, or from a callback. The cyclic garbage collector is off meanwhile: it comes
        when it likes, and what it finds may have a `finally` block to run.
        """
        with self._running():
            rested = self._run(steps, self._now + seconds)
        self.check()
        return rested

    def _run(self, steps: int, until: float) -> bool:
        ready, random, record = self._ready, self._random.random, self._trace.record
        while self._failure is None:
            count = len(ready)
            if not count:
                if not self._timers:
                    return True
                if not self._advance(until):
                    return False
                continue
            if not steps:
                return False
            position = int(random() * count)
            owner, handle = ready[position]
            ready[position] = ready[-1]
            ready.pop()
            if handle.cancelled():
                continue
            if owner.crash_chance and not owner.crashed and random() < owner.crash_chance:
                owner.crash()
            if owner.crashed:
                owner.bury(handle)
                continue
            steps -= 1
            record((self._now, owner.name, STEP, (position + 1, count)))
            self.running_process = owner
            handle._run()  # noqa: SLF001  (a loop is who runs handles)
            self.running_process = None
        return True

    def _advance(self, until: float) -> bool:
        """Make the earliest timers ready, all that are due at one instant. False if they are due after *until*.

        The timers of the dead, and cancelled ones, do not move time.
        """
        timers = self._timers
        due: float | None = None
        while timers and (due is None or timers[0][0] <= due):
            when, _, owner, handle = timers[0]
            if owner.crashed:
                owner.bury(handle)
            elif not handle.cancelled():
                if when > until:
                    return False
                due = self._now = when
                self._ready.append((owner, handle))
            heapq.heappop(timers)
        return True

    def record(self, who: str, what: str, *arguments: object) -> None:
        """Add an event to the trace, at the present time."""
        self._check_open()
        self._trace.record((self._now, who, what, arguments))

    def fail(self, error: BaseException) -> None:
        """End the run after this step, with the first error that came."""
        if self._failure is None:
            self._failure = error

    def check(self) -> None:
        """Raise the error that `fail` was told of, if any."""
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Nothing runs any more; what tries to, fails."""
        self._closed = True
        self._ready.clear()
        self._timers.clear()

    # What asyncio asks of a loop.

    def time(self) -> float:
        return self._now

    def call_soon(
        self, callback: Callable[[*Arguments], object], *args: *Arguments, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._check_open()
        self._ready.append((self._owner(context), handle))
        return handle

    def call_later(
        self, delay: float, callback: Callable[[*Arguments], object], *args: *Arguments, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[*Arguments], object], *args: *Arguments, context: Context | None = None
    ) -> asyncio.TimerHandle:
        self._check_open()
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        owner = self._owner(context)
        if when <= self._now:
            self._ready.append((owner, handle))
        else:
            heapq.heappush(self._timers, (when, next(self._numbers), owner, handle))
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[[*Arguments], object], *args: *Arguments, context: Context | None = None
    ) -> asyncio.Handle:
        if threading.get_ident() != self._thread:
            self._refuse("call_soon_threadsafe from another thread")
        return self.call_soon(callback, *args, context=context)

    def create_future(self) -> asyncio.Future[Any]:
        return SimFuture(number=next(self._numbers), loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Context | None = None) -> asyncio.Task[Any]:
        owner = self._owner(context)
        task = SimTask(
            coro, number=next(self._numbers), loop=self, name=name or owner.next_task_name(), context=context
        )
        owner.adopt(task)
        return task

    def call_exception_handler(self, context: Mapping[str, Any]) -> None:
        """An error that nobody waits for fails the run. After the run there is nobody to tell."""
        if not self._closed:
            self.fail(context.get("exception") or SimulationError(context["message"]))

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return self._thread is not None

    def is_closed(self) -> bool:
        return self._closed

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """A cancelled timer is dropped when its time comes: that is soon, when time is virtual."""

    # Behind the scenes.

    def _owner(self, context: Context | None) -> Owner:
        if context is None:
            return current_process.get(self.outside)
        return context.get(current_process, self.outside)

    def _check_open(self) -> None:
        if self._closed:
            raise SimulationError("the simulation is over: nothing runs any more")

    def _refuse(self, what: str) -> NoReturn:
        refusal = SimulationError(f"{what} leaves the simulation: its outcome would not come from the seed")
        self.fail(refusal)
        raise refusal

    @contextmanager
    def _running(self) -> Iterator[None]:
        self._check_open()
        if _get_running_loop() is not None:
            raise SimulationError("a simulation cannot run inside of a running event loop: call it from plain code")
        hooks, collecting = sys.get_asyncgen_hooks(), gc.isenabled()
        gc.disable()
        sys.set_asyncgen_hooks(firstiter=None, finalizer=self._finish_generator)
        _set_running_loop(self)
        self._thread = threading.get_ident()
        try:
            yield
        finally:
            self._thread = None
            self.running_process = None
            _set_running_loop(None)
            sys.set_asyncgen_hooks(*hooks)
            if collecting:
                gc.enable()

    def _finish_generator(self, generator: AsyncGenerator[Any, Any]) -> None:
        """Close an asynchronous generator that was dropped half-way, in the process that dropped it."""
        if self.is_running():
            self.create_task(generator.aclose())


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refused(self: SimLoop, *_: object, **__: object) -> NoReturn:
        self._refuse(f"{name}()")

    return refused


for _name, _method in vars(asyncio.AbstractEventLoop).items():
    if callable(_method) and not _name.startswith("_") and _name not in vars(SimLoop):
        setattr(SimLoop, _name, _refusing(_name))
