"""Checking commits: their records, deltas and generations, their clocks, and the index of those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwater.engine.findings import Findings, parents_of
from headwater.engine.repository import record_of
from headwater.history import Commit, CommitStore, HistoryError
from headwater.history.clock import CLOCK_PREFIX, Component, behind, clock_key, next_clock, parse_clock_key
from headwater.history.errors import CorruptRecord
from headwater.history.limits import LOG_BATCH
from headwater.index import Index, IndexFault, IndexStore
from headwater.index.delta import decode_inherited
from headwater.kv import Store
from headwater.kv.limits import MAX_PAGE

_ID = 64
"""Hex digits of a commit's id."""


class CommitCheck:
    """Checks commits of one partition, each once. It has a `CommitStore` of its own: what is cached proves nothing."""

    def __init__(self, store: Store, partition: bytes, index: IndexStore, findings: Findings) -> None:
        self._store = store
        self._partition = partition
        self._index = index
        self._findings = findings
        self._commits = CommitStore(store, partition)
        self.checked: dict[str, Commit | None] = {}
        """Every commit that was looked at; None for one that is missing or damaged."""

        self.trees: dict[str, str] = {}
        """Every tree that a commit names, and one such commit."""

    async def check(self, roots: Mapping[str, tuple[str, str]], *, changes: bool = True) -> None:
        """Check the commits *roots* and all their ancestors. The values tell what names a root, for a finding.

        Without *changes* theirs are not those of an index, and only the hashes of their deltas are checked.
        """
        named = dict(roots)
        waiting = list(named)
        while waiting:
            batch, waiting = waiting[:LOG_BATCH], waiting[LOG_BATCH:]
            batch = [identity for identity in batch if identity not in self.checked]
            found = await self._find(batch, named)
            found |= await self._ahead(found)
            parents = await self._find(parents_of(found.values()), {}, told=False)
            for commit in found.values():
                self._check_lineage(commit, parents)
                named.update(dict.fromkeys(commit.parents, ("commit", commit.id)))
                if commit.tree:
                    self.trees.setdefault(commit.tree, commit.id)
            await self._check_changes(list(found.values()), indexes=changes)
            await self._check_indexed(list(found.values()), parents)
            self.checked.update(dict.fromkeys(batch))
            self.checked.update((identity, commit) for identity, commit in found.items())
            waiting += [parent for parent in parents_of(found.values()) if parent not in self.checked]

    async def check_clock_index(self) -> None:
        """Check that every entry of the clock index leads to the commit that stands there."""
        async for page in self._store.scan(self._partition, CLOCK_PREFIX, page=MAX_PAGE):
            listed = [entry for entry in page if entry.key.startswith(CLOCK_PREFIX)]
            ids = [entry.value.hex() for entry in listed]
            unknown = [each for each in ids if len(each) == _ID and each not in self.checked]
            others: dict[str, Commit] = {}
            for start in range(0, len(unknown), LOG_BATCH):
                others.update(await self._find(unknown[start : start + LOG_BATCH], {}, told=False))
            for entry in listed:
                commit = self.checked.get(entry.value.hex()) or others.get(entry.value.hex())
                place = _place(entry.key)
                if commit is None:
                    self._findings.add("clock", place, f"leads to commit {entry.value.hex()}, which cannot be read")
                elif clock_key(commit.clock.last) != entry.key:
                    self._findings.add("clock", place, f"leads to commit {commit.id}, which does not stand there")
            if len(listed) < len(page):
                return

    async def _ahead(self, found: Mapping[str, Commit]) -> dict[str, Commit]:
        """What is further behind on first parents, as the clock index has it: a long history is a few trips then.

        It is a hint only. What is not there, or damaged, is told of when a commit is found to need it.
        """
        chains = [commit for commit in found.values() if commit.parents and commit.parents[0] not in self.checked]
        if not chains:
            return {}
        share = max(1, LOG_BATCH // len(chains))
        spans = [span for commit in chains for span in behind(commit.clock, share)]
        indexed = await self._commits.clocks.within(spans)
        return await self._find(
            [each for each in indexed if len(each) == _ID and each not in self.checked], {}, told=False
        )

    async def _find(
        self, identities: Sequence[str], named: Mapping[str, tuple[str, str]], *, told: bool = True
    ) -> dict[str, Commit]:
        """Those of the commits that are sound; of the others it is *told* what is wrong."""
        try:
            found = await self._commits.find(identities)
        except CorruptRecord:
            found = {}
            for identity in identities:
                try:
                    found.update(await self._commits.find([identity]))
                except CorruptRecord as error:
                    if told:
                        self._findings.add("commit", identity, error)
                    continue
                self._tell_missing(identity, found, named, told=told)
            return found
        for identity in identities:
            self._tell_missing(identity, found, named, told=told)
        return found

    def _tell_missing(
        self, identity: str, found: Mapping[str, Commit], named: Mapping[str, tuple[str, str]], *, told: bool
    ) -> None:
        if told and identity not in found:
            what, name = named[identity]
            self._findings.add("commit", identity, f"is not there, and {what} {name} needs it")

    def _check_lineage(self, commit: Commit, parents: Mapping[str, Commit]) -> None:
        """The generation, and the clock, as they follow from the parents."""
        if any(parent not in parents for parent in commit.parents):
            return
        generation = max((parents[parent].generation for parent in commit.parents), default=0) + 1
        if commit.generation != generation:
            self._findings.add("commit", commit.id, f"has generation {commit.generation}; by its parents {generation}")
        first = parents[commit.parents[0]] if commit.parents else None
        try:
            clock = next_clock(first.clock if first else None, commit.clock.last.incarnation)
        except HistoryError as error:
            self._findings.add("commit", commit.id, f"has a clock that no commit there can have: {error}")
            return
        if clock != commit.clock:
            self._findings.add("commit", commit.id, "has a clock that does not follow from that of its parent")

    async def _check_changes(self, commits: Sequence[Commit], *, indexes: bool) -> None:
        """What they changed and what they inherit: there, in order, and no key in both."""
        known = {commit.id: commit for commit in commits}
        try:
            deltas = dict(zip(known, await self._commits.deltas(commits), strict=True))
        except CorruptRecord:
            deltas = {}
            for commit in commits:
                try:
                    [deltas[commit.id]] = await self._commits.deltas([commit])
                except CorruptRecord as error:
                    self._findings.add("delta", commit.id, error)
        for identity, inherited in deltas.items() if indexes else ():
            commit = known[identity]
            index = Index(self._index, record_of(commit, inherited), of=commit.id)
            try:
                own = index.own
                inheriting = decode_inherited(inherited or b"")
            except IndexFault as error:
                self._findings.add("delta", commit.id, error)
                continue
            both = [] if own is None else own.keys() & inheriting.keys()
            if both:
                self._findings.add("delta", commit.id, f"inherits a change of {min(both)!r}, which it changed itself")

    async def _check_indexed(self, commits: Sequence[Commit], parents: Mapping[str, Commit]) -> None:
        """That the first parent of each is in the clock index where it stands."""
        firsts = [parents[commit.parents[0]] for commit in commits if commit.parents and commit.parents[0] in parents]
        keys = [clock_key(first.clock.last) for first in firsts]
        entries = await self._store.get_many(self._partition, keys) if keys else []
        for first, key, entry in zip(firsts, keys, entries, strict=True):
            if entry is None:
                self._findings.add("clock", _place(key), f"has no entry, and commit {first.id} stands there")
            elif entry.value != bytes.fromhex(first.id):
                self._findings.add(
                    "clock", _place(key), f"leads to commit {entry.value.hex()}, and commit {first.id} stands there"
                )


def _place(key: bytes) -> str:
    component: Component = parse_clock_key(key)
    return f"({component.incarnation.hex()}, {component.n})"
