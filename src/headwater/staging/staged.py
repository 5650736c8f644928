"""What is staged under a token: one entry looked up, a layer to read through, or all of it to be committed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import pyarrow as pa

from headwater.index import NO_EDITS, Edit, Edits, decode_edit
from headwater.index.aside import aside
from headwater.index.joining import first_of_each_key
from headwater.index.limits import ASIDE, BULK
from headwater.index.schema import batch_of_stored
from headwater.index.stored import decode_stored
from headwater.kv import Entry as KeyValue
from headwater.kv import Store
from headwater.kv.limits import MAX_PAGE
from headwater.staging.scanning import beginning_at
from headwater.staging.tokens import partition_of


class StagedLayer:
    """The entries under one token, as a `Layer`: each page is a scan of the store. *passed* counts what was read."""

    def __init__(self, store: Store, token: str) -> None:
        self.passed = 0
        self.token = token
        self._store = store
        self._partition = partition_of(token)

    async def get(self, key: str) -> Edit | None:
        found = await self._store.get(self._partition, key.encode())
        return None if found is None else decode_edit(key, found.value)

    async def read(self, start: str, amount: int) -> Sequence[tuple[str, Edit]]:
        """See `Layer`."""
        edits: list[tuple[str, Edit]] = []
        async for page in self._store.scan(self._partition, beginning_at(start.encode()), page=min(amount, MAX_PAGE)):
            for entry in page:
                key = entry.key.decode()
                edits.append((key, decode_edit(key, entry.value)))
            if len(edits) >= amount:
                break
        self.passed += len(edits)
        return edits


def layers_of(store: Store, tokens: Iterable[str]) -> tuple[StagedLayer, ...]:
    return tuple(StagedLayer(store, token) for token in tokens)


async def collect(store: Store, tokens: Sequence[str]) -> pa.RecordBatch | Edits:
    """All that is staged under *tokens*, oldest first, as edits to apply: the newest of each key, in their order.

    What was scanned becomes columns piece by piece, so that very much is not held in memory as objects.
    """
    pieces: list[pa.RecordBatch] = []
    scanned: list[KeyValue] = []
    for token in reversed(tokens):
        async for page in store.scan(partition_of(token), page=MAX_PAGE):
            scanned += page
            if len(scanned) >= ASIDE:
                pieces.append(await aside(len(scanned), partial(_columns, scanned)))
                scanned = []
    if not pieces and len(scanned) <= BULK:
        return _few(scanned)
    if scanned:
        pieces.append(_columns(scanned))
    join = pa.concat_batches if len(tokens) == 1 else first_of_each_key
    return await aside(sum(map(len, pieces)), partial(join, pieces))


def _few(scanned: Sequence[KeyValue]) -> Edits:
    """The first of *scanned* for each key: so few that columns would cost more than they save."""
    edits: dict[str, Edit] = {}
    for entry in reversed(scanned):
        key = entry.key.decode()
        edits[key] = decode_edit(key, entry.value)
    return Edits(edits) if edits else NO_EDITS


def _columns(scanned: Sequence[KeyValue]) -> pa.RecordBatch:
    keys = [entry.key.decode() for entry in scanned]
    return batch_of_stored(keys, decode_stored([entry.value for entry in scanned]))
