"""A process of a simulation: a named group of tasks that lives, and dies, together."""

from __future__ import annotations

import asyncio
from contextvars import Context, ContextVar
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from headwater.testing.sim.awaiting import abandon, where
from headwater.testing.sim.errors import SimulationError

if TYPE_CHECKING:
    from headwater.testing.sim.loop import SimLoop

T = TypeVar("T")

current_process: ContextVar[Process[Any]] = ContextVar("current_process")
"""Inherited by tasks and callbacks with their context; a task in an empty context is outside of every process."""


class Process(Generic[T]):
    """What `Simulation.spawn` answers.

    It ends with its first coroutine, as under `asyncio.run`: tasks that it leaves are cancelled. Or it crashes, as by
    `kill -9`: none of its tasks ever runs again, no `finally` block, no clean-up.
    """

    def __init__(self, name: str, loop: SimLoop, *, crash: float = 0.0) -> None:
        self.name = name
        self.crash_chance = crash
        self.crashed = False
        self._loop = loop
        self._main: asyncio.Task[T] | None = None
        self._over = loop.create_future()
        self._tasks: list[asyncio.Task[Any]] = []
        self._prune_at = 64
        self._started = 0
        self._buried: list[asyncio.Handle] = []

    def __repr__(self) -> str:
        state = "crashed" if self.crashed else "ended" if self._over.done() else "alive"
        return f"<Process {self.name} {state}>"

    def crash(self) -> None:
        """Never run again, from now on. No change if it is over already."""
        if self._loop.running_process is self:
            raise SimulationError(f"{self.name} cannot crash itself between two awaits: let another process do it")
        if not self._over.done():
            self.crashed = True
            self._loop.record(self.name, "crashed")
            self._over.set_result(None)

    async def over(self) -> None:
        """Return when it has ended or crashed: `crashed` tells which."""
        await asyncio.shield(self._over)

    def result(self) -> T:
        """What its coroutine returned."""
        if self._main is None or self.crashed or not self._main.done():
            raise SimulationError(f"{self.name} has no result: it {'crashed' if self.crashed else 'has not ended'}")
        return self._main.result()

    # What follows is between the process and its simulation.

    def start(self, main: asyncio.Task[T]) -> None:
        self._main = main
        main.add_done_callback(self._end, context=Context())

    def adopt(self, task: asyncio.Task[Any]) -> None:
        """Hold *task*: it is this process's to lose. Tasks that are done are let go of now and then."""
        if len(self._tasks) >= self._prune_at:
            self._prune_at = 64 + 2 * len(self.unfinished())
        self._tasks.append(task)

    def next_task_name(self) -> str:
        self._started += 1
        return f"{self.name}/{self._started}"

    def bury(self, handle: asyncio.Handle) -> None:
        """Keep what the dead would have run: to drop it might run the `finally` block of something it holds."""
        self._buried.append(handle)

    def unfinished(self) -> list[asyncio.Task[Any]]:
        self._tasks = [task for task in self._tasks if not task.done()]
        return self._tasks

    def whereabouts(self) -> list[str]:
        """A line for each task that waits."""
        return [f"{task.get_name()} at {where(task.get_coro())}" for task in self.unfinished()]

    def abandon(self) -> None:
        for task in self.unfinished():
            abandon(task.get_coro())
        self._tasks.clear()
        self._buried.clear()

    def _end(self, main: asyncio.Task[T]) -> None:
        if self.crashed:
            return
        error = SimulationError(f"{self.name} was cancelled") if main.cancelled() else main.exception()
        self._loop.record(self.name, "ended" if error is None else f"failed: {error!r}")
        self._over.set_result(None)
        if error is not None:
            self._loop.fail(error)
        for task in list(self.unfinished()):
            task.cancel()
