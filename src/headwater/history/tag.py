"""An annotated tag: who called which commit what, when and why, with a signature if so wanted."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from headwater.history import record
from headwater.history.errors import InvalidRecord
from headwater.history.names import check_name
from headwater.history.signature import Signature, sign

FORMAT = 1


class Tag(msgspec.Struct, frozen=True, kw_only=True):
    """One annotated tag. Its name is part of what is hashed, so a signature vouches for the name, too."""

    id: str
    name: str
    target: str
    """The id of the commit."""

    message: str
    tagger: str
    time: int
    metadata: Mapping[str, str]
    format: int = FORMAT
    signature: Signature | None = None

    @classmethod
    def create(
        cls, name: str, target: str, *, message: str, tagger: str, time: int, metadata: Mapping[str, str] | None = None
    ) -> Tag:
        """A tag called *name* for the commit *target*. The same arguments give the same tag."""
        check_name(name)
        record.check_described(message, ("the tagger", tagger), time, metadata or {})
        tag = cls(
            id="",
            name=name,
            target=target,
            message=message,
            tagger=tagger,
            time=time,
            metadata=dict(record.in_order(metadata or {})),
        )
        return msgspec.structs.replace(tag, id=record.name(canonical(tag)))

    def signed(self, private_key: bytes) -> Tag:
        """This tag with a signature."""
        return msgspec.structs.replace(self, signature=sign("tag", self.id, private_key))


class _Canonical(msgspec.Struct, frozen=True, array_like=True, tag="tag", forbid_unknown_fields=True):
    format: int
    name: str
    target: bytes
    message: str
    tagger: str
    time: int
    metadata: tuple[tuple[str, str], ...]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Canonical)


def canonical(tag: Tag) -> bytes:
    """The bytes that the tag's id is the SHA-256 of."""
    target = record.identifier("target", tag.target)
    metadata = record.in_order(tag.metadata)
    return _encoder.encode(_Canonical(tag.format, tag.name, target, tag.message, tag.tagger, tag.time, metadata))


def encode(tag: Tag) -> bytes:
    """The stored value of a tag."""
    hashed = canonical(tag)
    if record.name(hashed) != tag.id:
        raise InvalidRecord(f"tag {tag.name!r} is not what its id says: tags are made by Tag.create")
    return record.pack(hashed, tag.signature)


def decode(identity: str, value: bytes) -> Tag:
    """The tag with this id, from its stored value. Raises `CorruptRecord` if it is not that tag."""
    hashed, signature = record.unpack("tag", identity, value)
    found = record.read("tag", identity, hashed, FORMAT, _decoder)
    return Tag(
        id=identity,
        name=found.name,
        target=found.target.hex(),
        message=found.message,
        tagger=found.tagger,
        time=found.time,
        metadata=dict(found.metadata),
        format=found.format,
        signature=signature,
    )
