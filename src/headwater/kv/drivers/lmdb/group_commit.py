"""Many writers, one transaction: what is waiting when a commit begins shares its fsync.

There is no timer. While one commit waits for the disk the next writes gather, so the group grows with the load, and a
lone writer waits for nobody. A caller with an event loop is served by a thread, so that the loop never waits for a
disk; a caller without one commits in its own thread, and takes along whoever is waiting.
"""

from __future__ import annotations

import asyncio
import errno
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from threading import Condition, Lock, Thread
from typing import Protocol

import lmdb

from headwater.kv.drivers.lmdb.long_keys import Place, path_of, place_of
from headwater.kv.drivers.lmdb.reading import VERSION
from headwater.kv.errors import LimitExceeded, PredicateFailed, StoreUnavailable, UnknownOutcome
from headwater.kv.store import ABSENT, Delete, Operation, Predicate, Set, SetIf

LARGEST_GROUP = 50_000
"""Operations in one transaction (one call's are never split): bounds how long other processes wait for their turn."""

INLINE = 64
"""Operations that are written on the event loop itself when no fsync is awaited: one costs 5 us, waking a thread 70 us.
More go to the thread."""

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

SEQUENCE_BITS = 24
"""A version is the transaction's number and a count within it: unique for ever, as LMDB numbers transactions."""


class Begin(Protocol):
    """How the environment begins a transaction."""

    def __call__(self, *, write: bool) -> lmdb.Transaction: ...


class Write:
    """One call's operations, and what became of them: the predicate of the last, or why it is refused."""

    __slots__ = ("done", "future", "operations", "outcome")

    def __init__(self, operations: Sequence[Operation], future: asyncio.Future[None] | None) -> None:
        self.operations = operations
        self.future = future
        self.outcome: Predicate | Exception = UnknownOutcome(
            "lmdb: the commit was interrupted: read to see what it wrote"
        )
        self.done = False

    def result(self) -> Predicate:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class GroupCommit:
    """The writing side of one environment. `write` may be called from any thread, with or without an event loop."""

    def __init__(self, begin: Begin, directory: Path, *, durable: bool) -> None:
        self._begin = begin
        self._directory = directory
        self._inline = 0 if durable else INLINE
        self._committing = Lock()
        self._gathered = Condition(Lock())
        self._waiting: deque[Write] = deque()
        self._thread: Thread | None = None
        self._closed = False

    async def write(self, operations: Sequence[Operation]) -> Predicate:
        """Apply *operations* in order, up to the first refused. Returns the predicate of the last that wrote.

        Durable, as the environment was opened, when it returns.
        """
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return self._write_here(operations)
        if len(operations) <= self._inline:
            return self._write_here(operations)
        done = loop.create_future()
        write = Write(operations, done)
        with self._gathered:
            self._start_thread()
            self._waiting.append(write)
            self._gathered.notify()
        await done
        return write.result()

    def close(self) -> None:
        """Commit what is waiting, then end the thread."""
        with self._gathered:
            self._closed = True
            self._gathered.notify()
        if self._thread is not None:
            self._thread.join()

    def _write_here(self, operations: Sequence[Operation]) -> Predicate:
        write = Write(operations, None)
        if not self._waiting and self._committing.acquire(blocking=False):  # nobody to take along, nor to wait for
            try:
                self._check_open()
                self._commit((write,))
            finally:
                self._committing.release()
            return write.result()
        with self._gathered:
            self._check_open()
            self._waiting.append(write)
        with self._committing:
            while not write.done:
                self._commit(self._next_group())
        return write.result()

    def _start_thread(self) -> None:
        self._check_open()
        if self._thread is None:
            self._thread = Thread(target=self._serve, name=f"headwater-lmdb {self._directory}", daemon=True)
            self._thread.start()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"lmdb: {self._directory} was closed: open it again")

    def _serve(self) -> None:
        while True:
            with self._gathered:
                while not self._waiting and not self._closed:
                    self._gathered.wait()
                if not self._waiting:
                    return
            with self._committing:
                self._commit(self._next_group())

    def _next_group(self) -> list[Write]:
        group: list[Write] = []
        size = 0
        with self._gathered:
            while self._waiting and (not group or size + len(self._waiting[0].operations) <= LARGEST_GROUP):
                write = self._waiting.popleft()
                size += len(write.operations)
                group.append(write)
        return group

    def _commit(self, group: Sequence[Write]) -> None:
        """Write a group in one transaction. If that fails, one by one: a bad write takes no other with it."""
        try:
            self._transact(group)
        except Exception as error:  # noqa: BLE001  (it is the caller's: this thread serves others too)
            if len(group) == 1:
                group[0].outcome = _in_words(error, self._directory)
            else:
                for write in group:
                    self._commit((write,))
        finally:
            _tell(group)

    def _transact(self, group: Sequence[Write]) -> None:
        outcomes: list[Predicate | Exception] = []
        with self._begin(write=True) as transaction:
            number = transaction.id() << SEQUENCE_BITS
            for write in group:
                refused: PredicateFailed | None = None
                for operation in write.operations:
                    number += 1
                    if not _apply(transaction, operation, number.to_bytes(VERSION, "big")):
                        refused = PredicateFailed(operation.partition, operation.key)
                        break
                outcomes.append(refused or Predicate(number))
        for write, outcome in zip(group, outcomes, strict=True):
            write.outcome = outcome


def _apply(transaction: lmdb.Transaction, operation: Operation, version: bytes) -> bool:
    """Do one operation. False when its predicate does not hold."""
    place = place_of(path_of(operation.partition, operation.key))
    match operation:
        case Set(value=value):
            _put(transaction, place, version + value)
        case SetIf(value=value, predicate=predicate):
            stored = transaction.get(place.record)
            if predicate != (ABSENT if stored is None else int.from_bytes(stored[:VERSION], "big")):
                return False
            _put(transaction, place, version + value)
        case Delete():
            transaction.delete(place.record)
    return True


def _put(transaction: lmdb.Transaction, place: Place, stored: bytes) -> None:
    for link in place.links:
        transaction.put(link, b"", overwrite=False)
    transaction.put(place.record, stored)


def _tell(group: Sequence[Write]) -> None:
    """Wake the callers, each loop once."""
    loops: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for write in group:
        write.done = True
        if write.future is not None:
            loops.setdefault(write.future.get_loop(), []).append(write.future)
    for loop, futures in loops.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_wake, futures)


def _wake(futures: Sequence[asyncio.Future[None]]) -> None:
    for future in futures:
        if not future.done():  # a cancelled caller wants no answer
            future.set_result(None)


def _in_words(error: Exception, directory: Path) -> Exception:
    """What an error of LMDB means to the caller of a write; any other error speaks for itself."""
    if isinstance(error, lmdb.MapFullError):
        return LimitExceeded(f"lmdb: {directory} is as large as its reserved address space allows; nothing was written")
    if isinstance(error, lmdb.Error) and error.code in _NO_SPACE:
        return StoreUnavailable(f"lmdb: no space left for {directory}; nothing was written: free some and retry")
    if isinstance(error, lmdb.Error):
        return UnknownOutcome(f"lmdb: writing to {directory} failed: {error}")
    return error
