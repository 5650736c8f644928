"""Keys of any length, in order, in a B+ tree that takes 511 bytes: a long key goes on in a level of its own.

What is stored is a *path*: the partition, self-delimiting, and the key. A path that fits is one record in the root
level. A longer one is cut: its head becomes a *link* in this level, its rest a record (or again a link) in the level
that the head names by its hash. So a lookup computes where to look, in one step, and a scan that meets a link reads
that level before it goes on. Order holds because links are one byte longer than any record: a link sorts behind the
record that is its head to the letter, if there is one, and before everything else that is larger.

A link stays when what is below it is deleted: it is empty, and the next long key with that head wants it again.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

LONGEST = 511
"""Bytes of a key that LMDB takes; links have exactly this many, records fewer."""

ROOT = b"\0"
"""What the keys of the root level begin with. Other levels begin with 1 and the hash of their head."""


class Place(NamedTuple):
    """Where a path is kept: the key of its record, and the links that lead there."""

    record: bytes
    links: tuple[bytes, ...]


def path_of(partition: bytes, key: bytes) -> bytes:
    return len(partition).to_bytes(2, "big") + partition + key


def record_of(path: bytes) -> bytes:
    """The key of the record of *path*, which for nearly all is in the root level."""
    return ROOT + path if len(path) < LONGEST - len(ROOT) else place_of(path).record


def place_of(path: bytes) -> Place:
    level, links = ROOT, []
    while len(level) + len(path) >= LONGEST:
        head, path = cut(level, path)
        links.append(link_of(level, head))
        level = level_below(level, head)
    return Place(level + path, tuple(links))


def cut(level: bytes, path: bytes) -> tuple[bytes, bytes]:
    """The head of a long *path* that its link in *level* holds, and the rest."""
    room = LONGEST - 1 - len(level)
    return path[:room], path[room:]


def link_of(level: bytes, head: bytes) -> bytes:
    return level + head + b"\0"


def level_below(level: bytes, head: bytes) -> bytes:
    return b"\1" + blake2b(level + head, digest_size=16).digest()
