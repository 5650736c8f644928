"""What is different between two indexes, in the order of keys.

Where the trees are equal only the deltas are compared, and where segments are equal they are never read: the cost is
that of the changes, whatever the size.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Literal

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.index.comparing import Aligned
from headwater.index.entry import TOMBSTONE, Entry, same_content
from headwater.index.index import Index
from headwater.index.joining import as_side
from headwater.index.keys import after_key, after_prefix
from headwater.index.layers import Layer, Span, nearest, read_all, read_through
from headwater.index.limits import PAGE
from headwater.index.paging import CommonPrefix, read_page
from headwater.index.schema import batch_of_edits, entries_at
from headwater.index.tree_diff import TreeDiff, Window


class Change(msgspec.Struct, frozen=True):
    """A key that is not the same content on both sides, and what it is on each."""

    key: str
    left: Entry | None
    right: Entry | None

    @property
    def type(self) -> Literal["added", "removed", "changed"]:
        """What happened on the way from left to right."""
        if self.left is None:
            return "added"
        return "removed" if self.right is None else "changed"


async def diff(
    left: Index, right: Index, *, prefix: str = "", delimiter: str = "", after: str = "", amount: int = PAGE
) -> list[Change | CommonPrefix]:
    """The first *amount* changes under *prefix* whose keys are greater than *after*; fewer if there are no more.

    With *delimiter*, changes that have it after *prefix* are rolled up into one `CommonPrefix`, in one order.
    """
    sides = await _Sides.of(left, right, after_prefix(prefix))
    read = partial(read_all, sides.read)
    return await read_page(read, prefix=prefix, delimiter=delimiter, after=after, amount=amount)


async def diff_overlays(
    index: Index,
    overlays: Sequence[Layer],
    *,
    prefix: str = "",
    delimiter: str = "",
    after: str = "",
    amount: int = PAGE,
) -> list[Change | CommonPrefix]:
    """Like `diff`: what *overlays*, newest first, change when they are laid over *index*."""

    async def read_some(start: str, amount: int) -> Span[Change]:
        span = await read_through(overlays, start, amount)
        before = await index.get_many([key for key, _ in span.items])
        changes = [
            Change(key, entry, edit if isinstance(edit, Entry) else None)
            for (key, edit), entry in zip(span.items, before, strict=True)
        ]
        return Span(_real(changes), span.reached)

    read = partial(read_all, read_some)
    return await read_page(read, prefix=prefix, delimiter=delimiter, after=after, amount=amount)


async def diff_batches(left: Index, right: Index) -> AsyncIterator[Aligned]:
    """All changes as batches: sorted within each, in no order between them. For what reads very many."""
    sides = await _Sides.of(left, right, None)
    async for window in sides.windows(""):
        if len(window.differences):
            yield window.differences
    changes = (await sides.delta_changes("", len(sides.keys) + 1)).items
    if changes:
        yield _aligned(changes)


class _Sides:
    """Two indexes being compared: key by key where a delta has something to say, elsewhere by the trees."""

    def __init__(self, left: Index, right: Index, trees: TreeDiff) -> None:
        self._left = left
        self._right = right
        self._trees = trees
        known = left.delta.keys() | right.delta.keys()
        self.keys = sorted(key for key in known if left.delta.get(key) != right.delta.get(key))
        self._known = pa.array(sorted(known), pa.string())
        self._last: Window | None = None

    @classmethod
    async def of(cls, left: Index, right: Index, stop: str | None) -> _Sides:
        trees = await left.tree(), await right.tree()
        return cls(left, right, TreeDiff((left.store, right.store), trees, stop))

    async def read(self, start: str, amount: int) -> Span[Change]:
        """Some of the changes from *start* on."""
        told = await self.delta_changes(start, amount)
        found = await self._tree_changes(start, amount)
        reached = nearest(told.reached, found.reached)
        changes = [change for change in told.items + found.items if reached is None or change.key <= reached]
        return Span(sorted(changes, key=lambda change: change.key), reached)

    async def delta_changes(self, start: str, amount: int) -> Span[Change]:
        """Those at the first *amount* keys, from *start* on, of which the deltas tell different things."""
        first = bisect_left(self.keys, start)
        keys = self.keys[first : first + amount]
        left, right = await self._left.get_many(keys), await self._right.get_many(keys)
        changes = [Change(*sides) for sides in zip(keys, left, right, strict=True)]
        return Span(_real(changes), keys[-1] if first + amount < len(self.keys) else None)

    async def windows(self, start: str) -> AsyncIterator[Window]:
        """Where the trees differ, from *start* on, in keys that no delta knows. The last is kept for the next call."""
        if self._last is not None and self._last.start <= start <= self._last.reached:
            yield self._last
            start = after_key(self._last.reached)
        async for window in self._trees.windows(start):
            differences = window.differences
            if len(self._known):
                differences = differences.filter(pc.invert(pc.is_in(differences.keys, value_set=self._known)))
            self._last = Window(window.start, window.reached, differences)
            yield self._last

    async def _tree_changes(self, start: str, amount: int) -> Span[Change]:
        changes: list[Change] = []
        async for window in self.windows(start):
            some = window.differences.beginning(start, amount - len(changes))
            changes += _changes(some)
            if len(changes) >= amount:
                return Span(changes, changes[-1].key)
        return Span(changes, None)


def _real(changes: list[Change]) -> list[Change]:
    return [change for change in changes if not same_content(change.left, change.right)]


def _changes(aligned: Aligned) -> list[Change]:
    left, right = entries_at(aligned.left), entries_at(aligned.right)
    return [Change(*sides) for sides in zip(aligned.keys.to_pylist(), left, right, strict=True)]


def _aligned(changes: Sequence[Change]) -> Aligned:
    left = batch_of_edits({change.key: change.left or TOMBSTONE for change in changes})
    right = batch_of_edits({change.key: change.right or TOMBSTONE for change in changes})
    return Aligned(left.column("key"), as_side(left), as_side(right))
