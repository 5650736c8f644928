"""Counts and times of one worker, kept so that a request pays next to nothing for them.

The usual client library shares its numbers between processes through mapped files, at 3 µs for each time; a request has
several. Here they are plain numbers in the worker, written out once a second; see `sharing`.
"""

from __future__ import annotations

from bisect import bisect_left

import msgspec

from headwater.server.limits import MAX_SERIES

BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Seconds up to which the buckets of times go; one more is for what takes longer."""

Labels = tuple[tuple[str, str], ...]

OTHER = "(other)"
"""What the labels of everything beyond `MAX_SERIES` say."""


class Timer:
    """Times of one kind: how many fell into each bucket, and all together."""

    __slots__ = ("buckets", "total")

    def __init__(self) -> None:
        self.buckets = [0] * (len(BOUNDS) + 1)
        self.total = 0.0

    def __call__(self, seconds: float) -> None:
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds


class Count(msgspec.Struct, frozen=True, array_like=True):
    """How often something happened."""

    name: str
    labels: Labels
    value: int


class Times(msgspec.Struct, frozen=True, array_like=True):
    """How long something took."""

    name: str
    labels: Labels
    buckets: list[int]
    total: float


class Tally:
    """Counts and times, by name and labels. See `Metrics`."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, Labels], int] = {}
        self._timers: dict[tuple[str, Labels], Timer] = {}
        self._series: dict[str, int] = {}

    def count(self, name: str, **labels: str) -> None:
        """One more of *name* with these labels."""
        key = name, tuple(labels.items())
        if key in self._counts:
            self._counts[key] += 1
        else:
            key = self._key(name, labels)
            self._counts[key] = self._counts.get(key, 0) + 1

    def timer(self, name: str, **labels: str) -> Timer:
        """What is to be called with the seconds that each *name* with these labels took: to be kept by the caller."""
        key = name, tuple(labels.items())
        if key not in self._timers:
            key = self._key(name, labels)
            self._timers.setdefault(key, Timer())
        return self._timers[key]

    def counts(self) -> list[Count]:
        return [Count(name, labels, value) for (name, labels), value in self._counts.items()]

    def times(self) -> list[Times]:
        return [Times(name, labels, each.buckets, each.total) for (name, labels), each in self._timers.items()]

    def _key(self, name: str, labels: dict[str, str]) -> tuple[str, Labels]:
        """The key of a new series; where there are too many of that name, that of all the others."""
        known = self._series[name] = self._series.get(name, 0) + 1
        return name, tuple(labels.items()) if known <= MAX_SERIES else tuple((label, OTHER) for label in labels)
