"""What commits and annotated tags have in common: canonical bytes, named by their hash, with a signature beside."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TypeVar

import msgspec

from headwater.history.errors import CorruptRecord, InvalidRecord, LimitExceeded, UnknownFormat
from headwater.history.limits import MAX_MESSAGE, MAX_METADATA, MAX_METADATA_BYTES, MAX_PERSON, MAX_TIME
from headwater.history.signature import Kind, Signature

Canonical = TypeVar("Canonical")


class _Stored(msgspec.Struct, frozen=True, array_like=True):
    canonical: bytes
    signature: Signature | None


_encoder = msgspec.msgpack.Encoder()
_stored = msgspec.msgpack.Decoder(_Stored)


def name(canonical: bytes) -> str:
    """The id of what these bytes say."""
    return hashlib.sha256(canonical).hexdigest()


def pack(canonical: bytes, signature: Signature | None) -> bytes:
    """The stored value."""
    return _encoder.encode(_Stored(canonical, signature))


def unpack(kind: Kind, identity: str, value: bytes) -> tuple[bytes, Signature | None]:
    """The canonical bytes and the signature of a stored value, which must be what its name promises."""
    try:
        stored = _stored.decode(value)
    except msgspec.MsgspecError as error:
        raise CorruptRecord(f"the record of {kind} {identity} cannot be read: {error}") from error
    found = name(stored.canonical)
    if found != identity:
        raise CorruptRecord(
            f"the record of {kind} {identity} has the hash {found}: it is damaged; restore it from a backup"
        )
    return stored.canonical, stored.signature


def read(
    kind: Kind, identity: str, canonical: bytes, version: int, decoder: msgspec.msgpack.Decoder[Canonical]
) -> Canonical:
    """Decode canonical bytes that have been found to be what their name promises."""
    header = msgspec.msgpack.decode(canonical)
    if not isinstance(header, list) or header[:1] != [kind]:
        raise CorruptRecord(f"what is stored as {kind} {identity} is something else")
    if header[1] != version:
        raise UnknownFormat(
            f"{kind} {identity} is of format {header[1]}; this version of Headwater knows {version}: use a later one"
        )
    try:
        return decoder.decode(canonical)
    except msgspec.MsgspecError as error:
        raise CorruptRecord(f"the record of {kind} {identity} cannot be read: {error}") from error


def check_described(message: str, person: tuple[str, str], time: int, metadata: Mapping[str, str]) -> None:
    """Raise unless a commit or tag may have these; *person* is the name of a field and what it holds."""
    check_text("the message", message, MAX_MESSAGE)
    check_text(*person, MAX_PERSON)
    if not 0 <= time <= MAX_TIME:
        raise LimitExceeded(f"time {time}: it is in milliseconds since 1970, and before the year 10000")
    if len(metadata) > MAX_METADATA:
        raise LimitExceeded(f"the metadata has {len(metadata)} pairs, {MAX_METADATA} at most")
    size = sum(text_size(f"metadata {key[:80]!r}", text) for key, value in metadata.items() for text in (key, value))
    if size > MAX_METADATA_BYTES:
        raise LimitExceeded(f"the metadata has {size} bytes, {MAX_METADATA_BYTES} at most")


def check_text(field: str, text: str, limit: int) -> None:
    """Raise unless *text* can be stored in at most *limit* bytes."""
    size = text_size(field, text)
    if size > limit:
        raise LimitExceeded(f"{field} has {size} bytes, {limit} at most")


def text_size(field: str, text: str) -> int:
    """The bytes of *text* in UTF-8."""
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidRecord(f"{field} cannot be stored as UTF-8: {error}") from error


def identifier(field: str, text: str) -> bytes:
    """The 32 bytes of an id in 64 lower-case hex digits."""
    if len(text) != 64 or not set(text) <= set("0123456789abcdef"):
        raise InvalidRecord(f"{field} {text[:80]!r}: an id has 64 lower-case hex digits")
    return bytes.fromhex(text)


def in_order(metadata: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Metadata as it is hashed: by key. Code points and UTF-8 bytes have the same order."""
    return tuple(sorted(metadata.items()))
