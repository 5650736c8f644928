"""Staging a write: it is acknowledged only when the branch is seen to use the token that holds it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from headwater.kv import PredicateFailed, Set, Store
from headwater.outside import Outside
from headwater.refs.branches import Branches, Seen
from headwater.staging.certainty import certainty
from headwater.staging.limits import ONE_PIPELINE
from headwater.staging.tokens import partition_of
from headwater.staging.tries import tries


async def write(
    store: Store,
    branches: Branches,
    outside: Outside,
    name: str,
    values: Mapping[bytes, bytes],
    *,
    again: Mapping[bytes, bytes] | None = None,
) -> None:
    """Stage *values* on the branch *name*. When this returns, every read and commit that begins later sees them.

    A failure of the store is the caller's, not tried again here: a write of unknown outcome may land late, and done
    twice it could then hide what somebody else wrote in between. `StoreUnavailable` says that nothing was written.
    Where what is written may count but once, *again* is what is staged if some of it may be committed already.
    """
    what = f"writing to branch {name!r}"
    sent: list[str] = []
    with certainty(sent, what):
        seen = await branches.recent(name)
        async for _ in tries(outside, what):
            if len(values) > 1:  # a bulk that fails may have done a part
                sent.append(seen.branch.token)
            try:
                await stage(store, branches, seen, values)
            except PredicateFailed:
                seen = await branches.fresh(name)
                continue
            sent.append(seen.branch.token)
            now = await branches.fresh(name)
            if is_staged(seen, now):
                return
            seen, values = now, again or values


def is_staged(seen: Seen, now: Seen) -> bool:
    """Whether what was written by what *seen* says is where readers and committers look *now*.

    If the token was sealed meanwhile, whoever commits it may have looked before the write arrived; if it was dropped,
    nobody looks.
    """
    return seen.branch.token == now.branch.token


async def stage(store: Store, branches: Branches, seen: Seen, values: Mapping[bytes, bytes]) -> None:
    """Write *values* under the token of *seen*, after `dirty` is set: a reader believes a record that says clean."""
    partition = partition_of(seen.branch.token)
    if not seen.branch.dirty:
        dirty = msgspec.structs.replace(seen.branch, dirty=True)
        if len(values) <= ONE_PIPELINE:
            staged = [Set(partition, key, value) for key, value in values.items()]
            await branches.swap_among((), seen, dirty, after=staged)
            return
        await branches.swap(seen, dirty)
    if len(values) == 1:
        ((key, value),) = values.items()
        await store.set(partition, key, value)
    else:
        await store.set_many(partition, values)
