"""Ancestry over all parents: who descends from whom, and where two histories met last."""

from __future__ import annotations

from headwater.history import clock
from headwater.history.commit import Commit
from headwater.history.commits import CommitStore
from headwater.history.frontier import Frontier, all_parents, newest_first
from headwater.history.limits import READ_AHEAD

_ONE, _OTHER, _STALE = 1, 2, 4
_COMMON = _ONE | _OTHER


async def is_ancestor(commits: CommitStore, older: Commit, newer: Commit) -> bool:
    """Whether *older* is *newer* or can be reached from it over any parents. Both have landed.

    Only commits above the generation of *older* are looked at, and none once a clock tells.
    """
    frontier = Frontier(commits, all_parents, READ_AHEAD)
    frontier.add(newer)
    while frontier:
        commit = frontier.pop()
        if commit.id == older.id or clock.is_ancestor(older.clock, commit.clock):
            return True
        if commit.generation > older.generation:
            await frontier.add_parents(commit)
    return False


async def merge_bases(commits: CommitStore, one: Commit, other: Commit) -> list[Commit]:
    """The best common ancestors: those that are no ancestor of another common ancestor. Both have landed.

    One, as a rule; several after criss-cross merges, in the order of `newest_first`, the same whichever is named first;
    none for histories that never met. What was made after they parted is read, and little else.
    """
    if clock.is_ancestor(one.clock, other.clock):
        return [one]
    if clock.is_ancestor(other.clock, one.clock):
        return [other]
    frontier = Frontier(commits, all_parents, READ_AHEAD)
    frontier.add(one)
    frontier.add(other)
    marks = {one.id: _ONE, other.id: _OTHER}
    """Of every commit that waits: from which side it was reached, and whether below a common ancestor."""
    bases: list[Commit] = []
    passed: Commit | None = None
    while not all(mark & _STALE for mark in marks.values()):
        if passed is not None:
            await frontier.add_parents(passed)
        passed = frontier.pop()
        mark = marks.pop(passed.id)
        if mark == _COMMON:
            bases.append(passed)
            mark |= _STALE
        for parent in passed.parents:
            marks[parent] = marks.get(parent, 0) | mark
    return sorted(bases, key=newest_first)


async def merge_base(commits: CommitStore, one: Commit, other: Commit) -> Commit | None:
    """The common ancestor that a merge compares with: the first of `merge_bases`, so always the same; None if none.

    After a criss-cross merge that is the base with the longest history, and among equals the latest.
    """
    return next(iter(await merge_bases(commits, one, other)), None)
