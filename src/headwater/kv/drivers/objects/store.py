"""The store over an object store's conditional puts.

An object is a nonce of its own and the value. The nonce makes every write new content, and so, on stores whose ETag is
the hash of the content, a new ETag: the ETag is the predicate, and no A-B-A gets past it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from secrets import token_bytes, token_hex

from headwater import blob
from headwater.blob.conditions import conditions_hold
from headwater.drive import together
from headwater.kv.drivers.objects.names import directory_of, key_of, name_of
from headwater.kv.errors import (
    CannotOpen,
    LimitExceeded,
    PredicateFailed,
    SlowDown,
    StoreUnavailable,
    UnknownOutcome,
)
from headwater.kv.limits import PAGE
from headwater.kv.store import ABSENT, Entry, Page, Predicate, Store, Versioned
from headwater.location import Location

NONCE = 16
"""Bytes in front of each value: random, so that no two writes ever have the same content."""

LONGEST_BOUND = 700
"""Characters of a name that a listing starts after. Cut short it is still before the name, and fits any prefix."""


async def connect(location: Location) -> ObjectsStore:
    """Open the store, and refuse an endpoint that ignores conditions: two committers would overwrite each other."""
    try:
        objects = await blob.open_location(location)
        try:
            if location.scheme != "file":  # whose conditions are our own
                await conditions_hold(objects, f"conditions/{token_hex(8)}")
        except BaseException:
            await objects.aclose()
            raise
    except (blob.BlobUnavailable, blob.OutcomeUnknown) as error:  # nothing but the trial was written
        raise _unavailable(error) from error
    except blob.BlobError as error:
        raise CannotOpen(str(error)) from error
    return ObjectsStore(objects, lambda: token_bytes(NONCE))


class ObjectsStore(Store):
    """One request a key, reads and writes alike; bulk calls and scans send theirs side by side."""

    def __init__(self, objects: blob.BlobStore, nonce: Callable[[], bytes]) -> None:
        self._objects = objects
        self._nonce = nonce

    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        return await self._fetch(name_of(partition, key))

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        with _our_errors(retried_write=True):
            await self._objects.put(name_of(partition, key), self._nonce() + value)

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        condition = blob.IF_ABSENT if predicate is ABSENT else blob.IfMatch(str(predicate))
        try:
            with _our_errors():
                stored = await self._objects.put(name_of(partition, key), self._nonce() + value, condition=condition)
        except blob.ConditionFailed:
            raise PredicateFailed(partition, key) from None
        return Predicate(stored.etag)

    async def delete(self, partition: bytes, key: bytes) -> None:
        with _our_errors(retried_write=True):
            await self._objects.delete(name_of(partition, key))

    async def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        """A page is a request for the names and one for each value."""
        directory = directory_of(partition)
        if start and (first := await self.get(partition, start)) is not None:
            yield [Entry(start, first.value)]
        after = name_of(partition, start)[:LONGEST_BOUND] if start else ""
        with _our_errors():
            async for listed in self._objects.list(directory, start_after=after, page=page):
                names = [found.name for found in listed]
                values = await together([partial(self._fetch, name) for name in names])
                found = zip((key_of(name, partition) for name in names), values, strict=True)
                entries = [Entry(key, versioned.value) for key, versioned in found if versioned and key > start]
                if entries:
                    yield entries

    async def get_many(self, partition: bytes, keys: Sequence[bytes]) -> list[Versioned | None]:
        return await together([partial(self.get, partition, key) for key in keys])

    async def set_many(self, partition: bytes, values: Mapping[bytes, bytes]) -> None:
        await together([partial(self.set, partition, key, value) for key, value in values.items()])

    async def delete_many(self, partition: bytes, keys: Iterable[bytes]) -> None:
        with _our_errors(retried_write=True):
            await self._objects.delete_many([name_of(partition, key) for key in keys])

    async def aclose(self) -> None:
        await self._objects.aclose()

    async def _fetch(self, name: str) -> Versioned | None:
        try:
            with _our_errors():
                fetched = await self._objects.fetch(name)
        except blob.NotFound:
            return None
        return Versioned(fetched.body[NONCE:], Predicate(fetched.stat.etag))


@contextmanager
def _our_errors(*, retried_write: bool = False) -> Iterator[None]:
    """What the object store's errors mean here. A write that was tried several times may have been applied by one."""
    try:
        yield
    except (blob.BadName, blob.LimitExceeded) as error:
        raise LimitExceeded(str(error)) from error
    except blob.OutcomeUnknown as error:
        raise UnknownOutcome(str(error)) from error
    except blob.BlobUnavailable as error:
        if retried_write:
            raise UnknownOutcome(str(error)) from error
        raise _unavailable(error) from error
    except (blob.ConditionFailed, blob.NotFound):
        raise
    except blob.BlobError as error:  # no right, or a request that the endpoint does not take
        raise StoreUnavailable(str(error)) from error


def _unavailable(error: blob.BlobError) -> StoreUnavailable:
    return (SlowDown if isinstance(error, blob.SlowDown) else StoreUnavailable)(str(error))
