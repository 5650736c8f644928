"""A small sorted map from key to entry or tombstone: what a delta holds, and a layer that fits in memory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from headwater.index.entry import Edit


class Edits(Mapping[str, Edit]):
    """What to do at some keys, in their order. Immutable, and a `Layer`."""

    def __init__(self, edits: Mapping[str, Edit] | None = None) -> None:
        self._edits = dict(edits or {})
        self.sorted_keys: Sequence[str] = sorted(self._edits)

    def __getitem__(self, key: str) -> Edit:
        return self._edits[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.sorted_keys)

    def __len__(self) -> int:
        return len(self.sorted_keys)

    def __repr__(self) -> str:
        return f"Edits({self._edits!r})"

    def over(self, below: Edits) -> Edits:
        """These edits, and those *below* at other keys."""
        return Edits({**below._edits, **self._edits})

    def without(self, others: Mapping[str, Edit]) -> Edits:
        """Those at keys that are not in *others*."""
        return Edits({key: edit for key, edit in self._edits.items() if key not in others})

    def slice(self, start: str, amount: int) -> list[tuple[str, Edit]]:
        """The first *amount* edits at *start* and beyond."""
        first = bisect_left(self.sorted_keys, start)
        return [(key, self._edits[key]) for key in self.sorted_keys[first : first + amount]]

    async def read(self, start: str, amount: int) -> Sequence[tuple[str, Edit]]:
        """See `Layer`."""
        return self.slice(start, amount)


NO_EDITS = Edits()
