"""The narrow waist: everything mutable that Headwater keeps, it keeps in a `Store`.

Five operations on (partition, key) -> value, and nothing else, so that almost any database can be one. What a store
must promise, and what it need not, is in `docs/kv.md`; `headwater.testing.KVStoreSuite` checks it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import NewType, Self, TypeAlias

import msgspec

from headwater.kv.errors import StoreUnavailable, UnknownOutcome
from headwater.kv.limits import PAGE

Predicate = NewType("Predicate", object)
"""What a value was when it was read. Opaque: only the store that made it can tell if it still holds."""


class _Absent:
    """The type of `ABSENT`, so that it shows its name."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Predicate(_Absent())
"""The predicate that holds while there is no such key."""


class Versioned(msgspec.Struct, frozen=True, gc=False):
    """A value, and the predicate that holds until somebody writes the key again, be it the same value."""

    value: bytes
    predicate: Predicate


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One key of a scan. It carries no predicate: who wants to change it reads it first."""

    key: bytes
    value: bytes


Page: TypeAlias = Sequence[Entry]
"""Some consecutive entries of a scan: at least one, at most as many as were asked for."""


class Set(msgspec.Struct, frozen=True):
    """In a pipeline: what `Store.set` does."""

    partition: bytes
    key: bytes
    value: bytes


class SetIf(msgspec.Struct, frozen=True):
    """In a pipeline: what `Store.set_if` does."""

    partition: bytes
    key: bytes
    value: bytes
    predicate: Predicate


class Delete(msgspec.Struct, frozen=True):
    """In a pipeline: what `Store.delete` does."""

    partition: bytes
    key: bytes


Operation: TypeAlias = Set | SetIf | Delete


class Store(ABC):
    """A map from (partition, key) to a value, each read, written and compared on its own.

    What every store promises: a read sees every write that finished before the read began, by whichever client; scans
    run in ascending byte order, for any bytes; a write that failed with anything but `PredicateFailed`,
    `LimitExceeded` or `StoreUnavailable` may still show, now or later. What none promises: anything about two keys
    together.

    A driver implements the five abstract methods and, where its database can do better than one by one, the bulk
    ones: round trips are the cost. Limits and tenants are not a driver's concern: `headwater.kv.open` puts one `Gate`
    before them all.
    """

    immediate: bool = False
    """Whether reads never suspend, as in an embedded store: then sharing one among several callers gains nothing."""

    @abstractmethod
    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        """The value of *key*, or None. Sees every write that finished before this call began."""

    @abstractmethod
    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        """Write *value*, whatever was there. Durable, as the store was opened, when this returns."""

    @abstractmethod
    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        """Write *value* if *key* is still as it was when *predicate* was read; else raise `PredicateFailed`.

        Returns the predicate of what was written, so that the next step of a protocol needs no read. Of several callers
        that hold the same predicate, one succeeds; a predicate from before a delete and recreate fails, even when the
        value is the same again. When the call fails in any other way, see `UnknownOutcome`.
        """

    @abstractmethod
    async def delete(self, partition: bytes, key: bytes) -> None:
        """Remove *key*. Content when it is not there."""

    @abstractmethod
    def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        """Entries of one partition in ascending byte order, from *start* (inclusive) on, in pages of at most *page*.

        An entry written meanwhile may or may not show; one that was there all along shows once. Nothing is promised
        about two entries together, and nothing is held between pages: a scan may be dropped at any time.
        """

    async def get_many(self, partition: bytes, keys: Sequence[bytes]) -> list[Versioned | None]:
        """What `get` answers for each of *keys*, in their order. Each is read on its own, at no common moment."""
        return [await self.get(partition, key) for key in keys]

    async def set_many(self, partition: bytes, values: Mapping[bytes, bytes]) -> None:
        """`set` each, in no order. When this fails, any of them may have been written."""
        for key, value in values.items():
            await self.set(partition, key, value)

    async def delete_many(self, partition: bytes, keys: Iterable[bytes]) -> None:
        """`delete` each, in no order. When this fails, any of them may have been deleted."""
        for key in keys:
            await self.delete(partition, key)

    async def pipeline(self, operations: Sequence[Operation]) -> None:
        """Run *operations* in order, none visible before the one ahead of it is durable; stop at the first that fails.

        What ran before the failing one stays: a pipeline saves round trips and is never a transaction to its caller,
        even on databases that run it as one. `PredicateFailed` and `LimitExceeded` speak of the operation that they
        name; `StoreUnavailable` is raised only if nothing of the pipeline was written.
        """
        for position, operation in enumerate(operations):
            with after(position, operations):
                await run(self, operation)

    async def aclose(self) -> None:  # noqa: B027  (many stores hold nothing)
        """Let go of connections, files and threads. What is called later raises `StoreUnavailable`."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


@contextmanager
def after(done: int, operations: Sequence[Operation]) -> Iterator[None]:
    """For drivers: go on with a pipeline of which *done* operations are written.

    That the rest could not be written does not mean that nothing was.
    """
    try:
        yield
    except StoreUnavailable as error:
        if done == 0:
            raise
        raise UnknownOutcome(f"{done} of {len(operations)} operations were done, then: {error}") from error


async def run(store: Store, operation: Operation) -> None:
    """Do one operation of a pipeline as a call of its own."""
    match operation:
        case Set(partition, key, value):
            await store.set(partition, key, value)
        case SetIf(partition, key, value, predicate):
            await store.set_if(partition, key, value, predicate)
        case Delete(partition, key):
            await store.delete(partition, key)
