"""Pages of what is kept below a prefix: their cost is that of the page, not of what was skipped."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Generic, TypeVar

import msgspec

from headwater.auth.directory.realm import PARTITION
from headwater.auth.errors import BadRequest
from headwater.auth.limits import MAX_PAGE
from headwater.kv import Entry, Store

Item = TypeVar("Item")


class Page(msgspec.Struct, Generic[Item], frozen=True):
    """Some items, in the order of their ids, and where to go on: None if these were the last."""

    items: tuple[Item, ...]
    after: str | None = None


class Window(msgspec.Struct, frozen=True):
    """Which part of a listing is wanted: ids that start with *prefix* and come after *after*, *amount* of them."""

    prefix: str = ""
    after: str = ""
    amount: int = MAX_PAGE

    def __post_init__(self) -> None:
        if not 1 <= self.amount <= MAX_PAGE:
            raise BadRequest(f"a page of {self.amount}: it can have 1 to {MAX_PAGE}")


ALL = Window()


async def names(store: Store, below: bytes, window: Window) -> AsyncIterator[list[tuple[str, bytes]]]:
    """Names and values of the keys `below + name`, from where *window* begins to where its prefix ends, in pages."""
    within = below + window.prefix.encode(errors="surrogatepass")
    after = below + window.after.encode(errors="surrogatepass")
    start = within if after < within else after + b"\0"
    async for entries in store.scan(PARTITION, start, page=window.amount + 1):
        inside = [entry for entry in entries if entry.key.startswith(within)]
        if inside:
            yield [_named(entry, below) for entry in inside]
        if len(inside) < len(entries):
            return


def _named(entry: Entry, below: bytes) -> tuple[str, bytes]:
    return entry.key.removeprefix(below).decode(), entry.value


def page(items: list[tuple[str, Item]], amount: int) -> Page[Item]:
    """A page of the first *amount* of the items, which are given with their names, at least one more if there is."""
    more = len(items) > amount
    return Page(tuple(item for _, item in items[:amount]), items[amount - 1][0] if more else None)
