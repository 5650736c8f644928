"""Clocks: where a commit stands in its first-parent history, told without reading any other commit.

A branch that is given life, or is moved by anything but a commit, gets an *incarnation*, a random id that nothing else
ever has. A commit made on it is the n-th of that incarnation, and that is its last *component*; the ones before say
where each incarnation branched off the one before it. So an incarnation has one history, its commits have consecutive
numbers, and the pair (incarnation, n) is enough to find one. `docs/history.md` draws it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import msgspec

from headwater.history.errors import InvalidRecord
from headwater.history.limits import MAX_COMPONENTS

INCARNATION = 8
"""Bytes of an incarnation: random, and a repository would need billions of branches for two to meet."""

CLOCK_PREFIX = b"clock/"
_DESCENDING = struct.Struct(">Q")
_LAST = 2**64 - 1


class Component(msgspec.Struct, frozen=True, array_like=True):
    """The *n*-th commit, from 0, of one incarnation of a branch."""

    incarnation: bytes
    n: int


class Clock(msgspec.Struct, frozen=True, array_like=True):
    """The components of a commit, oldest first, of which the oldest *dropped* are not kept."""

    components: tuple[Component, ...]
    dropped: int = 0

    @property
    def last(self) -> Component:
        """Where the commit itself stands."""
        return self.components[-1]


class Span(msgspec.Struct, frozen=True):
    """Consecutive commits of one incarnation, from *newest* down to *oldest*, both included."""

    incarnation: bytes
    newest: int
    oldest: int

    def __len__(self) -> int:
        return self.newest - self.oldest + 1


def next_clock(parent: Clock | None, incarnation: bytes) -> Clock:
    """The clock of a commit on top of *parent* (None: the first of all) on the branch that has this incarnation.

    Two committers who race compute the same one; only the commit that lands may ever be indexed by it.
    """
    if len(incarnation) != INCARNATION:
        raise InvalidRecord(f"incarnation {incarnation.hex()}: it has {len(incarnation)} bytes, it must have 8")
    if parent is None:
        return Clock((Component(incarnation, 0),))
    *before, last = parent.components
    if last.incarnation == incarnation:
        return Clock((*before, Component(incarnation, last.n + 1)), parent.dropped)
    if any(component.incarnation == incarnation for component in before):
        raise InvalidRecord(f"incarnation {incarnation.hex()} has ended: a branch that is moved needs a new one")
    kept = parent.components[-(MAX_COMPONENTS - 1) :]
    dropped = parent.dropped + len(parent.components) - len(kept)
    return Clock((*kept, Component(incarnation, 0)), dropped)


def parent_component(clock: Clock) -> Component | None:
    """Where the first parent of the commit with this clock stands; None if it has no parent."""
    if clock.last.n > 0:
        return Component(clock.last.incarnation, clock.last.n - 1)
    return clock.components[-2] if len(clock.components) > 1 else None


def is_ancestor(older: Clock, newer: Clock) -> bool | None:
    """Whether the landed commit *older* is *newer* or a first-parent ancestor of it; None if *newer* no longer says.

    As in git, a commit counts as its own ancestor. Only the last component of *older* is compared: an incarnation has
    one history, so whoever shares it shares all that was before.
    """
    place = older.dropped + len(older.components) - 1 - newer.dropped
    if place < 0:
        return None
    if place >= len(newer.components):
        return False
    there = newer.components[place]
    return there.incarnation == older.last.incarnation and older.last.n <= there.n


def history(clock: Clock) -> Iterator[Span]:
    """The commit itself and its first-parent ancestors, newest first, as far as the clock says."""
    for component in reversed(clock.components):
        yield Span(component.incarnation, component.n, 0)


def behind(clock: Clock, amount: int) -> Iterator[Span]:
    """The *amount* first-parent ancestors next before the commit, newest first; fewer when the clock says no more."""
    yield from _first(_without_newest(history(clock)), amount)


def between(older: Clock, newer: Clock) -> Iterator[Span]:
    """The commits after *older* and before *newer*, newest first: both excluded.

    Where *newer* no longer says how far it is to *older*, as far as it does.
    """
    yield from _without_newest(_after(older, newer))


def clock_key(component: Component) -> bytes:
    """Under which the clock index keeps the commit: an ascending scan meets the newest of an incarnation first."""
    return CLOCK_PREFIX + component.incarnation + _DESCENDING.pack(_LAST - component.n)


def parse_clock_key(key: bytes) -> Component:
    """What `clock_key` was made of."""
    place = len(CLOCK_PREFIX) + INCARNATION
    [descending] = _DESCENDING.unpack(key[place:])
    return Component(key[len(CLOCK_PREFIX) : place], _LAST - descending)


def _after(older: Clock, newer: Clock) -> Iterator[Span]:
    for span in history(newer):
        if span.incarnation == older.last.incarnation:
            if span.newest > older.last.n:
                yield Span(span.incarnation, span.newest, older.last.n + 1)
            return
        yield span


def _without_newest(spans: Iterator[Span]) -> Iterator[Span]:
    for span in spans:
        if len(span) > 1:
            yield Span(span.incarnation, span.newest - 1, span.oldest)
        break
    yield from spans


def _first(spans: Iterator[Span], amount: int) -> Iterator[Span]:
    for span in spans:
        if amount <= 0:
            return
        taken = min(amount, len(span))
        yield Span(span.incarnation, span.newest, span.newest - taken + 1)
        amount -= taken
