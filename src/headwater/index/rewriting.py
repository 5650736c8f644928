"""A new tree from an old one and edits: only the segments they touch are read and written.

The result is the very tree that writing all of the new content from scratch would give. A cut depends only on the rows
since the one before, so a rewritten run goes on, into segments that no edit touches, until one of its cuts falls on an
old one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.index.aside import aside
from headwater.index.joining import effective, lay_over, parts
from headwater.index.limits import KEPT_ON_WRITE, TOGETHER
from headwater.index.schema import NO_EDIT_ROWS, NO_ROWS
from headwater.index.store import IndexStore
from headwater.index.texts import Texts
from headwater.index.tree import Stripe, Tree


class Rewritten(msgspec.Struct, frozen=True):
    """The new tree, already written; and which of the edits changed anything, in pieces."""

    tree: Tree
    effective: list[pa.RecordBatch]


async def rewrite(
    store: IndexStore, tree: Tree, delta: pa.RecordBatch, edits: pa.RecordBatch = NO_EDIT_ROWS
) -> Rewritten:
    """*tree* with *delta* and then *edits* over it, each of `EDITS` and sorted by distinct keys.

    The delta is taken as it is: somebody has seen it already. Of the edits, those to the same content are dropped.
    """
    rewriting = _Rewriting(store, tree, delta, edits)
    await rewriting.run()
    return Rewritten(await rewriting.finished(), rewriting.effective)


class _Rewriting:
    """One rewrite under way. Its plan is the new tree so far: old segments by range, and new ones."""

    def __init__(self, store: IndexStore, tree: Tree, delta: pa.RecordBatch, edits: pa.RecordBatch) -> None:
        self._store = store
        self._tree = tree
        self._delta = _Pieces(tree, delta)
        self._edits = _Pieces(tree, edits)
        self._touched = sorted(self._delta.positions | self._edits.positions)
        self._pending = NO_ROWS
        self._plan: list[range | Stripe] = []
        self._unwritten: list[pa.RecordBatch] = []
        self._kept = len(edits) <= KEPT_ON_WRITE
        self.effective: list[pa.RecordBatch] = []

    async def run(self) -> None:
        position = 0
        for index, touched in enumerate(self._touched):
            if touched < position:
                continue
            await self._keep(range(position, touched))
            if index % TOGETHER == 0:
                await self._fetch(self._touched[index : index + TOGETHER])
            position = await self._renew(touched)
        await self._keep(range(position, len(self._tree)))

    async def finished(self) -> Tree:
        tree = self._tree.with_stripes(self._plan)
        if tree.id != self._tree.id:
            await self._store.put_tree(tree)
        return tree

    async def _renew(self, position: int) -> int:
        """Write anew from the segment at *position* on, until cuts fall together again. Returns where that is."""
        while True:
            rows = NO_ROWS
            if position < len(self._tree):
                rows = (await self._store.rows(self._tree.segments[position])).batch
            delta, edits = self._delta.at(position), self._edits.at(position)
            position += 1
            final = position >= len(self._tree)
            await aside(len(rows) + len(edits), partial(self._recut, rows, delta, edits, final=final))
            if len(self._unwritten) >= TOGETHER:
                await self._write()
            if final or len(self._pending) == 0:
                return position

    def _recut(self, rows: pa.RecordBatch, delta: pa.RecordBatch, edits: pa.RecordBatch, *, final: bool) -> None:
        """Edit the *rows* of a segment, and cut what was pending and them into segments and what is pending then."""
        if len(delta):
            rows = lay_over(rows, delta)
        if len(edits):
            changing = effective(rows, edits)
            edits = edits if pc.all(changing).as_py() else edits.filter(changing)
            rows = lay_over(rows, edits)
            self.effective.append(edits)
        rows = pa.concat_batches([self._pending, rows]) if len(self._pending) else rows
        start = 0
        for end in self._store.cutting.ends(rows, final=final):
            self._unwritten.append(rows.slice(start, end - start))
            start = end
        self._pending = rows.slice(start)

    async def _fetch(self, positions: Sequence[int]) -> None:
        """Have segments at hand that are needed next."""
        await self._store.many_rows([self._tree.segments[each] for each in positions if each < len(self._tree)])

    async def _keep(self, positions: range) -> None:
        await self._write()
        if positions:
            self._plan.append(positions)

    async def _write(self) -> None:
        unwritten, self._unwritten = self._unwritten, []
        self._plan += await self._store.put_segments(unwritten, keep=self._kept)


class _Pieces:
    """A batch of edits by the segments of a tree that they go to."""

    def __init__(self, tree: Tree, edits: pa.RecordBatch) -> None:
        self._edits = edits
        self._parts = {part.position: part for part in parts(tree, Texts(edits.column("key")))}
        self.positions = self._parts.keys()

    def at(self, position: int) -> pa.RecordBatch:
        """Those for the segment at *position*."""
        part = self._parts.get(position)
        return NO_EDIT_ROWS if part is None else self._edits.slice(part.start, part.end - part.start)
