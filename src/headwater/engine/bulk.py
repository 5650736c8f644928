"""Reading very many entries at once: a listing as Arrow batches, of a commit or with what is staged on top of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import TypeAlias

import pyarrow as pa

from headwater.engine.looking import Ground, look
from headwater.engine.overlaying import staged_edits
from headwater.engine.paths import prefix_of
from headwater.engine.repository import Repository
from headwater.index import NO_EDITS, Edit, Index
from headwater.index.joining import lay_over
from headwater.index.keys import after_key, after_prefix
from headwater.index.rows import Rows
from headwater.index.schema import NO_ROWS, batch_of_edits

Staged: TypeAlias = pa.RecordBatch | Mapping[str, Edit]


async def batches(repository: Repository, ref: str, *, prefix: str = "") -> AsyncIterator[pa.RecordBatch]:
    """All entries at *ref* whose paths begin with *prefix*, in order, as batches of the index's columns.

    The reference is looked at once, when the first batch is asked for: what is committed or staged later never shows.
    All that is staged is held in memory.
    """

    async def found(ground: Ground) -> tuple[Index, Staged]:
        if ground.workspace is not None:
            pieces = (await ground.workspace.edits()).combine_chunks().to_batches()
            return ground.index, pieces[0] if pieces else NO_EDITS
        return ground.index, await staged_edits(repository, ground.tokens, ground.index)

    index, staged = await look(repository, ref, "list", found)
    key_prefix = prefix_of(prefix)
    edits = Rows(staged if isinstance(staged, pa.RecordBatch) else batch_of_edits(staged))
    start, stop = edits.position(key_prefix), after_prefix(key_prefix)
    end = len(edits) if stop is None else edits.position(stop)
    async for rows in index.batches(key_prefix):
        if len(rows) == 0:
            continue
        until = min(edits.position(after_key(rows.column("key")[len(rows) - 1].as_py())), end)
        yield lay_over(rows, edits.batch.slice(start, until - start)) if until > start else rows
        start = until
    if start < end:
        yield lay_over(NO_ROWS, edits.batch.slice(start, end - start))
