"""Marking: what the references of a repository lead to, commit by commit and segment by segment, each only once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from functools import partial

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headwater.blob import NotFound
from headwater.blob.namespace import segment_name
from headwater.drive import together
from headwater.engine.log import all_commits
from headwater.engine.repository import Repository, record_of
from headwater.garbage.limits import TOGETHER
from headwater.garbage.reaching import Reaching, segments_of
from headwater.garbage.references import Root, copied, roots, staged
from headwater.garbage.rules import Cutoffs, RetentionRules
from headwater.history import Commit
from headwater.history.limits import LOG_BATCH
from headwater.index import Corrupt, Edit, Entry, Missing
from headwater.index.delta import decode_inherited, decode_own

_COLUMNS = ["address", "blocks"]


class Retained(msgspec.Struct, frozen=True):
    """A commit that is retained, and the tree below its changes, if any. *cutoff*: see `Root`."""

    commit: str
    tree: str
    cutoff: int


class Marker:
    """Finds what is referred to. What it found once, it takes for known when it looks again.

    *since* says which notes of copies count: those of the safety age before the first look. *known* are commits that
    another marker has read, all that they lead to included.
    """

    def __init__(
        self,
        repository: Repository,
        rules: RetentionRules | None,
        *,
        now: int,
        since: int,
        known: Iterable[Retained] = (),
    ) -> None:
        self._repository = repository
        self._cutoffs = Cutoffs(rules, now)
        self._since = since
        self._store = repository.empty_index().store
        self._reaching = Reaching(repository.record.namespace, repository.block_lists)
        self.retained: dict[str, Retained] = {each.commit: each for each in known}
        self._known_trees = {each.tree for each in self.retained.values() if each.tree}
        self._segments: set[str] | None = None if self._known_trees else set()
        self._roots: set[str] = set()
        self.trees: list[str] = []
        """Those of the commits that the last look found."""
        self.segments = 0
        """How many segments were read."""

    async def look(self) -> AsyncIterator[pa.Array]:
        """The addresses, in the namespace, that are referred to, less what is known to be since an earlier look.

        Open uploads come before staging, that before commits, and notes of copies last: so do references move.
        """
        async for addresses in self.look_above_trees():
            yield addresses
        counts = await self.segments_of(self.trees)
        async for found in self._in_segments(counts):
            yield found
        yield await self.notes()

    async def look_above_trees(self) -> AsyncIterator[pa.Array]:
        """What `look` finds in staging and in the changes of commits. Their `trees` are left to be read."""
        async for addresses in staged(self._repository):
            yield await self.expanded(addresses)
        new = await self._new_commits()
        self.trees = list(dict.fromkeys(commit.tree for commit in new if commit.tree))
        for start in range(0, len(new), LOG_BATCH):
            yield await self.expanded(await self._changed_by(new[start : start + LOG_BATCH]))

    async def notes(self) -> pa.Array:
        """What was copied. To be asked for after all else."""
        return await self.expanded(await copied(self._repository, self._since))

    async def _new_commits(self) -> list[Commit]:
        """Those that are retained and not known yet."""
        found = await roots(self._repository, self._cutoffs, idle_since=self._since)
        self._roots = {root.commit for root in found}
        known: dict[str, Commit] = {}
        if not self.retained:  # one scan instead of a trip for each step back
            known = {commit.id: commit async for commit in all_commits(self._repository)}
        return await self._walk(found, known)

    async def _walk(self, found: Sequence[Root], known: Mapping[str, Commit]) -> list[Commit]:
        """From *found* backwards, the longest retained first, so that few commits are come by twice.

        What no reference leads to is left out: it never landed, or has not yet, and may be half written.
        """
        new: list[Commit] = []
        waiting = sorted(found, key=lambda root: root.cutoff)
        while waiting:
            some, waiting = waiting[:LOG_BATCH], waiting[LOG_BATCH:]
            some = [root for root in some if self._is_longer(root)]
            missing = [root.commit for root in some if root.commit not in known]
            read = {each.id: each for each in await self._repository.commits.get_many(missing)} if missing else {}
            for root in some:
                commit = known.get(root.commit) or read[root.commit]
                if not self._is_longer(root):
                    continue
                if commit.id not in self.retained:
                    new.append(commit)
                self._retain(commit, root.cutoff)
                if commit.time >= root.cutoff:
                    waiting += [Root(parent, root.cutoff) for parent in commit.parents]
        return new

    def _is_longer(self, root: Root) -> bool:
        """Whether *root* retains more than is known to be."""
        known = self.retained.get(root.commit)
        return known is None or root.cutoff < known.cutoff

    def _retain(self, commit: Commit, cutoff: int) -> None:
        self.retained[commit.id] = Retained(commit.id, commit.tree, cutoff)

    async def _changed_by(self, commits: Sequence[Commit]) -> list[str]:
        """The addresses in the changes of *commits*, and in what they inherit where that is not known from a parent.

        What a commit inherits its first parent changed or inherited, unless its own changes are told by a diff; and
        what was compacted is on top of another commit than its parent, but always a root.
        """
        heirs = [commit for commit in commits if commit.inherited and not self._is_told(commit)]
        inherited = dict(
            zip((commit.id for commit in heirs), await self._repository.commits.deltas(heirs), strict=True)
        )
        found: list[str] = []
        for commit in commits:
            record = record_of(commit, inherited.get(commit.id))
            if record.own is not None:
                found += _addresses(decode_own(record.own, of=f"the delta of commit {commit.id}"))
            found += _addresses(decode_inherited(record.inherited, of=f"the inherited delta of commit {commit.id}"))
        return found

    def _is_told(self, commit: Commit) -> bool:
        if commit.own is None or not commit.parents or commit.id in self._roots:
            return False
        return commit.parents[0] in self.retained

    async def _in_segments(self, counts: Mapping[str, int]) -> AsyncIterator[pa.Array]:
        """What segments refer to that have so many rows each."""
        names = list(counts)
        for start in range(0, len(names), TOGETHER):
            some = names[start : start + TOGETHER]
            read = [partial(addresses_of_segment, self._repository, name, counts[name]) for name in some]
            for addresses in await together(read):
                yield await self._reaching.names(addresses)
        self.segments += len(names)

    async def segments_of(self, trees: Iterable[str]) -> dict[str, int]:
        """The segments of *trees* that no tree before had, and how many rows each has."""
        new = [tree for tree in dict.fromkeys(trees) if tree not in self._known_trees]
        if not new:
            return {}
        known = self._segments
        if known is None:
            known = self._segments = set(await segments_of(self._store, sorted(self._known_trees)))
        counts = {name: rows for name, rows in (await segments_of(self._store, new)).items() if name not in known}
        known.update(counts)
        self._known_trees.update(new)
        return counts

    async def expanded(self, addresses: Sequence[str]) -> pa.Array:
        """Those of *addresses* that are in the namespace, as names there, and what is in lists of blocks among them."""
        return await self._reaching.names(pa.array(addresses, pa.string()))


async def addresses_of_segment(repository: Repository, name: str, rows: int) -> pa.Array:
    """Where the bytes of the entries of a segment are. Of its columns two are read. Raises `Missing` or `Corrupt`."""
    what = f"segment {name}"
    try:
        file = await repository.blobs.read(segment_name(name))
    except NotFound:
        raise Missing(what) from None
    try:
        table = pq.ParquetFile(pa.BufferReader(file), page_checksum_verification=True).read(_COLUMNS, use_threads=False)
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise Corrupt(what, str(error)) from None
    if table.num_rows != rows:
        raise Corrupt(what, f"it has {table.num_rows} rows, and a tree tells of {rows}")
    whole = table.column("address").combine_chunks().drop_null()
    blocks = pc.list_flatten(table.column("blocks").combine_chunks().drop_null())
    pieces = pc.struct_field(blocks, "address") if len(blocks) else pa.array([], pa.string())
    return pa.concat_arrays([_one(whole), _one(pieces)])


def _one(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return array.cast(pa.string())


def _addresses(edits: Mapping[str, Edit]) -> list[str]:
    return [block.address for edit in edits.values() if isinstance(edit, Entry) for block in edit.blocks]


__all__ = ["Marker", "Retained", "addresses_of_segment"]
