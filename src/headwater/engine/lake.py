"""A lake: repositories by name, over one key-value store and any number of storage namespaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import msgspec

from headwater.blob import BlobStore
from headwater.engine.branches import new_branch
from headwater.engine.errors import BadRequest, RepositoryExists, RepositoryNotFound
from headwater.engine.limits import MAX_METADATA, MAX_PAGE, NAMESPACE_ID
from headwater.engine.repository import Mode, OpenBlobs, Repository, RepositoryRecord, partition_of
from headwater.history import Commit, check_name, check_repository_name, is_repository_name
from headwater.index import IndexStore, SegmentCache
from headwater.kv import ABSENT, Predicate, PredicateFailed, Store, UnknownOutcome
from headwater.metrics import Metrics, Silent
from headwater.outside import Outside
from headwater.refs import reference_log
from headwater.refs.branch import decode as decode_branch
from headwater.refs.branches import PREFIX as BRANCHES
from headwater.staging.certainty import certainty
from headwater.staging.tokens import DROPPED, LEAVING, dropped_at
from headwater.staging.tokens import partition_of as staging_partition_of
from headwater.staging.tries import tries

REPOSITORIES = b"repositories"
"""The partition that has a record for each repository, by name."""

NO_METADATA: Mapping[str, str] = {}


class Lake:
    """Repositories: made, opened, listed and deleted. *open_blobs* opens the object store at a URI."""

    def __init__(
        self,
        store: Store,
        open_blobs: OpenBlobs,
        outside: Outside,
        *,
        cache: SegmentCache | None = None,
        metrics: Metrics | None = None,
        dirty_read_optimization: bool = True,
    ) -> None:
        self._store = store
        self._open_blobs = open_blobs
        self._outside = outside
        self._cache = cache or SegmentCache()
        self._metrics = metrics or Silent()
        self._dirty_read_optimization = dirty_read_optimization
        self._namespaces: dict[str, BlobStore] = {}

    async def create(
        self,
        name: str,
        namespace: str,
        *,
        default_branch: str = "main",
        committer: str = "",
        read_only: bool = False,
        metadata: Mapping[str, str] = NO_METADATA,
        mode: Mode = "object",
        bare: bool = False,
    ) -> Repository:
        """A repository with one branch and a first, empty commit. Its name is taken last, so it is never half there.

        A *bare* one has neither: it is for a dump to be restored into.
        """
        check_repository_name(name)
        check_name(default_branch)
        check_metadata(metadata)
        held = await self._held(name)
        if held.record is not None:
            raise RepositoryExists(f"there is a repository {name!r} already")
        record = RepositoryRecord(
            name=name,
            id=self._outside.random(NAMESPACE_ID).hex(),
            namespace=namespace,
            default_branch=default_branch,
            created=self._outside.now(),
            read_only=read_only,
            metadata=dict(metadata),
            mode=mode,
        )
        repository = await self.opened(record)
        if not bare:
            await _begin(repository, committer)
        await self._take_name(record, held)
        return repository

    async def open(self, name: str) -> Repository:
        """The repository *name*, or `RepositoryNotFound`."""
        return await self.opened(await self.record(name))

    async def record(self, name: str) -> RepositoryRecord:
        """What is kept of the repository *name*, or `RepositoryNotFound`. One read: nothing is opened."""
        found = (await self._held(name)).record if is_repository_name(name) else None
        return _existing(name, found)

    async def list(
        self, *, prefix: str = "", after: str = "", amount: int = MAX_PAGE, containing: str = ""
    ) -> list[RepositoryRecord]:
        """A page of the repositories whose names begin with *prefix*, come after *after* and have *containing* in them,
        in order."""
        found: list[RepositoryRecord] = []
        start = max(prefix.encode(), after.encode() + b"\0") if after else prefix.encode()
        async for page in self._store.scan(REPOSITORIES, start, page=amount):
            for entry in page:
                if not entry.key.startswith(prefix.encode()) or len(found) == amount:
                    return found
                if containing.encode() in entry.key and not (record := _decode(entry.value)).dropped:
                    found.append(record)
        return found

    async def set_metadata(self, name: str, metadata: Mapping[str, str]) -> Repository:
        """Replace the metadata of the repository *name*. Of two callers at once, the later one's is kept."""
        return await self.change_metadata(name, lambda _: metadata)

    async def change_metadata(self, name: str, change: Callable[[Mapping[str, str]], Mapping[str, str]]) -> Repository:
        """Make the metadata of the repository *name* what *change* makes of it; nobody else's change is lost."""

        def changed(record: RepositoryRecord) -> RepositoryRecord:
            return msgspec.structs.replace(record, metadata=check_metadata(change(record.metadata)))

        return await self._update(name, changed)

    async def set_read_only(self, name: str, *, read_only: bool) -> Repository:
        """Have the repository *name* take no writes, or take them again: from when it is next opened, by whomever."""
        return await self._update(name, lambda record: msgspec.structs.replace(record, read_only=read_only))

    async def delete(self, name: str) -> None:
        """Forget the repository *name* and all its records. Its objects stay where they are, for garbage collection."""
        what = f"deleting repository {name!r}"
        sent: list[str] = []
        with certainty(sent, what):
            async for _ in tries(self._outside, what):
                held = await self._held(name)
                if held.leftover is not None and held.leftover.id in sent:
                    return await self._clear(held.leftover)
                record = _existing(name, held.record)
                record.check_writable()
                dropped = msgspec.structs.replace(record, metadata={}, dropped=True)
                try:
                    await self._store.set_if(REPOSITORIES, name.encode(), _encode(dropped), held.predicate)
                except PredicateFailed:
                    continue
                except UnknownOutcome:
                    sent.append(record.id)
                    continue
                sent.append(record.id)
                return await self._clear(record)
        raise AssertionError("tries never end quietly")

    async def aclose(self) -> None:
        for blobs in self._namespaces.values():
            await blobs.aclose()
        await self._store.aclose()

    async def _take_name(self, record: RepositoryRecord, held: _Held) -> None:
        """Make *record* that of its name, which was *held* by nobody; or leave nothing: `RepositoryExists`."""
        what, sent = f"creating repository {record.name!r}", list[str]()
        with certainty(sent, what):
            async for _ in tries(self._outside, what):
                if held.record is not None and held.record.id == record.id:  # a swap whose answer was lost
                    return
                if held.record is not None:
                    await self._clear(record)
                    raise RepositoryExists(f"there is a repository {record.name!r} already")
                if held.leftover is not None:  # whoever deleted it may have crashed
                    await self._clear(held.leftover)
                try:
                    await self._store.set_if(REPOSITORIES, record.name.encode(), _encode(record), held.predicate)
                except PredicateFailed:
                    held = await self._held(record.name)
                except UnknownOutcome:
                    sent.append(record.id)
                    held = await self._held(record.name)
                else:
                    return

    async def _held(self, name: str) -> _Held:
        """What there is of that name."""
        found = await self._store.get(REPOSITORIES, name.encode())
        if found is None:
            return _Held(None, None, ABSENT)
        record = _decode(found.value)
        return _Held(None, record, found.predicate) if record.dropped else _Held(record, None, found.predicate)

    async def _update(self, name: str, change: Callable[[RepositoryRecord], RepositoryRecord]) -> Repository:
        """Swap the record of *name* for what *change* makes of it. Doing so twice does no harm."""
        what, sent = f"changing repository {name!r}", list[str]()
        with certainty(sent, what):
            async for _ in tries(self._outside, what):
                held = await self._held(name)
                record = change(_existing(name, held.record))
                try:
                    await self._store.set_if(REPOSITORIES, name.encode(), _encode(record), held.predicate)
                except PredicateFailed:
                    continue
                except UnknownOutcome:
                    sent.append(record.id)
                    continue
                return await self.opened(record)
        raise AssertionError("tries never end quietly")

    async def opened(self, record: RepositoryRecord) -> Repository:
        """The repository of *record*, with caches of its own."""
        blobs = await self._blobs_at(record.namespace)
        return Repository(
            record,
            store=self._store,
            blobs=blobs,
            index=IndexStore(blobs, self._cache),
            open_blobs=self._blobs_at,
            outside=self._outside,
            metrics=self._metrics,
            dirty_read_optimization=self._dirty_read_optimization,
        )

    async def _blobs_at(self, uri: str) -> BlobStore:
        known = self._namespaces.get(uri)
        if known is None:
            known = self._namespaces[uri] = await self._open_blobs(uri)
        return known

    async def _clear(self, record: RepositoryRecord) -> None:
        """Delete what is staged on every branch, the reference log, and then the repository's own partition."""
        partition = partition_of(record.id)
        tokens: list[str] = []
        async for page in self._store.scan(partition):
            for entry in page:
                if entry.key.startswith(BRANCHES):
                    branch = decode_branch(entry.key.decode(), entry.value)
                    tokens += [branch.token, *branch.sealed]
                elif entry.key.startswith(LEAVING):
                    tokens.append(entry.key.removeprefix(LEAVING).decode())
                elif entry.key.startswith(DROPPED):
                    tokens.append(dropped_at(entry.key)[1])
        for part in [*map(staging_partition_of, tokens), reference_log.partition_of(record.id), partition]:
            async for page in self._store.scan(part):
                await self._store.delete_many(part, [entry.key for entry in page])


