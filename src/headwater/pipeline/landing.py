"""What a job made becomes one commit: a whole tree, or files added and removed. On whatever the head is by then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from headwater.engine.advance import Made, advance
from headwater.engine.commit import Description
from headwater.engine.looking import commit_of
from headwater.engine.repository import Repository
from headwater.history import Commit
from headwater.index import TOMBSTONE, Edit, Entry, apply
from headwater.index.edits import Edits
from headwater.index.schema import batch_of_edits
from headwater.pipeline.limits import STREAM_HISTORY
from headwater.refs.branch import Branch
from headwater.staging.errors import NothingToCommit

STREAM, BATCH = "headwater-stream", "headwater-batch"
"""The keys, in the metadata of a commit, of which micro-batch of which stream it holds."""


class Batch(msgspec.Struct, frozen=True):
    """A micro-batch of a stream, which is committed once."""

    stream: str
    number: int

    @property
    def metadata(self) -> dict[str, str]:
        return {STREAM: self.stream, BATCH: str(self.number)}


class LandedBefore(Exception):
    """The micro-batch was committed by an earlier try. Never leaves this layer."""

    def __init__(self, commit: Commit) -> None:
        self.commit = commit


async def land_files(
    repository: Repository,
    branch: str,
    files: Mapping[str, Entry],
    description: Description,
    *,
    replaced: Sequence[str] = (),
    batch: Batch | None = None,
) -> Commit:
    """Land *files*, by key, as one commit on *branch*, in place of all that is below the key prefixes *replaced*.

    What is replaced is looked for in the head that the commit lands on: what somebody added meanwhile goes as well.
    """

    async def make(ground: Branch) -> Made:
        if batch is not None and (landed := await find_batch(repository, ground.commit, batch)) is not None:
            raise LandedBefore(landed)
        index = await repository.index_of(ground.commit)
        edits: dict[str, Edit] = {}
        for prefix in replaced:
            async for rows in index.batches(prefix):
                edits.update(dict.fromkeys(rows.column("key").to_pylist(), TOMBSTONE))
        edits.update(files)
        applied = await apply(index, batch_of_edits(Edits(edits)))
        if not applied.record.own_count and batch is None:
            raise NothingToCommit(f"branch {branch!r} has all that was written already")
        return [ground.commit], applied

    try:
        return await advance(repository, branch, description, make)
    except LandedBefore as before:
        return before.commit


async def find_batch(repository: Repository, head: str, batch: Batch) -> Commit | None:
    """The commit of that micro-batch, or of a later one of its stream, in the history of *head*."""
    commit = await repository.commits.get(head)
    for _ in range(STREAM_HISTORY):
        if commit.metadata.get(STREAM) == batch.stream:
            return commit if int(commit.metadata.get(BATCH, "-1")) >= batch.number else None
        if not commit.parents:
            return None
        commit = await repository.commits.get(commit.parents[0])
    return None


async def head_of(repository: Repository, branch: str) -> str:
    """The committed head of *branch*, which must be one: jobs commit to branches."""
    await repository.branches.fresh(branch)
    return (await commit_of(repository, f"{branch}@")).id
