"""What an index maps a key to: an object, a growing file, a table; and when two of them are the same content."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, TypeAlias, final

import msgspec


class Kind(StrEnum):
    """What an entry is."""

    OBJECT = "object"
    APPEND = "append"
    TABLE = "table"
    VIEW = "view"
    NAMESPACE = "namespace"
    UDF = "udf"


class Block(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """*length* bytes of the object at *address*, from *offset* on."""

    address: str
    offset: int
    length: int


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One key and what it stands for. Its bytes are those of *blocks*, one after the other.

    *modified* is in milliseconds since 1970. *content_id*, 16 bytes, names a table through all its versions; *payload*
    is what only its kind understands. Keys are in the order of their UTF-8 bytes, which is that of Python's strings.
    """

    key: str
    kind: Kind = Kind.OBJECT
    blocks: tuple[Block, ...] = ()
    size: int = 0
    checksum: str | None = None
    modified: int = 0
    content_type: str | None = None
    metadata: dict[str, str] = {}
    content_id: bytes | None = None
    payload: bytes | None = None


@final
class Tombstone:
    """The type of `TOMBSTONE`."""

    def __repr__(self) -> str:
        return "TOMBSTONE"


TOMBSTONE: Final = Tombstone()
"""Instead of an entry: the key is to be absent, whatever lies below."""

Edit: TypeAlias = Entry | Tombstone
"""What a layer says about a key: this entry, or nothing."""


def identity(entry: Entry) -> tuple[object, ...]:
    """What makes *entry* the same content as another: all but its key, when it was written, and where its bytes lie.

    Where they lie counts only if there is no checksum to tell what they are.
    """
    what = entry.blocks if entry.checksum is None else entry.checksum
    return (
        entry.kind,
        entry.size,
        what,
        entry.content_type,
        entry.metadata,
        entry.content_id,
        entry.payload,
    )


def same_content(left: Entry | None, right: Entry | None) -> bool:
    """Whether both are absent, or have the same `identity`."""
    if left is None or right is None:
        return left is right
    return identity(left) == identity(right)
