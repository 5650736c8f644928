"""Clearing away, while a lake is in use, what was committed from where it was staged.

Whoever changes a repository cleans up after itself, and after those that crashed: nobody need think of it. A process
with an event loop does so beside its work, one without on the way of a commit, now and then.
"""

from __future__ import annotations

from contextlib import suppress

from headwater.errors import HeadwaterError
from headwater.kv import Store, StoreError
from headwater.outside import Outside
from headwater.refs.branches import Branches
from headwater.staging.cleaning import clean
from headwater.staging.limits import TIDY_AFTER, TIDY_AT_ONCE, TIDY_ROUNDS


class Tidying:
    """When this engine cleans up one repository: for some rounds after each time that it changed a branch."""

    def __init__(self, store: Store, partition: bytes, outside: Outside, branches: Branches) -> None:
        self._store = store
        self._partition = partition
        self._outside = outside
        self._branches = branches
        self._at: float | None = None
        self._swaps = 0
        self._rounds = 0

    async def round(self, *, most: int | None = None) -> None:
        """Clean up, if there may be something: of *most* entries, about. Called every `TIDY_AFTER` seconds.

        A failure of the store is no more than a delay: the next round, by whomever, does it.
        """
        self._at = self._outside.elapsed()
        if self._branches.swaps != self._swaps:
            self._swaps, self._rounds = self._branches.swaps, TIDY_ROUNDS
        if self._rounds:
            self._rounds -= 1
            with suppress(StoreError):
                await clean(self._store, self._partition, self._outside, most=most)

    async def now_and_then(self) -> None:
        """A round if it is time for one, but not so much that whoever waits for it would notice.

        It comes behind a commit that has landed, which nothing that is wrong elsewhere makes a failure.
        """
        if self._at is None or self._outside.elapsed() - self._at >= TIDY_AFTER:
            with suppress(HeadwaterError):
                await self.round(most=TIDY_AT_ONCE)
