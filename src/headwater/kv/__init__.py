"""The key-value layer: one narrow interface over many databases.

    async with await kv.open("lmdb:///var/lib/lake/kv") as store:
        await store.set(b"settings", b"colour", b"blue")

`docs/kv.md` says what a store promises and which database to choose; CONTRIBUTING how to add one.
"""

from headwater.kv.errors import (
    CannotOpen,
    LimitExceeded,
    PredicateFailed,
    SlowDown,
    StoreError,
    StoreUnavailable,
    UnknownOutcome,
)
from headwater.kv.opening import open  # noqa: A004  (reads `kv.open`)
from headwater.kv.store import ABSENT, Delete, Entry, Operation, Page, Predicate, Set, SetIf, Store, Versioned

__all__ = [
    "ABSENT",
    "CannotOpen",
    "Delete",
    "Entry",
    "LimitExceeded",
    "Operation",
    "Page",
    "Predicate",
    "PredicateFailed",
    "Set",
    "SetIf",
    "SlowDown",
    "Store",
    "StoreError",
    "StoreUnavailable",
    "UnknownOutcome",
    "Versioned",
    "open",
]
