"""Tags of a repository: names that stay where they are.

The record of a tag outlives it, as that of a branch does: so a name that comes back is told from one that never went,
no belated deletion can hit the tag that came after, and what was deleted can be brought back.
"""

from __future__ import annotations

import msgspec

from headwater.history import Tag
from headwater.history.tag import decode, encode
from headwater.kv import Store
from headwater.refs.errors import CorruptRef

PREFIX = b"tag/"


class TagRecord(msgspec.Struct, frozen=True, array_like=True):
    """What is kept for a name: the tag, and whether it was deleted. *mark* names the change that made it so."""

    mark: bytes
    id: bytes
    """The 32 bytes of the tag's id; none if there never was a tag."""

    value: bytes
    dropped: bool = False

    def tag(self, name: str) -> Tag | None:
        """The tag, deleted or not. Raises `CorruptRecord` or `CorruptRef` if it is not what it was."""
        if not self.id:
            return None
        tag = decode(self.id.hex(), self.value)
        if tag.name != name:
            raise CorruptRef(f"the record of tag {name!r} is that of {tag.name!r}")
        return tag


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(TagRecord)


def record_of(tag: Tag, mark: bytes) -> TagRecord:
    return TagRecord(mark, bytes.fromhex(tag.id), encode(tag))


def encode_record(record: TagRecord) -> bytes:
    return _encoder.encode(record)


def decode_record(name: str, value: bytes) -> TagRecord:
    try:
        return _decoder.decode(value)
    except msgspec.MsgspecError as error:
        raise CorruptRef(f"the record of tag {name!r} cannot be read: {error}") from error


def decode_tag(name: str, value: bytes) -> Tag | None:
    """The tag of that name, None if it was deleted."""
    record = decode_record(name, value)
    return None if record.dropped else record.tag(name)


def key_of(name: str) -> bytes:
    return PREFIX + name.encode()


async def find_tag(store: Store, partition: bytes, name: str) -> Tag | None:
    found = await store.get(partition, key_of(name))
    return None if found is None else decode_tag(name, found.value)
