"""Walking from commits to their ancestors, each once and newest first, with few trips.

The order is by generation, then time, then id. A commit's generation is above those of all its ancestors, so when a
commit comes, all of its descendants have come before: what is known of it then is final, and it never comes again.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import TypeAlias

from headwater.history.clock import behind
from headwater.history.commit import Commit
from headwater.history.commits import CommitStore

Lineage: TypeAlias = Callable[[Commit], Sequence[str]]
"""Which parents of a commit a walk follows."""


def first_parent(commit: Commit) -> Sequence[str]:
    return commit.parents[:1]


def all_parents(commit: Commit) -> Sequence[str]:
    return commit.parents


def newest_first(commit: Commit) -> tuple[int, int, str]:
    """The order of a walk, and of everything that must be chosen among commits."""
    return (-commit.generation, -commit.time, commit.id)


class Frontier:
    """The commits that a walk has reached and not yet passed.

    When a parent is missing, those of all commits that are known and not yet passed are fetched with it, and along with
    them what is further behind on first parents, as the clock index tells, *ahead* commits in all. So a history of n
    commits takes about 2 n / *ahead* trips, merges or not. The index is a hint only: where it is silent or wrong, the
    walk is slower and as right.
    """

    def __init__(self, commits: CommitStore, lineage: Lineage, ahead: int) -> None:
        self._commits = commits
        self._lineage = lineage
        self._ahead = ahead
        self._order: list[tuple[tuple[int, int, str], Commit]] = []
        self._waiting: dict[str, Commit] = {}
        self._fetched: dict[str, Commit] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def waiting(self) -> list[Commit]:
        """What will come, its ancestors aside."""
        return list(self._waiting.values())

    def add(self, commit: Commit) -> None:
        """Let *commit* come in its turn, once however often it is added."""
        if commit.id not in self._waiting:
            self._waiting[commit.id] = commit
            heapq.heappush(self._order, (newest_first(commit), commit))

    def pop(self) -> Commit:
        """The newest of those that wait. Its parents come only if they are asked for with `add_parents`."""
        _, commit = heapq.heappop(self._order)
        del self._waiting[commit.id]
        return commit

    def follow(self, commit: Commit) -> Commit | None:
        """What comes behind *commit*, which was popped, if it is plain: nothing waits, and one parent is at hand."""
        parents = self._lineage(commit) if not self._waiting else ()
        found = self._known(parents[0]) if len(parents) == 1 else None
        if found is not None:
            self._fetched.pop(found.id, None)
        return found

    async def add_parents(self, commit: Commit) -> None:
        """Let the parents of *commit* come."""
        parents = [parent for parent in self._lineage(commit) if parent not in self._waiting]
        found = [self._known(parent) for parent in parents]
        if None in found:
            await self._fetch([commit, *self._waiting.values(), *self._fetched.values()])
            found = [self._known(parent) for parent in parents]
        for parent, known in zip(parents, found, strict=True):
            self._fetched.pop(parent, None)
            self.add(known or await self._commits.get(parent))

    def _known(self, identity: str) -> Commit | None:
        return self._fetched.get(identity) or self._commits.cached(identity)

    async def _fetch(self, children: Sequence[Commit]) -> None:
        missing = {parent for child in children for parent in self._lineage(child) if self._known(parent) is None}
        chains = [child for child in children if child.parents and child.parents[0] in missing]
        share = max(1, self._ahead // max(1, len(chains)))
        spans = [span for child in chains for span in behind(child.clock, share)]
        indexed = await self._commits.clocks.within(spans)
        self._fetched |= await self._commits.find({*missing, *indexed})
