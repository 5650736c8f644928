"""Clearing away what dropped tokens hold: off everybody's path, after the grace period, in batches."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.kv import Entry, Store
from headwater.outside import Outside
from headwater.refs.branch import Branch, decode
from headwater.refs.branches import key_of
from headwater.staging.limits import GRACE
from headwater.staging.tokens import DROPPED, LEAVING, dropped, dropped_at, partition_of


async def clean(store: Store, partition: bytes, outside: Outside, *, most: int | None = None) -> int:
    """Delete the entries of tokens found dropped longer than `GRACE` ago. Returns how many entries that were.

    About *most* of them, if that is told; the rest is left to the next call.

    The grace begins when a clean-up notices that a token was dropped, so no request that was slow on its way can
    shorten it, and no clock but that of who cleans up. A token is forgotten only when it is found empty, the next time:
    so what a belated writer left there is cleared away, too. A crash at any point leaves the rest to the next call,
    whoever makes it.
    """
    await _notice(store, partition, outside)
    deleted = 0
    async for page in store.scan(partition, DROPPED):
        due = [entry.key for entry in page if entry.key.startswith(DROPPED) and is_due(entry.key, outside.now())]
        for key in due:
            if most is not None and deleted >= most:
                return deleted
            found = await _empty(store, partition_of(dropped_at(key)[1]), None if most is None else most - deleted)
            deleted += found
            if not found:
                await store.delete(partition, key)
        if len(due) < len(page):
            break
    return deleted


def is_due(key: bytes, now: int) -> bool:
    """Whether a token may be cleaned up: the only guard that readers of a record that names it have."""
    return now - dropped_at(key)[0] > GRACE * 1000


def in_use(branch: Branch, token: str) -> bool:
    """Whether *branch* names *token*. Once it does not, it never will again."""
    return token == branch.token or token in branch.sealed


async def _notice(store: Store, partition: bytes, outside: Outside) -> None:
    """Write down when those tokens that were about to be dropped were first found to be."""
    async for page in store.scan(partition, LEAVING):
        listed = [entry for entry in page if entry.key.startswith(LEAVING)]
        records = await _records(store, partition, listed)
        for entry in listed:
            record, token = records[entry.value], entry.key.removeprefix(LEAVING).decode()
            if record is None or not in_use(record, token):
                await store.pipeline(dropped(partition, token, outside.now()))
        if len(listed) < len(page):
            return


async def _records(store: Store, partition: bytes, listed: Sequence[Entry]) -> dict[bytes, Branch | None]:
    """The branches of *listed* tokens, read after their tokens were: one listed later may be in use only since."""
    names = sorted({entry.value for entry in listed})
    found = await store.get_many(partition, [key_of(name.decode()) for name in names])
    return {
        name: None if record is None else decode(name.decode(), record.value)
        for name, record in zip(names, found, strict=True)
    }


async def _empty(store: Store, partition: bytes, most: int | None) -> int:
    found = 0
    async for page in store.scan(partition):
        await store.delete_many(partition, [entry.key for entry in page])
        found += len(page)
        if most is not None and found >= most:
            break
    return found
