"""Writes to one partition take turns, and those that wait go together.

Lightweight transactions on one partition of Cassandra get in each other's way, and some then fail. So this process has
one at a time under way on each; what arrives meanwhile, and has no condition, is the next one, in one round trip.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from weakref import WeakValueDictionary

MAX_ENTRIES = 1_000
MAX_BYTES = 4 * 1024 * 1024
"""What goes together: Cassandra takes 16 MB in a mutation, and writes each down as a whole when it is proposed."""

Changes = Mapping[bytes, bytes | None]
"""What keys are to be; None is to be absent."""


class _Group:
    """Changes that go together. Of two of one key the later is made: it is as if the other had come just before."""

    def __init__(self) -> None:
        self.changes: dict[bytes, bytes | None] = {}
        self.size = 0
        self.written: asyncio.Task[None] | None = None

    def takes(self, changes: Changes) -> bool:
        return len(self.changes) + len(changes) <= MAX_ENTRIES and self.size + size_of(changes) <= MAX_BYTES

    def add(self, changes: Changes) -> None:
        self.changes |= changes
        self.size += size_of(changes)


class Lanes:
    """*write* makes all changes of a partition in one step."""

    def __init__(self, write: Callable[[bytes, Changes], Awaitable[None]]) -> None:
        self._write = write
        self._turns: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()
        self._waiting: dict[bytes, _Group] = {}
        self._under_way: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def turn(self, partition: bytes) -> AsyncIterator[None]:
        """The caller's turn on *partition*."""
        lock = self._turns.get(partition)
        if lock is None:
            lock = self._turns[partition] = asyncio.Lock()
        async with lock:
            yield

    async def write(self, partition: bytes, changes: Changes) -> None:
        """Make *changes*, perhaps together with others'. Whoever gives up waiting stops nobody else."""
        group = self._waiting.get(partition)
        if group is None or not group.takes(changes):
            group = self._waiting[partition] = _Group()
        group.add(changes)
        if group.written is None:
            group.written = asyncio.create_task(self._write_in_turn(partition, group))
            self._under_way.add(group.written)
            group.written.add_done_callback(self._forget)
        await asyncio.shield(group.written)

    async def aclose(self) -> None:
        """Wait for what was asked for."""
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _write_in_turn(self, partition: bytes, group: _Group) -> None:
        async with self.turn(partition):
            if self._waiting.get(partition) is group:
                del self._waiting[partition]
            await self._write(partition, group.changes)

    def _forget(self, written: asyncio.Task[None]) -> None:
        self._under_way.discard(written)
        if not written.cancelled():
            written.exception()  # whoever waits has it; if nobody does any more, nobody wants it


def size_of(changes: Changes) -> int:
    return sum(len(key) + len(value or b"") for key, value in changes.items())
