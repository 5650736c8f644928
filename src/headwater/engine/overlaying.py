"""All that is staged under some tokens, as edits to be laid over an index: for a commit, or a listing of everything."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from headwater.engine.folding import collect_folded
from headwater.engine.repository import Repository
from headwater.index import Edits, Index
from headwater.staging.staged import collect


async def staged_edits(repository: Repository, tokens: Sequence[str], index: Index) -> pa.RecordBatch | Edits:
    """What is staged under *tokens*, oldest first, on top of *index*: of each path what is there in the end."""
    if not repository.grows:
        return await collect(repository.store, tokens)
    return await collect_folded(repository.store, tokens, index, repository.block_lists)
