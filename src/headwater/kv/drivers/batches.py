"""Split a bulk call into what a database takes at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def batches(items: Sequence[T], *, most: int, most_bytes: int, size: Callable[[T], int]) -> Iterator[Sequence[T]]:
    """*items* in their order, in parts of *most* at most, and of *most_bytes* unless one item has more than that."""
    first, total = 0, 0
    for position, item in enumerate(items):
        total += size(item)
        if position - first == most or (total > most_bytes and position > first):
            yield items[first:position]
            first, total = position, size(item)
    if items:
        yield items[first:]
