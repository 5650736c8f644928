"""The compact form of an entry without its key: what staging keeps as a value, and a delta beside each key.

A msgpack array in a fixed order, with the columns of a segment; a tombstone is msgpack's nil.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from headwater.index.entry import TOMBSTONE, Block, Edit, Entry, Kind
from headwater.index.errors import Corrupt, LimitExceeded
from headwater.index.limits import MAX_EDIT, MAX_KEY


class Stored(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The columns of an entry. Where all its bytes are one whole object, *address* says which, and *blocks* is None."""

    kind: Kind
    size: int
    modified: int
    checksum: str | None
    address: str | None
    blocks: tuple[Block, ...] | None
    content_type: str | None
    metadata: dict[str, str] | None
    content_id: bytes | None
    payload: bytes | None


_encoder = msgspec.msgpack.Encoder()
_one = msgspec.msgpack.Decoder(Stored | None)
_many = msgspec.msgpack.Decoder(list[Stored | None])


def to_stored(edit: Edit) -> Stored | None:
    """*edit* without its key."""
    if not isinstance(edit, Entry):
        return None
    whole = len(edit.blocks) == 1 and edit.blocks[0].offset == 0 and edit.blocks[0].length == edit.size
    return Stored(
        edit.kind,
        edit.size,
        edit.modified,
        edit.checksum,
        edit.blocks[0].address if whole else None,
        None if whole or not edit.blocks else edit.blocks,
        edit.content_type,
        edit.metadata or None,
        edit.content_id,
        edit.payload,
    )


def from_stored(key: str, stored: Stored | None) -> Edit:
    """The inverse of `to_stored`."""
    if stored is None:
        return TOMBSTONE
    blocks = stored.blocks or ()
    if stored.address is not None:
        blocks = (Block(stored.address, 0, stored.size),)
    return Entry(
        key,
        stored.kind,
        blocks,
        stored.size,
        stored.checksum,
        stored.modified,
        stored.content_type,
        stored.metadata or {},
        stored.content_id,
        stored.payload,
    )


def encode_edit(key: str, edit: Edit) -> bytes:
    """The value to keep for *edit* under *key*. Raises `LimitExceeded`: here an entry enters the system."""
    check_key(key)
    if isinstance(edit, Entry) and edit.key != key:
        raise ValueError(f"the entry of {edit.key!r} was to be kept under {key!r}")
    if isinstance(edit, Entry) and edit.content_id is not None and len(edit.content_id) != 16:
        raise LimitExceeded(f"{key!r}: a content id has 16 bytes, not {len(edit.content_id)}")
    value = _encoder.encode(to_stored(edit))
    if len(value) > MAX_EDIT:
        raise LimitExceeded(f"{key!r}: its entry has {len(value)} bytes as stored; {MAX_EDIT} at most")
    return value


def decode_edit(key: str, value: bytes) -> Edit:
    """The inverse of `encode_edit`."""
    try:
        return from_stored(key, _one.decode(value))
    except msgspec.MsgspecError as error:
        raise Corrupt(f"the staged entry of {key!r}", str(error)) from None


def decode_stored(values: Sequence[bytes]) -> list[Stored | None]:
    """Very many values of `encode_edit` in one go."""
    try:
        return _many.decode(b"\xdd" + len(values).to_bytes(4, "big") + b"".join(values))
    except msgspec.MsgspecError as error:
        raise Corrupt(f"one of {len(values)} staged entries", str(error)) from None


def check_key(key: str) -> None:
    """Raise `LimitExceeded` unless *key* has 1 to `MAX_KEY` bytes of UTF-8."""
    try:
        size = len(key.encode())
    except UnicodeEncodeError:
        raise LimitExceeded(f"{key!r} is no text: it has an unpaired surrogate") from None
    if not 1 <= size <= MAX_KEY:
        raise LimitExceeded(f"the key {key[:80]!r}… has {size} bytes; it must have 1 to {MAX_KEY}")
