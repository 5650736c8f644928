"""The commits of one repository: reading them, many at a time and once, and landing new ones.

One partition holds `commit/<id>`, `delta/<id>` and `clock/<incarnation><n>`: `docs/formats.md`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from headwater.history import commit as codec
from headwater.history import record
from headwater.history.cache import Cache
from headwater.history.clock import Component, clock_key, parent_component
from headwater.history.clock_index import ClockIndex
from headwater.history.commit import Commit
from headwater.history.errors import (
    AmbiguousPrefix,
    BadName,
    CommitNotFound,
    CorruptClock,
    CorruptRecord,
    InvalidRecord,
    NotFound,
)
from headwater.history.limits import CACHE_BYTES, CANDIDATES, MIN_PREFIX
from headwater.kv import Operation, Set, Store

_COMMIT = b"commit/"
_DELTA = b"delta/"
_HEX = frozenset("0123456789abcdef")
_OVERHEAD = 1024
"""Bytes that a decoded commit takes beyond its record, about."""


class CommitStore:
    """Commits are immutable, so what was read once is served from memory, up to *cache_bytes*.

    What is read is checked against its id; what does not match raises `CorruptRecord` and is never served.
    """

    def __init__(self, store: Store, partition: bytes, *, cache_bytes: int = CACHE_BYTES) -> None:
        self._store = store
        self._partition = partition
        self._commits: Cache[str, Commit] = Cache(cache_bytes // 2)
        self._deltas: Cache[str, bytes] = Cache(cache_bytes // 2)
        self.clocks = ClockIndex(store, partition)

    def cached(self, identity: str) -> Commit | None:
        """The commit, if that takes no trip."""
        return self._commits.get(identity)

    async def get(self, identity: str) -> Commit:
        """The commit with this id. One trip, or none. Raises `CommitNotFound`."""
        return self._commits.get(identity) or (await self.get_many([identity]))[0]

    async def get_many(self, identities: Sequence[str]) -> list[Commit]:
        """The commits with these ids, in order. One trip, or none. Raises `CommitNotFound`."""
        found = await self.find(identities)
        for identity in identities:
            if identity not in found:
                raise CommitNotFound(identity)
        return [found[identity] for identity in identities]

    async def find(self, identities: Iterable[str]) -> dict[str, Commit]:
        """Those of the commits that there are, by id. One trip, or none."""
        found = {identity: self._commits.get(identity) for identity in identities}
        missing = [identity for identity, commit in found.items() if commit is None]
        if missing:
            values = await self._read([_commit_key(identity) for identity in missing])
            for identity, value in zip(missing, values, strict=True):
                if value is not None:
                    found[identity] = self._keep(identity, value)
        return {identity: commit for identity, commit in found.items() if commit is not None}

    async def get_with_delta(self, identity: str) -> tuple[Commit, bytes | None]:
        """The commit and what it inherits since its tree, None if nothing. One trip for both, or none."""
        commit = self._commits.get(identity)
        if commit is not None:
            return commit, await self.delta(commit)
        value, inherited = await self._read([_commit_key(identity), _delta_key(identity)])
        if value is None:
            raise CommitNotFound(identity)
        commit = self._keep(identity, value)
        return commit, self._checked_delta(commit, inherited) if commit.inherited else None

    async def delta(self, commit: Commit) -> bytes | None:
        """What *commit* inherits since its tree, None if nothing. One trip, or none."""
        if not commit.inherited:
            return None
        cached = self._deltas.get(commit.inherited)
        if cached is not None:
            return cached
        found = await self._store.get(self._partition, _delta_key(commit.id))
        return self._checked_delta(commit, None if found is None else found.value)

    async def deltas(self, commits: Sequence[Commit]) -> list[bytes | None]:
        """What `delta` answers for each of *commits*, past the cache. One trip."""
        values = await self._read([_delta_key(commit.id) for commit in commits]) if commits else []
        pairs = zip(commits, values, strict=True)
        return [self._checked_delta(commit, value) if commit.inherited else None for commit, value in pairs]

    def landed(self, commit: Commit, inherited: bytes | None = None) -> dict[bytes, bytes]:
        """All that the store holds of *commit*, which has landed, and of its parent's place in the clock index.

        By key, to be written in bulk before any reference points at it: a restored repository is made of it.
        """
        values = {_commit_key(commit.id): codec.encode(commit)}
        if commit.inherited:
            values[_delta_key(commit.id)] = self._checked_delta(commit, inherited)
        parent = parent_component(commit.clock)
        if parent is not None:
            values[clock_key(parent)] = bytes.fromhex(commit.parents[0])
        return values

    def landing(self, commit: Commit, parent: Commit | None, inherited: bytes | None = None) -> list[Operation]:
        """What must be written, in this order, before a branch may point at *commit*.

        To be put ahead of the swap of the branch in one pipeline. *parent* is the first parent, a commit that has
        landed; *inherited* is what the commit was created with. Writing it twice, or writing it and losing the race, is
        harmless.
        """
        if (parent.id if parent else None) != next(iter(commit.parents), None):
            raise InvalidRecord(f"commit {commit.id} lands on its first parent, and {parent and parent.id} is not it")
        if ("" if inherited is None else hashlib.sha256(inherited).hexdigest()) != commit.inherited:
            raise InvalidRecord(f"commit {commit.id} was not made with the inherited changes that it is to land with")
        operations: list[Operation] = [Set(self._partition, _commit_key(commit.id), codec.encode(commit))]
        if inherited is not None:
            operations.append(Set(self._partition, _delta_key(commit.id), inherited))
        if parent is not None:
            operations.append(self.clocks.entry(parent))
        return operations

    def remember(self, commit: Commit, inherited: bytes | None = None) -> None:
        """Keep in memory what has just been written, so that the next commit on top of it need not read it."""
        self._commits.put(commit.id, commit, len(commit.own or b"") + len(commit.message) + _OVERHEAD)
        if inherited is not None:
            self._deltas.put(commit.inherited, inherited, len(inherited))

    async def at(self, component: Component) -> Commit:
        """The commit that has landed with this last component and is not a head. Two trips. Raises `CorruptClock`."""
        identity = await self.clocks.at(component)
        place = f"({component.incarnation.hex()}, {component.n})"
        if identity is None:
            raise CorruptClock(f"the clock index has nothing at {place}: check the repository")
        commit = await self.get(identity)
        if commit.clock.last != component:
            raise CorruptClock(
                f"the clock index has commit {identity} at {place}, where it is not: check the repository"
            )
        return commit

    async def resolve_prefix(self, prefix: str) -> str:
        """The id of the one commit whose id begins with *prefix*. One scan.

        Commits that lost a race and were never on a branch are stored too, and count until they are cleaned up.
        """
        if len(prefix) < MIN_PREFIX:
            raise BadName(f"{prefix!r}: an abbreviated commit id has at least {MIN_PREFIX} digits")
        if len(prefix) > 64 or not set(prefix) <= _HEX:
            raise BadName(f"{prefix[:80]!r}: a commit id consists of up to 64 lower-case hex digits")
        found = await self._beginning_with(prefix, CANDIDATES + 1)
        if not found:
            raise NotFound(f"no commit begins with {prefix!r}")
        if len(found) > 1:
            raise AmbiguousPrefix(prefix, found[:CANDIDATES])
        return found[0]

    async def shortest_prefix(self, identity: str) -> str:
        """The fewest digits that name the commit as things stand: a few scans, of two keys each."""
        length = MIN_PREFIX
        while True:
            others = [other for other in await self._beginning_with(identity[:length], 2) if other != identity]
            if not others:
                return identity[:length]
            length = max(_common(identity, other) for other in others) + 1

    async def _beginning_with(self, prefix: str, limit: int) -> list[str]:
        """The first *limit* ids that begin with *prefix*."""
        found: list[str] = []
        start = _COMMIT + bytes.fromhex(prefix + "0" * (len(prefix) % 2))
        async for page in self._store.scan(self._partition, start, page=limit):
            for entry in page:
                identity = entry.key.removeprefix(_COMMIT).hex()
                if not entry.key.startswith(_COMMIT) or not identity.startswith(prefix) or len(found) == limit:
                    return found
                found.append(identity)
            if len(found) == limit:
                return found
        return found

    async def _read(self, keys: Sequence[bytes]) -> list[bytes | None]:
        if len(keys) == 1:
            one = await self._store.get(self._partition, keys[0])
            return [None if one is None else one.value]
        found = await self._store.get_many(self._partition, keys)
        return [None if versioned is None else versioned.value for versioned in found]

    def _keep(self, identity: str, value: bytes) -> Commit:
        commit = codec.decode(identity, value)
        self._commits.put(identity, commit, len(value) + _OVERHEAD)
        return commit

    def _checked_delta(self, commit: Commit, inherited: bytes | None) -> bytes:
        if inherited is None:
            raise CorruptRecord(f"the delta of commit {commit.id} is not there: restore it from a backup")
        if hashlib.sha256(inherited).hexdigest() != commit.inherited:
            raise CorruptRecord(f"the delta of commit {commit.id} is damaged: restore it from a backup")
        self._deltas.put(commit.inherited, inherited, len(inherited))
        return inherited


def _commit_key(identity: str) -> bytes:
    return _COMMIT + record.identifier("commit", identity)


def _delta_key(identity: str) -> bytes:
    return _DELTA + record.identifier("commit", identity)


def _common(one: str, other: str) -> int:
    """How many digits two different ids have in common."""
    return next(place for place in range(64) if one[place] != other[place])
