"""Pages of whatever is sorted by key: under a prefix, with a delimiter, after a key.

The cost of a page depends on the page: what shares a common prefix is rolled up, and then sought past.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Awaitable, Callable, Sequence
from operator import attrgetter
from typing import Protocol, TypeAlias, TypeVar

import msgspec

from headwater.index.errors import LimitExceeded
from headwater.index.keys import after_key, after_prefix
from headwater.index.layers import Span
from headwater.index.limits import FIRST_STEP, MAX_PAGE, SEEK_STEP


class Keyed(Protocol):
    @property
    def key(self) -> str: ...


class CommonPrefix(msgspec.Struct, frozen=True):
    """In a listing with a delimiter: all keys that begin with *key*, which ends in the delimiter."""

    key: str


Item = TypeVar("Item", bound=Keyed)
Read: TypeAlias = Callable[[str, int], Awaitable[Span[Item]]]


async def read_page(
    read: Read[Item], *, prefix: str, delimiter: str, after: str, amount: int
) -> list[Item | CommonPrefix]:
    """The first *amount* things greater than *after*, in order; fewer if there are no more.

    *after* may be any string: the last key of the page before, a common prefix, or a key that was never there.
    """
    check_amount(amount)
    page: list[Item | CommonPrefix] = []
    start = first_key(prefix, delimiter, after)
    step = FIRST_STEP if delimiter else amount
    while start is not None and len(page) < amount:
        span = await read(start, min(step, amount - len(page)))
        start = _take(span, page, prefix, delimiter, amount)
        went_on = span.reached is not None and start == after_key(span.reached)
        step = step * 4 if went_on else SEEK_STEP
    return page


def check_amount(amount: int) -> None:
    """Raise `LimitExceeded` if a page cannot have so many entries."""
    if not 1 <= amount <= MAX_PAGE:
        raise LimitExceeded(f"amount={amount}: a page has 1 to {MAX_PAGE} entries")


def first_key(prefix: str, delimiter: str, after: str) -> str | None:
    """The first key that can show in the page after *after*; None if there is none."""
    common = rolled_up(after, prefix, delimiter) if after else None
    if common is not None:
        return after_prefix(common)
    return max(prefix, after_key(after)) if after else prefix


def rolled_up(key: str, prefix: str, delimiter: str) -> str | None:
    """The common prefix that shows instead of *key*, if any."""
    if not delimiter or not key.startswith(prefix):
        return None
    end = key.find(delimiter, len(prefix))
    return None if end < 0 else key[: end + len(delimiter)]


def _take(span: Span[Item], page: list[Item | CommonPrefix], prefix: str, delimiter: str, amount: int) -> str | None:
    """Move what belongs to the page from *span* to *page*. Returns where to read on, or None if that was all."""
    items = span.items
    position, end = 0, _under(items, prefix)
    while position < end and len(page) < amount:
        plain = _plain(items, position, min(end, position + amount - len(page)), prefix, delimiter)
        if plain > position:
            page += items[position:plain]
            position = plain
            continue
        common = rolled_up(items[position].key, prefix, delimiter)
        assert common is not None  # noqa: S101  (else the item were plain)
        page.append(CommonPrefix(common))
        beyond = after_prefix(common)
        if beyond is None:
            return None
        position = bisect_left(items, beyond, position, key=attrgetter("key"))
        if position == len(items) and span.reached is not None and span.reached < beyond:
            return beyond
    if position == end < len(items):
        return None
    if span.reached is None or (span.reached > prefix and not span.reached.startswith(prefix)):
        return None
    return after_key(span.reached)


def _under(items: Sequence[Item], prefix: str) -> int:
    """How many of *items* begin with *prefix*: those that do come first, for none is less than it."""
    if not items or items[-1].key.startswith(prefix):
        return len(items)
    beyond = after_prefix(prefix)
    assert beyond is not None  # noqa: S101  (else there were nothing behind it)
    return bisect_left(items, beyond, key=attrgetter("key"))


def _plain(items: Sequence[Item], start: int, end: int, prefix: str, delimiter: str) -> int:
    """The first of *items* from *start* on that is rolled up, or *end*: a plain loop, for most of a page goes here."""
    if not delimiter:
        return end
    within = len(prefix)
    for position in range(start, end):
        if items[position].key.find(delimiter, within) >= 0:
            return position
    return end
