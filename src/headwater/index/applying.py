"""The index of a new commit: that of its parent, with edits applied. What changes nothing is dropped."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from headwater.index.delta import encode_own, inherited_lines, joined
from headwater.index.edits import Edits
from headwater.index.entry import Edit, Entry, same_content
from headwater.index.errors import LimitExceeded, OutOfOrder
from headwater.index.index import Index, IndexRecord
from headwater.index.limits import BULK, MAX_BULK, MAX_DELTA, MAX_KEY
from headwater.index.rewriting import rewrite
from headwater.index.schema import EDITS, batch_of_edits, edits_of
from headwater.index.segment import is_sorted


async def relocate(parent: Index, entries: Mapping[str, Entry]) -> Index:
    """The index of a commit on *parent* in which the bytes of some entries lie elsewhere, and nothing else is new.

    To `apply` that would be no change. *entries* are few, and the same content as those that they replace.
    """
    before = await parent.get_many(list(entries))
    for (key, entry), there in zip(entries.items(), before, strict=True):
        if not same_content(entry, there):
            raise OutOfOrder(f"{key!r} cannot be relocated: there is another content by now")
    return await _with_own(parent, dict(entries))


async def apply(parent: Index, edits: Mapping[str, Edit] | pa.RecordBatch) -> Index:
    """The index of a commit on *parent* that makes *edits*, with new segments and tree, if any, durably written.

    Large edits come as a batch of `EDITS`, sorted by distinct keys. Deleting an absent key and writing the committed
    content again are no changes: `record.own_count` tells how many are left, and may be 0.
    """
    if isinstance(edits, pa.RecordBatch):
        check_edits(edits)
    if len(edits) <= BULK:
        return await _apply_few(parent, edits_of(edits) if isinstance(edits, pa.RecordBatch) else edits)
    return await _apply_bulk(parent, edits if isinstance(edits, pa.RecordBatch) else batch_of_edits(Edits(edits)))


def check_edits(edits: pa.RecordBatch) -> None:
    """Raise unless *edits* are as `apply` takes them: columns, order, limits."""
    if not edits.schema.equals(EDITS):
        raise OutOfOrder(
            f"the columns of edits are {', '.join(EDITS.names)}, with their types, not {edits.schema.names}"
        )
    if len(edits) > MAX_BULK:
        raise LimitExceeded(f"{len(edits)} edits at once; {MAX_BULK} at most: apply them in several steps")
    keys = edits.column("key")
    if not is_sorted(keys):
        raise OutOfOrder("the keys of edits are to be sorted and distinct: sort them, and keep the last of equal ones")
    sizes = pc.min_max(pc.binary_length(keys)).as_py()
    if len(edits) and not 1 <= sizes["min"] <= sizes["max"] <= MAX_KEY:
        raise LimitExceeded(f"keys have {sizes['min']} to {sizes['max']} bytes; they must have 1 to {MAX_KEY}")


async def _apply_few(parent: Index, edits: Mapping[str, Edit]) -> Index:
    before = await parent.get_many(list(edits))
    own = {
        key: edit
        for (key, edit), entry in zip(edits.items(), before, strict=True)
        if not same_content(entry, edit if isinstance(edit, Entry) else None)
    }
    return await _with_own(parent, own)


async def _with_own(parent: Index, own: Mapping[str, Edit]) -> Index:
    encoded = encode_own(own)
    lines = inherited_lines(parent.delta.without(own), parent.lines)
    inherited = joined(lines)
    if len(encoded) + len(inherited) <= MAX_DELTA:
        record = IndexRecord(parent.record.tree, encoded, len(own), inherited=inherited)
        return Index(parent.store, record, made_of=(Edits(own).over(parent.delta), lines))
    delta = batch_of_edits(Edits(own).over(parent.delta))
    rewritten = await rewrite(parent.store, await parent.tree(), delta)
    return _spilled(parent, rewritten.tree.name, encoded, len(own))


async def _apply_bulk(parent: Index, edits: pa.RecordBatch) -> Index:
    rewritten = await rewrite(parent.store, await parent.tree(), batch_of_edits(parent.delta), edits)
    count = sum(map(len, rewritten.effective))
    if count == 0:
        return await _apply_few(parent, {})
    few = [edits_of(some) for some in rewritten.effective] if count <= BULK else None
    encoded = None if few is None else encode_own({key: some[key] for some in few for key in some})
    return _spilled(parent, rewritten.tree.name, encoded, count)


def _spilled(parent: Index, tree: str | None, own: bytes | None, count: int) -> Index:
    """The index whose changes, and what it would inherit, are all in *tree*. Its own are kept too, unless too large."""
    if own is not None and len(own) > MAX_DELTA:
        own = None
    return Index(parent.store, IndexRecord(tree, own, count, own_in_tree=True))
