"""An installation in memory, with a clock that stands still and randomness that repeats."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from itertools import count

from headwater.auth import Auth, Credential, Group, Policy, Statement, User
from headwater.kv import Page, Predicate, Store, UnknownOutcome, Versioned
from headwater.kv.drivers.memory import MemoryStore
from headwater.kv.limits import PAGE
from headwater.outside import Outside
from headwater.testing.counting import CountingStore

SECRET = b"the secret of the server of tests"
HERE = "192.0.2.1"
PARTITION = b"auth"


class Time:
    """Both clocks, which only tests move."""

    def __init__(self) -> None:
        self.seconds = 1_700_000_000.0

    def outside(self, seed: str) -> Outside:
        numbers = count()

        def random(size: int) -> bytes:
            return hashlib.shake_128(f"{seed} {next(numbers)}".encode()).digest(size)

        async def sleep(seconds: float) -> None:
            self.seconds += seconds

        return Outside(now=lambda: int(self.seconds * 1000), elapsed=lambda: self.seconds, random=random, sleep=sleep)


class World:
    """One store, and any number of processes that serve from it."""

    def __init__(self) -> None:
        self.time = Time()
        self.memory = MemoryStore()
        self.store = CountingStore(self.memory)
        self.auth = self.process("first")

    def process(self, seed: str, secret: bytes = SECRET, store: Store | None = None) -> Auth:
        return Auth(store or self.store, secret, self.time.outside(seed))

    async def keys(self) -> list[str]:
        return [key async for key in self._keys()]

    async def _keys(self) -> AsyncIterator[str]:
        async for page in self.memory.scan(PARTITION):
            for entry in page:
                yield entry.key.decode()

    async def everything(self) -> bytes:
        """All that is stored, in one."""
        return b"\n".join(
            [entry.key + b" " + entry.value async for page in self.memory.scan(PARTITION) for entry in page]
        )


class DyingStore(Store):
    """*inner* for a client that dies after so many writes."""

    def __init__(self, inner: Store, writes: int) -> None:
        self._inner = inner
        self._left = writes

    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        return await self._inner.get(partition, key)

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        self._live()
        await self._inner.set(partition, key, value)

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        self._live()
        return await self._inner.set_if(partition, key, value, predicate)

    async def delete(self, partition: bytes, key: bytes) -> None:
        self._live()
        await self._inner.delete(partition, key)

    def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        return self._inner.scan(partition, start, page=page)

    def _live(self) -> None:
        if self._left == 0:
            raise UnknownOutcome("the client died")
        self._left -= 1


def allow(*actions: str, on: str = "*") -> Statement:
    return Statement("allow", actions, on)


def deny(*actions: str, on: str = "*") -> Statement:
    return Statement("deny", actions, on)


def ids(page: tuple[User, ...] | tuple[Group, ...] | tuple[Policy, ...]) -> list[str]:
    return [each.id for each in page]


def key_ids(page: tuple[Credential, ...]) -> list[str]:
    return [each.access_key_id for each in page]
