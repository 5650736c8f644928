"""A simulation: processes, virtual time and one source of chance, under one seed."""

from __future__ import annotations

import asyncio
import sys
import warnings
from collections import Counter
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context
from random import Random
from typing import Any, Self, TypeVar

from headwater.testing.sim.errors import Deadlock, LimitReached
from headwater.testing.sim.limits import MAX_SECONDS, MAX_STEPS
from headwater.testing.sim.loop import SimLoop
from headwater.testing.sim.process import Process, current_process
from headwater.testing.sim.trace import Trace

T = TypeVar("T")


class Simulation:
    """Everything that happens in it follows from *seed*: the same seed, the same run, to the byte of its `trace`.

    A context manager: what crashed processes held is let go of when the block ends, and not earlier, because Python
    runs the `finally` blocks of what it drops. So look at the outcome inside of the block.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = Random(seed)
        self._trace = Trace()
        self._loop = SimLoop(self.random, self._trace)  # type: ignore[abstract]  # what it lacks is added by name
        self._processes: list[Process[Any]] = []
        self._names: Counter[str] = Counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with _unheard():
            self._loop.close()
            for process in (self._loop.outside, *self._processes):
                process.abandon()

    def spawn(self, name: str, main: Coroutine[Any, Any, T], *, crash: float = 0.0) -> Process[T]:
        """Start a process, which runs from the next `run` on, or at once in a running one.

        At each of its steps, and so at each await, it crashes with the probability *crash*. To restart a process is to
        spawn it again; the second of a name is called `name#2`.
        """
        self._names[name] += 1
        nth = self._names[name]
        process: Process[T] = Process(name if nth == 1 else f"{name}#{nth}", self._loop, crash=crash)
        context = Context()
        context.run(current_process.set, process)
        process.start(self._loop.create_task(main, name=process.name, context=context))
        self._processes.append(process)
        return process

    def run(self, *, steps: int = MAX_STEPS, seconds: float = MAX_SECONDS) -> None:
        """Run until every process ended or crashed, and what they sent has landed. It may be called again.

        Raises what a process raises, at once; `Deadlock` if some wait for ever; `LimitReached` after so many *steps* or
        virtual *seconds*.
        """
        rested = self._loop.run(steps, seconds)
        waiting = [line for process in self._survivors() for line in process.whereabouts()]
        self._loop.check()
        if not rested:
            raise LimitReached(_listed(f"not over after {steps} steps or {seconds} virtual seconds", waiting))
        if waiting:
            raise Deadlock(_listed("nothing will ever happen again, and these wait", waiting))

    def note(self, text: str, *arguments: object) -> None:
        """Add to the trace, under the name of the running task: *text*, its `{}` filled with *arguments*.

        They are shown when somebody reads the trace, so pass only what does not change.
        """
        self._loop.record(self._actor(), text, *arguments)

    @property
    def time(self) -> float:
        """Virtual seconds since the beginning."""
        return self._loop.time()

    @property
    def trace(self) -> str:
        """Every step and every note."""
        return self._trace.text()

    @property
    def timeline(self) -> str:
        """Every note, without the steps."""
        return self._trace.timeline()

    def _actor(self) -> str:
        if self._loop.running_process is None:
            return "scenario"
        task = asyncio.current_task()
        return self._loop.running_process.name if task is None else task.get_name()

    def _survivors(self) -> list[Process[Any]]:
        return [self._loop.outside, *(process for process in self._processes if not process.crashed)]


def _listed(what: str, lines: list[str]) -> str:
    return "\n  ".join([f"{what}:", *lines])


@contextmanager
def _unheard() -> Iterator[None]:
    """Keep quiet about what the dead say when they are let go of."""
    hook = sys.unraisablehook
    sys.unraisablehook = lambda _: None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.unraisablehook = hook
