"""Sorted layers of edits on top of each other, read as one: the newest that knows a key decides."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, Protocol, TypeVar

import msgspec

from headwater.index.entry import Edit
from headwater.index.keys import after_key

Item = TypeVar("Item")


class Layer(Protocol):
    """Edits in the order of their keys, pulled page by page from any key on."""

    async def read(self, start: str, amount: int) -> Sequence[tuple[str, Edit]]:
        """Those at *start* and beyond: at least *amount*, or fewer if there are no more."""


class Span(msgspec.Struct, Generic[Item], frozen=True):
    """All there is from some start up to and with the key *reached*, or to the very end if that is None."""

    items: list[Item]
    reached: str | None


def nearest(*reached: str | None) -> str | None:
    """Up to where all of several spans go."""
    return min((key for key in reached if key is not None), default=None)


async def read_through(layers: Sequence[Layer], start: str, amount: int) -> Span[tuple[str, Edit]]:
    """The edits of *layers*, newest first, as one layer: some of them, from *start* on. Tombstones are kept.

    One read of each layer, whose pages are merged as far as the shortest goes.
    """
    pages = [await layer.read(start, amount) for layer in layers]
    reached = nearest(*(page[-1][0] if len(page) >= amount else None for page in pages))
    filled = [page for page in pages if page]
    if len(filled) == 1:  # nothing is on top of anything, as on a clean branch: there is nothing to merge
        return Span(list(filled[0]), reached)
    merged: dict[str, Edit] = {}
    for page in reversed(filled):
        merged.update(page)
    keys = sorted(merged if reached is None else (key for key in merged if key <= reached))
    return Span([(key, merged[key]) for key in keys], reached)


async def read_all(read: Callable[[str, int], Awaitable[Span[Item]]], start: str, amount: int) -> Span[Item]:
    """What *read* gives from *start* on, again and again, until there are *amount* or it has reached the end."""
    span = await read(start, amount)
    while span.reached is not None and len(span.items) < amount:
        more = await read(after_key(span.reached), amount)
        span = Span(span.items + more.items, more.reached)
    return span
