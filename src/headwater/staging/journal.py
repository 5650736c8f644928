"""How writes are staged in an append repository: each a record of its own, in the order in which they were made.

A staged object takes the place of the one that was staged before it at the same path. An append does not, and neither
may two appends that happen at once get in each other's way. So there the key of a staged record is that of its path, a
NUL, which no path has, and a *stamp*, which ascends with time and which nobody else ever has. `docs/files.md` tells
what comes of it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import msgspec

from headwater.index import Edit, decode_edit
from headwater.kv import Entry as StoredEntry
from headwater.kv import Store
from headwater.kv.limits import MAX_PAGE
from headwater.outside import Outside
from headwater.staging.limits import JOURNAL_LOOK
from headwater.staging.scanning import beginning_at
from headwater.staging.tokens import partition_of

STAMP = 32
"""Hex digits of a stamp: 12 of milliseconds since 1970, 4 that count within one, and 16 at random."""

_SEPARATOR = "\0"
_COUNTED = 1 << 16


class Record(msgspec.Struct, frozen=True):
    """What was staged at *key*, and when."""

    key: str
    stamp: str
    edit: Edit


class Stamps:
    """Stamps that ascend in the order in which this process takes them, even if its clock is set back."""

    def __init__(self, outside: Outside) -> None:
        self._outside = outside
        self._lock = threading.Lock()
        self._last = 0

    def take(self) -> str:
        with self._lock:
            self._last = max(self._outside.now() * _COUNTED, self._last + 1)
            return f"{self._last:016x}{self._outside.random(8).hex()}"


def moment_of(stamp: str) -> int:
    """Milliseconds since 1970 at which *stamp* was taken, as the clock of who took it had it."""
    return int(stamp[:12], 16)


def is_stamp(text: str) -> bool:
    return len(text) == STAMP and set(text) <= set("0123456789abcdef")


def journal_key(key: str, stamp: str) -> bytes:
    """Under which a record is staged: behind those staged before at *key*, ahead of those at any greater key."""
    return f"{key}{_SEPARATOR}{stamp}".encode()


async def records_at(store: Store, token: str, key: str) -> list[Record]:
    """What is staged at *key* under *token*, in order."""
    found: list[Record] = []
    start = f"{key}{_SEPARATOR}".encode()
    async for page in store.scan(partition_of(token), start, page=JOURNAL_LOOK):
        here = [_record(entry) for entry in page if entry.key.startswith(start)]
        found += here
        if len(here) < len(page):
            break
    return found


async def records_from(store: Store, token: str, start: str, keys: int) -> tuple[list[Record], str | None]:
    """What is staged under *token* at the first *keys* keys from *start* on, and the last of those; None: at all."""
    found: list[Record] = []
    seen: list[str] = []
    async for page in store.scan(partition_of(token), _from(start), page=min(keys + 1, MAX_PAGE)):
        for entry in page:
            record = _record(entry)
            if not seen or seen[-1] != record.key:
                if len(seen) == keys:
                    return found, seen[-1]
                seen.append(record.key)
            found.append(record)
    return found, None


async def all_records(store: Store, tokens: Sequence[str]) -> dict[str, list[Record]]:
    """All that is staged under *tokens*, oldest first: for each key its records, in order."""
    found: dict[str, list[Record]] = {}
    for token in tokens:
        async for page in store.scan(partition_of(token), page=MAX_PAGE):
            for entry in page:
                record = _record(entry)
                found.setdefault(record.key, []).append(record)
    return found


def _from(start: str) -> bytes:
    """The least staged key of a record at *start* or beyond. A start that ends in a NUL is just behind a key."""
    return beginning_at((start[:-1] + "\1" if start.endswith(_SEPARATOR) else start).encode())


def _record(entry: StoredEntry) -> Record:
    key, _, stamp = entry.key.decode().partition(_SEPARATOR)
    return Record(key, stamp, decode_edit(key, entry.value))
