"""Long work that a client asks for and does not wait for: imports, dumps, and commits and merges on request.

A task runs in the worker that took it and is told of in the key-value store, so that any worker can answer for it. The
worker says every few seconds that it is alive. A task of one that is not has failed, and says so: nothing that a task
does is half there, so it can be started again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec

from headwater.errors import HeadwaterError
from headwater.kv import PredicateFailed, Store, StoreError, UnknownOutcome
from headwater.outside import Outside
from headwater.sdk.wire.errors import kind_of
from headwater.server.logs import Log
from headwater.staging.errors import Contended
from headwater.staging.tries import tries

PARTITION = b"tasks"

BEAT = 3.0
"""Seconds between two signs of life."""

SILENCE = 30_000
"""Milliseconds without a sign of life after which a worker is taken for dead: several beats, and a slow store."""

KEPT = 86_400_000
"""Milliseconds that a finished task can still be asked for."""

MAX_RUNNING = 100
"""Tasks of one worker at a time."""


class TooManyTasks(HeadwaterError):
    """The worker has as many tasks as it may. Nothing was begun."""


class TaskEnded(HeadwaterError):
    """The task has ended, so there is nothing to stop."""


class TaskNotFound(HeadwaterError):
    """There is no such task, or it ended long ago."""


class Failure(msgspec.Struct, frozen=True, array_like=True):
    """Why a task failed: the kind of the error, as an answer would tell it, and what it said."""

    kind: str
    message: str


WORKER_GONE = Failure("WorkerGone", "the worker that did it ended before it was done: start it again")
STOPPED = Failure("WorkerGone", "the server was stopped before it was done: start it again")
CANCELLED = Failure("Cancelled", "it was cancelled")


class TaskRecord(msgspec.Struct, frozen=True):
    """A task as the store knows it. *result* is what it answered, as JSON; *updated* is its last sign of life.

    *scope* is the id of the repository, *subject* what of it the task is about, such as a branch.
    """

    id: str
    kind: str
    scope: str
    started: int
    updated: int
    done: bool = False
    cancelled: bool = False
    progress: int = 0
    failure: Failure | None = None
    result: bytes = b""
    subject: str = ""


class Progress:
    """How far a task has come, as it tells itself."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, count: int) -> None:
        """So many more are done."""
        self.count += count


Work = Callable[[Progress], Awaitable[bytes]]


class _Running(msgspec.Struct, frozen=True):
    """A task that runs here: the work, and what watches it."""

    working: asyncio.Future[bytes]
    watching: asyncio.Future[None]


