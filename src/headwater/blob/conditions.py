"""Does this store keep its word on conditional puts? Asked once, before anything is built on them.

There are S3 endpoints that ignore `If-Match` and answer 200, and some that honour it except under a race. On such a
store a compare-and-swap loses writes in silence; so it is found out by trying, and refused.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from headwater.blob.errors import (
    BlobError,
    BlobUnavailable,
    CannotOpen,
    ConditionFailed,
    NotSupported,
    OutcomeUnknown,
)
from headwater.blob.store import IF_ABSENT, BlobStore, Condition, IfMatch, Stored
from headwater.blob.threads import running_loop

ROUNDS = 4
RACERS = 8


async def conditions_hold(store: BlobStore, scratch_name: str) -> None:
    """Raise `CannotOpen` unless puts to *store* do as their conditions say, also in a small race.

    *scratch_name* is a name that nobody else uses; what is put there, and right below it in the order of names, is
    removed again. About 50 requests, in less than a dozen round trips of time. Without an event loop nothing can race
    in this process, and that part is left out.
    """
    try:
        await _try(store, scratch_name)
    except BlobError:
        with suppress(BlobError):  # the verdict counts for more than what lies about
            await _clean_up(store, scratch_name)
        raise
    await _clean_up(store, scratch_name)


async def _clean_up(store: BlobStore, name: str) -> None:
    await store.delete_many([name, f"{name}-absent", f"{name}-race"])


async def _try(store: BlobStore, name: str) -> None:
    try:
        await _try_one_by_one(store, name)
        if running_loop() is not None:
            for number in range(ROUNDS):
                await _race(store, f"{name}-race", number)
    except NotSupported as error:
        raise CannotOpen(f"{store!r} has no conditional puts: {error}") from None


async def _try_one_by_one(store: BlobStore, name: str) -> None:
    first = await _put(store, name, b"first", IF_ABSENT)
    if first is None:
        raise CannotOpen(f"{store!r}: {name} exists, or the store refuses to create what does not: try another name")
    if await _put(store, name, b"again", IF_ABSENT) is not None:
        raise _unfit(store, "it overwrote an object that was to be created only if absent (If-None-Match)")
    second = await _put(store, name, b"second", IfMatch(first.etag))
    if second is None:
        raise _unfit(store, "it refused an update that named the right ETag (If-Match)")
    if await _put(store, name, b"stale", IfMatch(first.etag)) is not None:
        raise _unfit(store, "it accepted an update that named a stale ETag (If-Match)")
    if await _put(store, f"{name}-absent", b"absent", IfMatch(second.etag)) is not None:
        raise _unfit(store, "it accepted an update of an object that does not exist (If-Match)")
    if await store.read(name) != b"second":
        raise _unfit(store, "it changed an object by a put that it refused")


async def _race(store: BlobStore, name: str, number: int) -> None:
    """Let all put under one condition: the creation first, and updates of the last winner's object after that."""
    now = await store.stat(name)
    condition = IF_ABSENT if now is None else IfMatch(now.etag)
    bodies = [b"round %d, racer %d" % (number, racer) for racer in range(RACERS)]
    ends = await asyncio.gather(*(_end(store, name, body, condition) for body in bodies))
    winners = [body for body, end in zip(bodies, ends, strict=True) if end is True]
    if len(winners) > 1 or (not winners and None not in ends):
        raise _unfit(store, f"of {RACERS} racing puts under one condition {len(winners)} succeeded")
    if winners and await store.read(name) != winners[0]:
        raise _unfit(store, "the put that succeeded in a race is not what is stored")


async def _end(store: BlobStore, name: str, body: bytes, condition: Condition) -> bool | None:
    """Whether the put won; None when the store does not say."""
    try:
        return await _put(store, name, body, condition) is not None
    except (OutcomeUnknown, BlobUnavailable):
        return None


async def _put(store: BlobStore, name: str, body: bytes, condition: Condition) -> Stored | None:
    try:
        return await store.put(name, body, condition=condition)
    except ConditionFailed:
        return None


def _unfit(store: BlobStore, what: str) -> BlobError:
    return CannotOpen(f"{store!r} is not safe to keep references in: {what}. Use one that honours conditional puts")
