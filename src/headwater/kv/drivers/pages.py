"""How many entries to ask for in a page of a scan, where the database counts entries and memory counts bytes."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.kv.store import Entry

FIRST = 250
"""Entries of a scan's first page at most, when their size is not known yet: 100 MB if all were of the largest."""

MAX_PAGE_BYTES = 8 * 1024 * 1024
"""What a page should have at most, by the size of the entries in the one before."""


def first_page(page: int) -> int:
    return min(page, FIRST)


def next_page(page: int, entries: Sequence[Entry]) -> int:
    """As many as were asked for, unless *entries*, which came last, were so large that this would be too much."""
    size = sum(len(entry.key) + len(entry.value) for entry in entries)
    return max(1, min(page, MAX_PAGE_BYTES * len(entries) // max(1, size)))