class Tasks:
    """The tasks of one worker, and what the store tells of those of others."""

    def __init__(self, store: Store, outside: Outside, log: Log) -> None:
        self._store = store
        self._outside = outside
        self._log = log
        self._running: dict[str, _Running] = {}
        self._closing = False

    async def start(self, kind: str, scope: str, work: Work, *, subject: str = "") -> str:
        """Begin *work*. Returns the id of the task, which `find` knows from now on."""
        if len(self._running) >= MAX_RUNNING:
            raise TooManyTasks(f"{MAX_RUNNING} tasks are running already: try again when some have ended")
        await self._forget_old(scope)
        now = self._outside.now()
        record = TaskRecord(f"{kind}-{self._outside.random(10).hex()}", kind, scope, now, now, subject=subject)
        await self._store.set(PARTITION, _key(scope, record.id), msgspec.msgpack.encode(record))
        progress = Progress()
        working = asyncio.ensure_future(work(progress))
        watching = asyncio.ensure_future(self._watch(record, progress, working))
        self._running[record.id] = _Running(working, watching)
        watching.add_done_callback(lambda _: self._running.pop(record.id, None))
        return record.id

    async def find(self, kind: str, scope: str, identity: str, *, subject: str = "") -> TaskRecord:
        """The task as it stands, or `TaskNotFound`."""
        found = await self._store.get(PARTITION, _key(scope, identity))
        record = None if found is None else msgspec.msgpack.decode(found.value, type=TaskRecord)
        if record is None or record.kind != kind or record.subject != subject:
            raise TaskNotFound(f"there is no {kind} {identity[:100]!r}; finished ones are kept for a day")
        if not record.done and self._outside.now() - record.updated > SILENCE:
            return msgspec.structs.replace(record, done=True, failure=WORKER_GONE)
        return record

    async def cancel(self, kind: str, scope: str, identity: str, *, subject: str = "") -> None:
        """Have the task stop: at once if it runs here, within seconds if elsewhere. `TaskEnded` if there is no need."""
        record = await self.find(kind, scope, identity, subject=subject)
        if record.done:
            raise TaskEnded(f"{kind} {identity!r} has ended already")
        running = self._running.get(identity)
        if running is not None:
            running.working.cancel()
            await asyncio.wait([running.watching])
            return
        await self._change(record, lambda now: now if now.done else msgspec.structs.replace(now, cancelled=True))

    async def forget(self, scope: str) -> None:
        """Delete what is known of the tasks of *scope*, which is gone."""
        beginning = _key(scope, "")
        async for page in self._store.scan(PARTITION, beginning):
            keys = [entry.key for entry in page if entry.key.startswith(beginning)]
            await self._store.delete_many(PARTITION, keys)
            if len(keys) < len(page):
                return

    async def aclose(self) -> None:
        """Stop what runs, and say so in the store."""
        self._closing = True
        running = list(self._running.values())
        for each in running:
            each.working.cancel()
        await asyncio.gather(*(each.watching for each in running))

    async def _watch(self, record: TaskRecord, progress: Progress, working: asyncio.Future[bytes]) -> None:
        """Give signs of life while *working* goes on, and write down how it ends. It is never cancelled itself."""
        while not (await asyncio.wait([working], timeout=BEAT))[0]:
            if await self._beat(record, progress):
                working.cancel()
        outcome = self._outcome(working)

        def ended(now: TaskRecord) -> TaskRecord:
            return msgspec.structs.replace(
                now, done=True, updated=self._outside.now(), progress=progress.count, **outcome
            )

        with suppress(StoreError, Contended):  # then it counts as silent, which says the same
            await self._change(record, ended)

    async def _beat(self, record: TaskRecord, progress: Progress) -> bool:
        """Give a sign of life. Whether somebody wants the task to stop."""

        def alive(now: TaskRecord) -> TaskRecord:
            return msgspec.structs.replace(now, updated=self._outside.now(), progress=progress.count)

        with suppress(StoreError, Contended):  # the next beat may come through
            now = await self._change(record, alive)
            return now is None or now.cancelled
        return False

    def _outcome(self, working: asyncio.Future[bytes]) -> dict[str, object]:
        if working.cancelled():
            return {"cancelled": True, "failure": STOPPED if self._closing else CANCELLED}
        error = working.exception()
        if error is None:
            return {"result": working.result()}
        if isinstance(error, HeadwaterError):
            return {"failure": Failure(kind_of(type(error)), str(error))}
        self._log.defect("a task", error)
        return {"failure": Failure("InternalError", "something went wrong that should not; the server's log has it")}

    async def _change(self, record: TaskRecord, change: Callable[[TaskRecord], TaskRecord]) -> TaskRecord | None:
        """Make the stored task what *change* makes of it, so that nobody else's change is lost. None if it is gone."""
        key = _key(record.scope, record.id)
        async for _ in tries(self._outside, f"writing down how {record.id!r} stands"):
            found = await self._store.get(PARTITION, key)
            if found is None:
                return None
            changed = change(msgspec.msgpack.decode(found.value, type=TaskRecord))
            try:
                await self._store.set_if(PARTITION, key, msgspec.msgpack.encode(changed), found.predicate)
            except (PredicateFailed, UnknownOutcome):
                continue
            return changed
        raise AssertionError("tries never end quietly")

    async def _forget_old(self, scope: str) -> None:
        """Delete what ended long ago, of those that one page of the store shows."""
        beginning = _key(scope, "")
        async for page in self._store.scan(PARTITION, beginning):
            old = [entry.key for entry in page if entry.key.startswith(beginning) and self._is_old(entry.value)]
            if old:
                await self._store.delete_many(PARTITION, old)
            return

    def _is_old(self, value: bytes) -> bool:
        return self._outside.now() - msgspec.msgpack.decode(value, type=TaskRecord).updated > KEPT


def _key(scope: str, identity: str) -> bytes:
    return f"{scope}/{identity}".encode(errors="replace")[:1000]
