"""One file out of two that grew from the same beginning: what the one side appended, and then what the other did."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from headwater.engine.block_lists import BlockLists
from headwater.engine.growth import Growth, mark_of
from headwater.engine.repository import Repository
from headwater.index import Conflict, Edit, Entry, Index, Kind, Merged, same_content
from headwater.index.schema import batch_of_edits


async def woven(lists: BlockLists, base: Entry | None, ours: Entry | None, theirs: Entry | None) -> Entry | None:
    """*ours* extended by what *theirs* has beyond *base*; None if not both did nothing but append since *base*.

    It reads lists of blocks, and no bytes of the file.
    """
    if ours is None or theirs is None or not ours.kind is theirs.kind is Kind.APPEND:
        return None
    if not await begins_with(lists, theirs, base) or not await holds(lists, ours, base):
        return None
    growth = Growth(ours)
    async for piece in lists.pieces(theirs.blocks, after=0 if base is None else base.size):
        growth.push(piece.block, theirs.modified)
    return await lists.rolled(growth.entry())


async def begins_with(lists: BlockLists, entry: Entry, base: Entry | None) -> bool:
    """Whether *entry* is *base*, or nothing, and what was appended to that."""
    if base is None or base.size == 0:
        return True
    return await lists.mark_at(entry.blocks, base.size) == mark_of(base)


async def holds(lists: BlockLists, entry: Entry, base: Entry | None) -> bool:
    """Whether *entry* has all the blocks of *base* in their order, and maybe others in between, as after a merge."""
    if base is None or await begins_with(lists, entry, base):
        return True
    wanted = lists.pieces(base.blocks)
    next_one = await anext(wanted, None)
    async for piece in lists.pieces(entry.blocks):
        if next_one is not None and piece.block == next_one.block:
            next_one = await anext(wanted, None)
    return next_one is None


async def weave_conflicts(repository: Repository, merged: Merged) -> Merged:
    """*merged* with those conflicts solved where both sides appended to one file: the destination's, then the source's.

    If there are more conflicts than are told, none is solved: they could not all be.
    """
    if merged.conflict_count > len(merged.conflicts):
        return merged
    solved: dict[str, Edit] = {}
    left: list[Conflict] = []
    for conflict in merged.conflicts:
        entry = await woven(repository.block_lists, conflict.base, conflict.destination, conflict.source)
        if entry is None:
            left.append(conflict)
        else:
            solved[conflict.key] = entry
    return Merged(with_edits(merged.edits, solved), left, len(left))


async def weave_all(
    repository: Repository, edits: pa.RecordBatch, before: Index, source: Index, onto: Index
) -> pa.RecordBatch:
    """*edits*, which bring what *source* changed since *before* to *onto*, with appends on top of what *onto* appended.

    Without this the growing files of *source* would take the place of those that grew otherwise meanwhile.
    """
    growing: list[str] = edits.column("key").filter(pc.equal(edits.column("kind"), str(Kind.APPEND))).to_pylist()
    sides = zip(
        growing,
        await before.get_many(growing),
        await source.get_many(growing),
        await onto.get_many(growing),
        strict=True,
    )
    solved: dict[str, Edit] = {}
    for key, base, theirs, ours in sides:
        if not same_content(base, ours):
            entry = await woven(repository.block_lists, base, ours, theirs)
            if entry is not None:
                solved[key] = entry
    return with_edits(edits, solved)


def with_edits(edits: pa.RecordBatch, others: Mapping[str, Edit]) -> pa.RecordBatch:
    """*edits*, sorted by key, with *others* in the place of those at the same keys, or beside them."""
    if not others:
        return edits
    more = batch_of_edits(others)
    kept = edits.filter(pc.invert(pc.is_in(edits.column("key"), value_set=more.column("key"))))
    together = pa.concat_batches([kept, more])
    return together.take(pc.sort_indices(together.column("key")))
