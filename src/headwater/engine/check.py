"""Checking a repository: everything that a reference leads to, read anew and compared with what it must be.

It looks at records, commits, deltas, clocks, trees, segments and staged entries; not at the objects of users, which it
would take a request each to find. It changes nothing, and may run at any time: what lands meanwhile may be seen or not,
but is never taken for damage, since whatever a reference points at was written before it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence

import msgspec

from headwater.engine.check_commits import CommitCheck
from headwater.engine.check_trees import TreeCheck
from headwater.engine.findings import Finding, Findings, Report
from headwater.engine.repository import Repository
from headwater.errors import HeadwaterError
from headwater.history import Tag, is_name
from headwater.history.clock import INCARNATION
from headwater.index import IndexFault, decode_edit
from headwater.index.stored import decode_stored
from headwater.kv import Entry
from headwater.kv.limits import MAX_PAGE
from headwater.refs.branch import Branch, is_hidden
from headwater.refs.branch import decode as decode_branch
from headwater.refs.branches import PREFIX as BRANCHES
from headwater.refs.reference_log import HEAD, LogHead, decode_change, decode_head, partition_of
from headwater.refs.tags import PREFIX as TAGS
from headwater.refs.tags import decode_tag
from headwater.staging.tokens import partition_of as staging_partition_of

__all__ = ["Finding", "Report", "check"]


async def check(repository: Repository) -> Report:
    """Check *repository*. It costs a scan of its records, the commits in batches, and each tree and segment once."""
    checking = _Check(repository)
    await checking.run()
    return checking.report()


class _Check:
    """One check under way."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._findings = Findings()
        self._branches: dict[str, Branch] = {}
        self._tags: dict[str, Tag] = {}
        index = repository.empty_index().store
        self._commits = CommitCheck(repository.store, repository.partition, index, self._findings)
        self._log = CommitCheck(repository.store, partition_of(repository.record.id), index, self._findings)
        self._trees = TreeCheck(repository.blobs, index.cutting, self._findings)

    async def run(self) -> None:
        await self._read_references()
        self._check_incarnations()
        await self._commits.check(dict(self._roots()))
        await self._commits.check_clock_index()
        await self._trees.check(self._commits.trees)
        for name, branch in self._branches.items():
            for token in (*branch.sealed, branch.token):
                await self._check_staged(name, token)
        await self._check_log()

    def report(self) -> Report:
        return Report(
            tuple(dict.fromkeys(self._findings.made)),
            branches=sum(not branch.dropped for branch in self._branches.values()),
            tags=len(self._tags),
            commits=len(self._commits.checked),
            trees=len(self._commits.trees),
            segments=len(self._trees.segments),
        )

    async def _read_references(self) -> None:
        async for name, entry in self._records(BRANCHES):
            try:
                self._branches[name] = decode_branch(name, entry.value)
            except HeadwaterError as error:
                self._findings.add("branch", name, error)
        async for name, entry in self._records(TAGS):
            try:
                tag = decode_tag(name, entry.value)
            except HeadwaterError as error:
                self._findings.add("tag", name, error)
                continue
            if tag is not None:
                self._tags[name] = tag

    async def _records(self, prefix: bytes) -> AsyncIterator[tuple[str, Entry]]:
        async for page in self._repository.store.scan(self._repository.partition, prefix, page=MAX_PAGE):
            for entry in page:
                if not entry.key.startswith(prefix):
                    return
                name = entry.key.removeprefix(prefix).decode(errors="replace")
                if not is_name(name) and not (prefix == BRANCHES and is_hidden(name)):
                    self._findings.add(prefix.decode().rstrip("/"), name, "has a name that no reference may have")
                yield name, entry

    def _roots(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """Every commit that a reference leads to, and which one does."""
        for name, branch in self._branches.items():
            heads = [branch.commit, branch.base, *(head.commit for head in branch.heads)]
            yield from ((commit, ("branch", name)) for commit in heads if commit)
            if not branch.commit and not branch.dropped:
                self._findings.add("branch", name, "has no head")
        for name, tag in self._tags.items():
            yield tag.target, ("tag", name)

    def _check_incarnations(self) -> None:
        """No two branches share one: their commits would take each other's place in the clock index."""
        owners: dict[bytes, str] = {}
        for name, branch in self._branches.items():
            if len(branch.incarnation) != INCARNATION:
                self._findings.add("branch", name, f"has an incarnation of {len(branch.incarnation)} bytes")
            other = owners.setdefault(branch.incarnation, name)
            if other != name:
                self._findings.add("branch", name, f"has the incarnation of branch {other}")

    async def _check_staged(self, branch: str, token: str) -> None:
        async for page in self._repository.store.scan(staging_partition_of(token), page=MAX_PAGE):
            try:
                decode_stored([entry.value for entry in page])
            except IndexFault:
                self._tell_staged(branch, page)

    def _tell_staged(self, branch: str, page: Sequence[Entry]) -> None:
        for entry in page:
            key = entry.key.decode(errors="replace")
            try:
                decode_edit(key, entry.value)
            except (IndexFault, msgspec.MsgspecError) as error:
                self._findings.add("staged", key, f"{error} (on branch {branch})")

    async def _check_log(self) -> None:
        found = await self._repository.store.get(partition_of(self._repository.record.id), HEAD)
        if found is None:
            return
        try:
            head: LogHead = decode_head(found.value)
        except HeadwaterError as error:
            self._findings.add("reference log", "head", error)
            return
        if head.commit:
            await self._log.check({head.commit: ("the head of", "the reference log")}, changes=False)
            await self._log.check_clock_index()
        for identity, commit in self._log.checked.items():
            if commit is None:
                continue
            try:
                decode_change(identity, commit.own)
            except HeadwaterError as error:
                self._findings.add("reference log", identity, error)
