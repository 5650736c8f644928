"""Branch records of one repository: read fresh or recently, and swapped."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from headwater.kv import ABSENT, Operation, Predicate, SetIf, Store
from headwater.outside import Outside
from headwater.refs.branch import Branch, decode, encode
from headwater.refs.errors import RefNotFound
from headwater.refs.limits import RECENT
from headwater.refs.shared_reads import SharedReads

PREFIX = b"branch/"


class Seen(msgspec.Struct, frozen=True):
    """A branch record as it was read, and when that read began."""

    name: str
    branch: Branch
    predicate: Predicate
    at: float


class Branches:
    """Every read of a branch record in this engine goes through here, so that reads at one time are shared."""

    def __init__(self, store: Store, partition: bytes, outside: Outside) -> None:
        self._store = store
        self._partition = partition
        self._outside = outside
        self._reads: SharedReads[str, Seen | None] = SharedReads(self._read)
        self._recent: dict[str, Seen] = {}
        self.swaps = 0
        """How often a record was changed from here, or may have been."""

    async def find(self, name: str) -> Seen | None:
        """The record of *name*, dropped ones included, as a read that began after this call answered."""
        if self._store.immediate:
            return await self._read(name)
        return await self._reads.get(name)

    async def fresh(self, name: str) -> Seen:
        """The record of the branch *name*, as a read that began after this call answered. Else `RefNotFound`."""
        return existing(name, await self.find(name))

    async def recent(self, name: str) -> Seen:
        """As `fresh`, or up to `RECENT` seconds old: for writers, who look again before they acknowledge.

        That a branch is not there is never believed: somebody may just have made it.
        """
        seen = self._recent.get(name)
        if seen is not None and not seen.branch.dropped and self._outside.elapsed() - seen.at <= RECENT:
            return seen
        return await self.fresh(name)

    async def swap(self, seen: Seen, branch: Branch) -> Seen:
        """Write *branch* if the record is as *seen*; else raise `PredicateFailed`."""
        at = self._outside.elapsed()
        self.swaps += 1
        try:
            predicate = await self._store.set_if(self._partition, key_of(seen.name), encode(branch), seen.predicate)
        except BaseException:
            self._recent.pop(seen.name, None)
            raise
        return self._remember(Seen(seen.name, branch, predicate, at))

    async def create(self, name: str, branch: Branch) -> Seen:
        """Write *branch* if there never was a record of *name*; else raise `PredicateFailed`."""
        return await self.swap(Seen(name, branch, ABSENT, 0.0), branch)

    async def swap_among(
        self, before: Sequence[Operation], seen: Seen, branch: Branch, after: Sequence[Operation] = ()
    ) -> None:
        """`swap` in one pipeline: what is to be done *before* in any case, and what *after* if it succeeds."""
        self._recent.pop(seen.name, None)
        self.swaps += 1
        swap = SetIf(self._partition, key_of(seen.name), encode(branch), seen.predicate)
        await self._store.pipeline([*before, swap, *after])

    async def _read(self, name: str) -> Seen | None:
        at = self._outside.elapsed()
        found = await self._store.get(self._partition, key_of(name))
        if found is None:
            return None
        return self._remember(Seen(name, decode(name, found.value), found.predicate, at))

    def _remember(self, seen: Seen) -> Seen:
        if len(self._recent) > 10_000:
            self._recent.clear()
        self._recent[seen.name] = seen
        return seen


def key_of(name: str) -> bytes:
    return PREFIX + name.encode()


def existing(name: str, seen: Seen | None) -> Seen:
    if seen is None or seen.branch.dropped:
        raise RefNotFound(f"there is no branch {name!r}")
    return seen
