"""Finding the commit that broke something: which commits it may be, and which one to look at next.

What led to the bad commit and to no good one may be it. Each look leaves either what led to the commit looked at, or
the rest; so the best one to look at is that with half of them behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import ceil, log2
from typing import Protocol, TypeVar


class Linked(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def parents(self) -> Sequence[str]: ...


Item = TypeVar("Item", bound=Linked)


def suspects(history: Iterable[Item], bad: str, good: Collection[str]) -> list[Item]:
    """Those of *history* that led to the commit *bad* and to none of *good*; *bad* comes first.

    *history* leads to *bad* and to the good ones, and has each commit after all those that it led to. No more of it is
    read than it takes. Nothing if no good one led to *bad*: then there is nothing to go on from.
    """
    cleared = set(good)
    reached = {bad}
    awaited = {bad}
    found: list[Item] = []
    for commit in history:
        awaited.discard(commit.id)
        if commit.id in cleared:
            cleared.update(commit.parents)
        elif commit.id in reached:
            found.append(commit)
            reached.update(commit.parents)
            awaited.update(commit.parents)
        if awaited <= cleared:
            break
    led = any(parent in cleared for commit in found for parent in commit.parents)
    return found if led else []


def next_to_look_at(found: Sequence[Item], skipped: Collection[str]) -> Item | None:
    """The one of *found* that leaves fewest whatever comes of it; None if there is none to look at.

    The first of *found* is the bad commit, which need not be looked at.
    """
    behind = _behind(found)
    total = len(found)
    candidates = [commit for commit in found[1:] if commit.id not in skipped]
    return max(candidates, key=lambda commit: min(behind[commit.id], total - behind[commit.id]), default=None)


def steps_left(count: int) -> int:
    """How many looks it takes at most, of *count* that it may be."""
    return ceil(log2(count)) if count > 1 else 0


def _behind(found: Sequence[Item]) -> Mapping[str, int]:
    """For each of *found*, how many of them led to it, itself included."""
    places = {commit.id: place for place, commit in enumerate(found)}
    sets: dict[str, int] = {}
    for commit in reversed(found):
        bits = 1 << places[commit.id]
        for parent in commit.parents:
            bits |= sets.get(parent, 0)
        sets[commit.id] = bits
    return {identity: bits.bit_count() for identity, bits in sets.items()}
