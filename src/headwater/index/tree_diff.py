"""Where two trees differ, segment pair by segment pair, in the order of keys. Equal segments are never read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import AsyncIterator, Sequence
from functools import partial

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.index.aside import aside
from headwater.index.comparing import Aligned, differing
from headwater.index.keys import after_key
from headwater.index.layers import nearest
from headwater.index.rows import Rows
from headwater.index.schema import NO_ROWS
from headwater.index.store import IndexStore
from headwater.index.tree import Tree


class Window(msgspec.Struct, frozen=True):
    """All differences between keys *start* and *reached*, both included."""

    start: str
    reached: str
    differences: Aligned


class TreeDiff:
    """The differences of two trees, whose segments are in *stores*, among keys before *stop*."""

    def __init__(self, stores: tuple[IndexStore, IndexStore], trees: tuple[Tree, Tree], stop: str | None) -> None:
        left, right = trees
        self._sides = (
            (stores[0], left, _not_in(right, left, stop)),
            (stores[1], right, _not_in(left, right, stop)),
        )

    async def windows(self, start: str) -> AsyncIterator[Window]:
        """Windows from *start* on, in order; between them nothing differs. Two segments are in memory at a time."""
        left, right = (_Unequal(*side, start) for side in self._sides)
        while (reached := nearest(await left.last(), await right.last())) is not None:
            ours, theirs = left.take(reached), right.take(reached)
            yield Window(start, reached, await aside(len(ours) + len(theirs), partial(differing, ours, theirs)))
            start = after_key(reached)


class _Unequal:
    """The rows of some segments of a tree, by position, from *start* on, to be taken in order."""

    def __init__(self, store: IndexStore, tree: Tree, positions: Sequence[int], start: str) -> None:
        self._store = store
        self._tree = tree
        self._positions = iter(positions[bisect_left(positions, tree.find(start)) :])
        self._start = start
        self._rows: Rows | None = None
        self._at = 0

    async def last(self) -> str | None:
        """The last key of the rows at hand, those of the next segment if there are none; None at the end."""
        if self._rows is None:
            position = next(self._positions, None)
            if position is None:
                return None
            self._rows = await self._store.rows(self._tree.segments[position])
            self._at = self._rows.position(self._start)
        return self._rows.last

    def take(self, reached: str) -> pa.RecordBatch:
        """The rows at hand up to and with *reached*."""
        if self._rows is None:
            return NO_ROWS
        start, self._at = self._at, self._rows.position(after_key(reached))
        taken = self._rows.batch.slice(start, self._at - start)
        if self._at == len(self._rows):
            self._rows = None
        return taken


def _not_in(other: Tree, tree: Tree, stop: str | None) -> list[int]:
    """The positions of the segments of *tree* that may have keys before *stop* and that *other* has not."""
    if tree.id == other.id:
        return []
    ours = tree.rows.column("segment").slice(0, len(tree) if stop is None else tree.find(stop) + 1)
    only_here = pc.invert(pc.is_in(ours, value_set=other.rows.column("segment")))
    positions: list[int] = pc.indices_nonzero(only_here).to_pylist()
    return positions
