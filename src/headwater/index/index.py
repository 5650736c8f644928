"""The index of one commit, as a view that never changes: a tree of segments, and the delta of changes since."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import AsyncIterator, Sequence
from functools import cached_property, partial

import msgspec
import pyarrow as pa

from headwater.index.aside import aside
from headwater.index.comparing import absent_rows
from headwater.index.delta import NO_LINES, Lines, decode_inherited, decode_own
from headwater.index.edits import NO_EDITS, Edits
from headwater.index.entry import TOMBSTONE, Edit, Entry
from headwater.index.joining import as_side, lay_over, lay_over_side, parts, rows_at
from headwater.index.keys import after_prefix
from headwater.index.layers import Layer
from headwater.index.limits import BULK, PAGE
from headwater.index.listing import read_listing
from headwater.index.paging import CommonPrefix
from headwater.index.rows import Rows
from headwater.index.runs import Listing, Run
from headwater.index.schema import NO_ROWS, batch_of_edits
from headwater.index.store import IndexStore
from headwater.index.texts import Texts
from headwater.index.tree import Tree


class IndexRecord(msgspec.Struct, frozen=True):
    """What a commit has to keep of its index: all small, and bytes that it need not understand.

    *own* is what it changed itself, or None if that is too much: then it is in the tree, and known by a diff with the
    first parent. *inherited* is wanted for lookups only and kept apart. *own_in_tree* says that the tree was made by
    this very commit.
    """

    tree: str | None = None
    own: bytes | None = b""
    own_count: int = 0
    own_in_tree: bool = False
    inherited: bytes = b""


EMPTY = IndexRecord()
"""The index of nothing."""


class Index:
    """Sorted keys and their entries, as of one commit. *of* names the commit in errors.

    Who has just made *record* tells what it was *made_of*, the delta and the inherited lines: so the next commit need
    neither decode nor encode what stays the same.
    """

    def __init__(
        self,
        store: IndexStore,
        record: IndexRecord = EMPTY,
        *,
        of: str = "an index",
        made_of: tuple[Edits, Lines] | None = None,
    ) -> None:
        self.store = store
        self.record = record
        self._of = of
        self.lines = NO_LINES
        if made_of is not None:
            self.delta, self.lines = made_of

    @cached_property
    def own(self) -> Edits | None:
        """What the commit changed itself; None if that is too much to tell without a diff."""
        return None if self.record.own is None else decode_own(self.record.own, of=f"the delta of {self._of}")

    @cached_property
    def delta(self) -> Edits:
        """All that is to be laid over the tree."""
        inherited = decode_inherited(self.record.inherited, of=f"the inherited delta of {self._of}")
        return inherited if self.record.own_in_tree else (self.own or NO_EDITS).over(inherited)

    async def tree(self) -> Tree:
        """The segments below the delta."""
        return await self.store.tree(self.record.tree)

    async def get(self, key: str) -> Entry | None:
        """The entry of *key*."""
        edit = self.delta.get(key)
        if edit is not None:
            return edit if isinstance(edit, Entry) else None
        tree = await self.tree()
        position = tree.find(key)
        if position == len(tree) or key < tree.firsts[position]:
            return None
        return (await self.store.rows(tree.segments[position])).get(key)

    async def get_many(self, keys: Sequence[str]) -> list[Entry | None]:
        """What `get` answers for each of *keys*; segments that are not at hand are fetched side by side."""
        tree = await self.tree()
        positions = [tree.find(key) if key not in self.delta else len(tree) for key in keys]
        wanted = sorted({position for position in positions if position < len(tree)})
        rows = dict(zip(wanted, await self.store.many_rows([tree.segments[each] for each in wanted]), strict=True))
        entries: list[Entry | None] = []
        for key, position in zip(keys, positions, strict=True):
            edit = rows[position].get(key) if position in rows else self.delta.get(key)
            entries.append(edit if isinstance(edit, Entry) else None)
        return entries

    async def rows(self, keys: pa.Array) -> pa.RecordBatch:
        """The rows of sorted *keys*, in their places: null all over where there is none. For very many keys."""
        if len(keys) <= BULK:
            names = keys.to_pylist()
            entries = zip(names, await self.get_many(names), strict=True)
            return as_side(batch_of_edits({key: entry or TOMBSTONE for key, entry in entries}))
        tree, texts = await self.tree(), Texts(keys)
        found = [absent_rows(0)]
        for part in parts(tree, texts):
            rows = await self.store.rows(tree.segments[part.position]) if len(tree) else Rows(NO_ROWS)
            some = keys.slice(part.start, part.end - part.start)
            found.append(await aside(len(some), partial(rows_at, rows, some)))
        return lay_over_side(keys, pa.concat_batches(found), batch_of_edits(self.delta))

    async def entries(
        self, *, prefix: str = "", after: str = "", amount: int = PAGE, overlays: Sequence[Layer] = ()
    ) -> list[Entry]:
        """The first *amount* entries under *prefix* whose keys are greater than *after*; fewer if there are no more.

        *overlays*, newest first, are laid over this index: what is staged, say.
        """
        page = await self.list(prefix=prefix, after=after, amount=amount, overlays=overlays)
        return [item for item in page if isinstance(item, Entry)]

    async def list(
        self,
        *,
        prefix: str = "",
        delimiter: str = "",
        after: str = "",
        amount: int = PAGE,
        overlays: Sequence[Layer] = (),
    ) -> list[Entry | CommonPrefix]:
        """Like `entries`; what has *delimiter* after *prefix* is rolled up into one `CommonPrefix`, in one order.

        What is rolled up is sought past: it costs the same whether it is one entry or a million.
        """
        page = await self.listing(prefix=prefix, delimiter=delimiter, after=after, amount=amount, overlays=overlays)
        return page.items()

    async def listing(
        self,
        *,
        prefix: str = "",
        delimiter: str = "",
        after: str = "",
        amount: int = PAGE,
        overlays: Sequence[Layer] = (),
    ) -> Listing:
        """What `list` gives, in pieces of which no entry has been made."""
        below = TreeRuns(self.store, await self.tree())
        layers = [*overlays, self.delta]
        return await read_listing(layers, below, prefix=prefix, delimiter=delimiter, after=after, amount=amount)

    async def read(self, start: str, amount: int) -> Sequence[tuple[str, Edit]]:
        """This index as a `Layer`."""
        found: list[tuple[str, Edit]] = []
        first = await self.get(start) if start else None
        if first is not None:
            found.append((start, first))
        return found + [(entry.key, entry) for entry in await self.entries(after=start, amount=amount)]

    async def batches(self, prefix: str = "") -> AsyncIterator[pa.RecordBatch]:
        """All entries under *prefix*, in order, as Arrow batches of `SCHEMA`: for what reads very many."""
        tree = await self.tree()
        stop = after_prefix(prefix)
        edits = Edits({key: edit for key, edit in self.delta.items() if key.startswith(prefix)})
        positions = range(tree.find(prefix), len(tree) if stop is None else min(tree.find(stop) + 1, len(tree)))
        start = 0
        for position in positions:
            rows = await self.store.rows(tree.segments[position])
            end = len(rows) if stop is None else rows.position(stop)
            last = position == positions[-1]
            until = len(edits) if last else bisect_right(edits.sorted_keys, tree.lasts[position])
            batch = rows.batch.slice(rows.position(prefix), max(0, end - rows.position(prefix)))
            yield _patched(batch, edits, start, until)
            start = until
        if not positions:
            yield _patched(NO_ROWS, edits, 0, len(edits))


def _patched(rows: pa.RecordBatch, edits: Edits, start: int, end: int) -> pa.RecordBatch:
    if start == end:
        return rows
    return lay_over(rows, batch_of_edits({key: edits[key] for key in edits.sorted_keys[start:end]}))


class TreeRuns:
    """The entries of a tree, as `Runs`."""

    def __init__(self, store: IndexStore, tree: Tree) -> None:
        self._store = store
        self._tree = tree

    async def run(self, start: str, stop: str | None) -> tuple[Run, str | None]:
        """What one segment has: the first that can have something."""
        tree = self._tree
        position = tree.find(start)
        if position == len(tree) or (stop is not None and tree.firsts[position] >= stop):
            return NO_RUN, None
        segment, last = tree.segments[position], tree.lasts[position]
        rows = await self._store.rows(segment)
        is_last = position + 1 == len(tree) or (stop is not None and stop <= last)
        end = len(rows) if stop is None or last < stop else rows.position(stop)
        return Run(segment, rows, rows.position(start), end), None if is_last else last


NO_RUN = Run("", Rows(NO_ROWS), 0, 0)
