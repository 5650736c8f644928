"""What is staged in an append repository, folded: records of several tokens, over what is committed below them.

Elsewhere the newest staged entry of a path says what is there. Here all of them do, one after the other: a put or a
delete takes the place of what was before, an append extends it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from headwater.engine.block_lists import BlockLists
from headwater.engine.growth import Growth, checksum_of
from headwater.index import TOMBSTONE, Block, Edit, Edits, Entry, Index, Kind
from headwater.index.layers import nearest
from headwater.kv import Store
from headwater.staging.journal import Record, all_records, records_at, records_from

FIRST, AGAIN = b"+", b"+again"
"""The payload of a staged record that appends: made for the first time, or perhaps done before."""

NOTHING_YET = checksum_of([])


class Appended(msgspec.Struct, frozen=True):
    """What one append adds. An empty one, without a block, makes a file where there is none."""

    key: str
    block: Block | None
    modified: int
    content_type: str | None = None
    metadata: dict[str, str] = {}

    def staged(self, *, again: bool) -> Entry:
        """The record of it. *again* if it may be staged, or even committed, already: then whoever folds it looks."""
        return Entry(
            self.key,
            Kind.APPEND,
            () if self.block is None else (self.block,),
            0 if self.block is None else self.block.length,
            None,
            self.modified,
            self.content_type,
            self.metadata,
            None,
            AGAIN if again else FIRST,
        )


def is_append(edit: Edit) -> bool:
    """Whether a staged record appends, rather than say all that is there."""
    return isinstance(edit, Entry) and edit.kind is Kind.APPEND and edit.payload in (FIRST, AGAIN)


def may_be_there(edit: Entry) -> bool:
    """Whether an append must be looked for before it counts: it was tried before, and may be in a commit since."""
    return edit.payload == AGAIN


async def fold(lists: BlockLists, before: Entry | None, records: Sequence[Record]) -> Edit:
    """What is at a path where *before* is committed and *records* are staged, oldest first. An append counts once."""
    found: Entry | None = before
    growth: Growth | None = None
    counted: set[str] = set()
    for record in records:
        edit = record.edit
        if not isinstance(edit, Entry) or not is_append(edit):
            found, growth = (edit if isinstance(edit, Entry) else None), None
            continue
        if record.stamp in counted:
            continue
        counted.add(record.stamp)
        if found is not None and edit.blocks and may_be_there(edit) and await lists.has(found.blocks, edit.blocks[0]):
            continue
        if growth is None:
            found = _begun(edit) if found is None else found
            growth = Growth(found)
        for block in edit.blocks:
            growth.push(block, edit.modified)
    if growth is not None and growth.grown:
        return growth.entry()
    return TOMBSTONE if found is None else found


class FoldedLayer:
    """What is staged under *tokens*, oldest first, on top of *index*, as one `Layer`. *passed* counts what was read."""

    def __init__(self, store: Store, tokens: Sequence[str], index: Index, lists: BlockLists) -> None:
        self.passed = 0
        self._store = store
        self._tokens = tokens
        self._index = index
        self._lists = lists

    async def get(self, key: str) -> Edit | None:
        records = [record for token in self._tokens for record in await records_at(self._store, token, key)]
        if not records:
            return None
        before = await self._index.get(key) if is_append(records[0].edit) else None
        return await fold(self._lists, before, records)

    async def read(self, start: str, amount: int) -> Sequence[tuple[str, Edit]]:
        """See `Layer`. Each token is read for as many keys, and what all of them have been read for is told."""
        pages = [await records_from(self._store, token, start, amount) for token in self._tokens]
        reached = nearest(*(last for _, last in pages))
        staged: dict[str, list[Record]] = {}
        for records, _ in pages:
            for record in records:
                if reached is None or record.key <= reached:
                    staged.setdefault(record.key, []).append(record)
        self.passed += sum(len(records) for records, _ in pages)
        edits = await folded(self._lists, self._index, staged)
        return [(key, edits[key]) for key in edits.sorted_keys]


async def folded(lists: BlockLists, index: Index, staged: Mapping[str, Sequence[Record]]) -> Edits:
    """The edits that *staged* records make on *index*."""
    extended = [key for key, records in staged.items() if is_append(records[0].edit)]
    before = dict(zip(extended, await index.get_many(extended), strict=True)) if extended else {}
    return Edits({key: await fold(lists, before.get(key), records) for key, records in staged.items()})


async def collect_folded(store: Store, tokens: Sequence[str], index: Index, lists: BlockLists) -> Edits:
    """All that is staged under *tokens*, oldest first, as edits to apply to *index*. Growing files are kept short."""
    edits = await folded(lists, index, await all_records(store, tokens))
    short: dict[str, Edit] = {}
    for key, edit in edits.items():
        grown = isinstance(edit, Entry) and edit.kind is Kind.APPEND
        short[key] = await lists.rolled(edit) if grown and isinstance(edit, Entry) else edit
    return Edits(short)


def _begun(edit: Entry) -> Entry:
    """The empty file that an append makes."""
    return msgspec.structs.replace(edit, blocks=(), size=0, checksum=NOTHING_YET, payload=None)
