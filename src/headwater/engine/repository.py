"""A repository as the verbs see it: its stores, and what each commit's index is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeAlias

import msgspec

from headwater.blob import BlobStore
from headwater.engine.block_lists import BlockLists
from headwater.engine.errors import ReadOnly
from headwater.engine.lanes import Lanes
from headwater.engine.limits import DECODED, INDEX_CACHE, INDEX_SIZE, LOG_CACHE, OWN_KEYS, OWN_KEYS_SIZE
from headwater.history import Commit, CommitStore
from headwater.history.cache import Cache
from headwater.index import Index, IndexRecord, IndexStore
from headwater.index.delta import own_keys
from headwater.kv import Store
from headwater.metrics import Metrics
from headwater.outside import Outside
from headwater.refs import reference_log
from headwater.refs.branches import Branches
from headwater.staging.journal import Stamps
from headwater.staging.tidying import Tidying

Mode: TypeAlias = Literal["object", "append"]
"""What the files of a repository are: objects, each put as a whole; or files that grow by appends, in directories."""

OpenBlobs = Callable[[str], Awaitable[BlobStore]]

ON_TREE, IN_TREE = b"\0", b"\1"
"""What a commit's own changes begin with: whether they are to be laid over its tree, or are in it already."""


class RepositoryRecord(msgspec.Struct, frozen=True):
    """What a lake keeps of a repository."""

    name: str
    id: str
    namespace: str
    """The URI of the storage namespace, where its objects and its segments are."""

    default_branch: str
    created: int
    read_only: bool = False
    metadata: dict[str, str] = {}
    mode: Mode = "object"
    dropped: bool = False
    """It was deleted. The record stays, so that no belated deletion can hit the repository that took the name since."""

    def check_writable(self) -> None:
        if self.read_only:
            raise ReadOnly(f"repository {self.name!r} is read-only")


class Repository:
    """What the verbs of the engine work on. Of the repository it holds nothing but caches of what never changes."""

    def __init__(
        self,
        record: RepositoryRecord,
        *,
        store: Store,
        blobs: BlobStore,
        index: IndexStore,
        open_blobs: OpenBlobs,
        outside: Outside,
        metrics: Metrics,
        dirty_read_optimization: bool = True,
    ) -> None:
        self.record = record
        self.store = store
        self.partition = partition_of(record.id)
        self.blobs = blobs
        self.open_blobs = open_blobs
        self.outside = outside
        self.metrics = metrics
        self.dirty_read_optimization = dirty_read_optimization
        self.branches = Branches(store, self.partition, outside)
        self.commits = CommitStore(store, self.partition)
        self.reference_log = CommitStore(store, reference_log.partition_of(record.id), cache_bytes=LOG_CACHE)
        self.lanes = Lanes()
        self.tidying = Tidying(store, self.partition, outside, self.branches)
        self.stamps = Stamps(outside)
        self.block_lists = BlockLists(blobs)
        self._index_store = index
        self._indexes: Cache[str, Index] = Cache(INDEX_CACHE)
        self._own_keys: Cache[str, Sequence[str]] = Cache(OWN_KEYS)

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def grows(self) -> bool:
        """Whether files here grow by appends: see `Mode`."""
        return self.record.mode == "append"

    def check_writable(self) -> None:
        self.record.check_writable()

    def known_index(self, identity: str) -> Index | None:
        """The index of a commit, by its whole id, if it is at hand."""
        return self._indexes.get(identity)

    async def index_of(self, identity: str) -> Index:
        """The index of a commit."""
        known = self._indexes.get(identity)
        if known is not None:
            return known
        commit, inherited = await self.commits.get_with_delta(identity)
        return self.remember_index(identity, Index(self._index_store, record_of(commit, inherited), of=identity))

    def index_at(self, commit: Commit) -> Index:
        """The index of *commit* as far as its record tells: enough for what it changed itself."""
        return self._indexes.get(commit.id) or Index(self._index_store, record_of(commit, None), of=commit.id)

    def own_keys(self, commit: Commit) -> Sequence[str] | None:
        """The keys that *commit* changed itself, in order; None if they are too many to tell without a diff."""
        if commit.own is None:
            return None
        known = self._own_keys.get(commit.id)
        if known is None:
            known = own_keys(commit.own[1:], of=f"the delta of {commit.id}")
            self._own_keys.put(commit.id, known, OWN_KEYS_SIZE + len(known) * OWN_KEYS_SIZE)
        return known

    def remember_index(self, identity: str, index: Index) -> Index:
        record = index.record
        self._indexes.put(identity, index, INDEX_SIZE + DECODED * (len(record.own or b"") + len(record.inherited)))
        return index

    def empty_index(self) -> Index:
        """The index of nothing."""
        return Index(self._index_store)


def partition_of(repository_id: str) -> bytes:
    return b"repo/" + repository_id.encode()


def record_of(commit: Commit, inherited: bytes | None) -> IndexRecord:
    """The index of *commit* as its record keeps it: see `own_of`."""
    own = None if commit.own is None else commit.own[1:]
    in_tree = commit.own is None or commit.own[:1] == IN_TREE
    return IndexRecord(commit.tree or None, own, own_in_tree=in_tree, inherited=inherited or b"")


def own_of(record: IndexRecord) -> bytes | None:
    """A commit's own changes, as its record keeps them: a byte that says where they are, and the index's bytes."""
    if record.own is None:
        return None
    return (IN_TREE if record.own_in_tree else ON_TREE) + record.own
