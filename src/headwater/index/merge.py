"""Three-way merge: what the source changed since the base, as edits to make at the destination; and where both did.

It costs the diff of base and source, and a look at the destination for each key of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from itertools import islice

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.index.aside import aside
from headwater.index.comparing import Aligned, same_rows
from headwater.index.diff import diff_batches
from headwater.index.entry import Entry
from headwater.index.index import Index
from headwater.index.joining import as_edits
from headwater.index.limits import MAX_CONFLICTS
from headwater.index.schema import NO_EDIT_ROWS, entries_at


class Strategy(StrEnum):
    """Who wins where source and destination changed the same key to different content."""

    REPORT = "report"
    SOURCE_WINS = "source-wins"
    DEST_WINS = "dest-wins"


class Behaviour(StrEnum):
    """What is done with the source's changes under a prefix."""

    NORMAL = "normal"
    FORCE = "force"
    DROP = "drop"


class Conflict(msgspec.Struct, frozen=True):
    """A key that source and destination both changed since the base, to different content."""

    key: str
    base: Entry | None
    source: Entry | None
    destination: Entry | None


class Merged(msgspec.Struct, frozen=True):
    """What to `apply` at the destination, a batch of `EDITS`; and the conflicts, all counted, the first ones told."""

    edits: pa.RecordBatch
    conflicts: list[Conflict]
    conflict_count: int


async def merge(
    base: Index,
    source: Index,
    destination: Index,
    *,
    strategy: Strategy = Strategy.REPORT,
    prefixes: Mapping[str, Behaviour] | None = None,
) -> Merged:
    """The edits that bring to *destination* what *source* changed since *base*.

    Where the destination changed a key as well, *strategy* decides, unless both made it the same content. Of
    *prefixes*, the longest that a key begins with says what to do with the source's change: take it whatever the
    destination did, drop it, or the normal thing.
    """
    merging = _Merging(strategy, prefixes or {})
    async for changes in diff_batches(base, source):
        there = await destination.rows(changes.keys)
        await aside(len(changes), partial(merging.add, changes, there))
    return merging.merged()


class _Merging:
    def __init__(self, strategy: Strategy, prefixes: Mapping[str, Behaviour]) -> None:
        self._strategy = strategy
        self._prefixes = sorted(prefixes.items(), key=lambda item: len(item[0]))
        self._edits: list[pa.RecordBatch] = []
        self._conflicts: list[Conflict] = []
        self._conflict_count = 0

    def add(self, changes: Aligned, there: pa.RecordBatch) -> None:
        """Sort out what the source changed, given the rows *there*, at the destination, for the same keys."""
        behaviour = self._behaviour(changes.keys)
        wanted = pc.and_(pc.not_equal(behaviour, Behaviour.DROP), pc.invert(same_rows(there, changes.right)))
        forced = pc.equal(behaviour, Behaviour.FORCE)
        untouched = same_rows(there, changes.left)
        contested = pc.and_(wanted, pc.invert(pc.or_(forced, untouched)))
        taken = pc.and_(wanted, pc.invert(contested))
        if self._strategy == Strategy.SOURCE_WINS:
            taken = wanted
        elif self._strategy == Strategy.REPORT:
            self._report(changes.filter(contested), there.filter(contested))
        taking = changes.filter(taken)
        self._edits.append(as_edits(taking.keys, taking.right))

    def merged(self) -> Merged:
        edits = pa.concat_batches(self._edits) if self._edits else NO_EDIT_ROWS
        return Merged(edits.take(pc.sort_indices(edits.column("key"))), self._conflicts, self._conflict_count)

    def _behaviour(self, keys: pa.Array) -> pa.Array:
        """For each of *keys*, what the longest prefix says that it begins with."""
        behaviour = pa.repeat(str(Behaviour.NORMAL), len(keys))
        for prefix, says in self._prefixes:
            behaviour = pc.if_else(pc.starts_with(keys, prefix), str(says), behaviour)
        return behaviour

    def _report(self, contested: Aligned, there: pa.RecordBatch) -> None:
        self._conflict_count += len(contested)
        told = [contested.keys.to_pylist(), *map(entries_at, (contested.left, contested.right, there))]
        self._conflicts += [Conflict(*sides) for sides in islice(zip(*told, strict=True), MAX_CONFLICTS)]
        self._conflicts = sorted(self._conflicts, key=lambda conflict: conflict.key)[:MAX_CONFLICTS]
