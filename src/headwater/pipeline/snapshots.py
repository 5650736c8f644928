"""What a reference means to a job: which segments to read, and the few changes that lie on top of them."""

from __future__ import annotations

import msgspec
import pyarrow as pa

from headwater.engine.looking import Ground, commit_of, look
from headwater.engine.overlaying import staged_edits
from headwater.engine.repository import Repository
from headwater.index import Edits, Index
from headwater.index.joining import first_of_each_key
from headwater.index.keys import after_prefix
from headwater.index.rows import Rows
from headwater.index.schema import NO_EDIT_ROWS, batch_of_edits
from headwater.index.tree import Tree


class Snapshot(msgspec.Struct, frozen=True):
    """Entries whose keys begin with *prefix*: those of *segments* that no edit tells otherwise, and the edits."""

    commit: str
    prefix: str
    segments: tuple[str, ...]
    exact: bool
    """Whether all rows of the segments have the prefix."""

    count: int
    """Rows of the segments."""

    edits: pa.RecordBatch


async def snapshot(repository: Repository, ref: str, *, prefix: str, staged: bool = False) -> Snapshot:
    """What is at *ref* below the key *prefix*: as committed, or with what is *staged* on the branch."""
    if not staged:
        commit = await commit_of(repository, ref)
        return await snapshot_of(await repository.index_of(commit.id), commit.id, prefix)

    async def found(ground: Ground) -> tuple[Index, str, Edits | pa.RecordBatch]:
        return ground.index, ground.commit, await staged_edits(repository, ground.tokens, ground.index)

    index, commit_id, edits = await look(repository, ref, "list", found)
    newest = edits if isinstance(edits, pa.RecordBatch) else batch_of_edits(edits)
    layers = [each for each in (newest, batch_of_edits(index.delta)) if len(each)]
    together = first_of_each_key(layers) if layers else NO_EDIT_ROWS
    return await _of_index(index, commit_id, prefix, _slice(together, prefix))


async def snapshot_of(index: Index, commit: str, prefix: str) -> Snapshot:
    """What is below the key *prefix* in *index*, which is that of *commit*."""
    return await _of_index(index, commit, prefix, batch_of_edits(_below(index.delta, prefix)))


async def _of_index(index: Index, commit: str, prefix: str, edits: pa.RecordBatch) -> Snapshot:
    tree = await index.tree()
    places = positions(tree, prefix)
    names = tuple(tree.segments[place] for place in places)
    exact = not places or (tree.firsts[places[0]].startswith(prefix) and tree.lasts[places[-1]].startswith(prefix))
    counts = tree.rows.column("count").to_pylist()
    return Snapshot(commit, prefix, names, exact, sum(counts[place] for place in places), edits)


def positions(tree: Tree, prefix: str) -> range:
    """Where in *tree* the segments are that may have keys with *prefix*."""
    first, stop = tree.find(prefix), after_prefix(prefix)
    end = len(tree) if stop is None else min(tree.find(stop) + 1, len(tree))
    while end > first and stop is not None and tree.firsts[end - 1] >= stop:
        end -= 1
    return range(first, end)


def _below(edits: Edits, prefix: str) -> Edits:
    return Edits({key: edit for key, edit in edits.items() if key.startswith(prefix)})


def _slice(edits: pa.RecordBatch, prefix: str) -> pa.RecordBatch:
    rows, stop = Rows(edits), after_prefix(prefix)
    start = rows.position(prefix)
    end = len(rows) if stop is None else rows.position(stop)
    return edits.slice(start, end - start)
