"""Reading inside one transaction: a record, or the next records of a partition."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import lmdb

from headwater.kv.drivers.lmdb.long_keys import LONGEST, ROOT, cut, level_below, link_of, path_of, record_of
from headwater.kv.store import Entry, Predicate, Versioned

VERSION = 8
"""Bytes in front of each value: the number of the write, unique in the store for ever, which is its predicate."""


def read(transaction: lmdb.Transaction, partition: bytes, key: bytes) -> Versioned | None:
    stored = transaction.get(record_of(path_of(partition, key)))
    if stored is None:
        return None
    return Versioned(bytes(stored[VERSION:]), Predicate(int.from_bytes(stored[:VERSION], "big")))


def read_page(transaction: lmdb.Transaction[bytes], partition: bytes, start: bytes, amount: int) -> list[Entry]:
    """The first *amount* entries of *partition* from *start* on, in a *transaction* that copies.

    What has no long keys, nearly everything, is read in one plain loop; from the first link on `read_on` takes over.
    Two views of each record, to be copied in part, cost more than the copies: half of what a scan takes.
    """
    within = ROOT + path_of(partition, b"")
    if len(within) + len(start) >= LONGEST:
        return list(islice(read_on(transaction, partition, start), amount))
    entries: list[Entry] = []
    size = len(within)
    with transaction.cursor() as cursor:
        if not cursor.set_range(within + start):
            return entries
        for key, stored in islice(cursor.iternext(), amount):
            if not key.startswith(within):
                break
            if len(key) == LONGEST:
                behind = key[size:-1] + b"\0"  # the link's head itself, if it is a key, came just before
                entries += islice(read_on(transaction, partition, behind), amount - len(entries))
                break
            entries.append(Entry(key[size:], stored[VERSION:]))
    return entries


def read_on(transaction: lmdb.Transaction[bytes], partition: bytes, start: bytes) -> Iterator[Entry]:
    """The entries of *partition* from *start* on, in order, while *transaction*, which copies, is open."""
    scope = path_of(partition, b"")
    for path, stored in _level(transaction, ROOT, scope, scope + start):
        yield Entry(path[len(scope) :], stored[VERSION:])


def _level(
    transaction: lmdb.Transaction[bytes], level: bytes, scope: bytes, start: bytes
) -> Iterator[tuple[bytes, bytes]]:
    """Paths of one level that begin with *scope*, from *start* on, each with what is stored; those below links too."""
    seek, below = level + start, b""
    if len(seek) >= LONGEST:
        head, below = cut(level, start)
        seek = link_of(level, head)
    within = level + scope
    with transaction.cursor() as cursor:
        if not cursor.set_range(seek):
            return
        for key, stored in cursor.iternext():
            if not key.startswith(within):
                return
            if len(key) < LONGEST:
                yield key[len(level) :], stored
                continue
            head = key[len(level) : -1]
            for rest, below_it in _level(transaction, level_below(level, head), b"", below if key == seek else b""):
                yield head + rest, below_it