class _Held(msgspec.Struct, frozen=True):
    """What is kept under a name: the repository, or what is left of one that was deleted; and what holds until that
    changes."""

    record: RepositoryRecord | None
    leftover: RepositoryRecord | None
    predicate: Predicate


def check_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """*metadata* as a record keeps it, or `BadRequest` if it is too large."""
    size = sum(len(key.encode()) + len(value.encode()) for key, value in metadata.items())
    if size > MAX_METADATA:
        raise BadRequest(f"metadata of {size} bytes; a repository has {MAX_METADATA} at most")
    return dict(metadata)


def _existing(name: str, record: RepositoryRecord | None) -> RepositoryRecord:
    if record is None:
        raise RepositoryNotFound(f"there is no repository {name[:300]!r}")
    return record


def _encode(record: RepositoryRecord) -> bytes:
    return msgspec.msgpack.encode(record)


@lru_cache(1024)
def _decode(value: bytes) -> RepositoryRecord:
    """Remembered, for it is asked on every request what the same bytes mean."""
    return msgspec.msgpack.decode(value, type=RepositoryRecord)


async def _begin(repository: Repository, committer: str) -> None:
    """The first commit, and the default branch at it."""
    branch = new_branch(repository, "")
    first = Commit.create(
        [], branch.incarnation, message="Repository created", committer=committer, time=repository.record.created
    )
    await repository.store.pipeline(repository.commits.landing(first, None))
    await repository.branches.create(repository.record.default_branch, msgspec.structs.replace(branch, commit=first.id))
