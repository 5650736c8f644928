"""Rows of a database that has but one sorted key: the partition, framed by its length, and then the key.

The frame makes no row of one partition begin like all of another's, so that a partition is a range of rows.
"""

from __future__ import annotations

FRAME = 2
"""Bytes of the partition's length."""


def row_of(partition: bytes, key: bytes) -> bytes:
    return len(partition).to_bytes(FRAME, "big") + partition + key


def end_of_rows(partition: bytes) -> bytes:
    """The first row after all of *partition*'s, whatever their keys."""
    rows = row_of(partition, b"")
    return (int.from_bytes(rows, "big") + 1).to_bytes(len(rows), "big")
