"""The changes of a commit since its tree: its own, and those it inherits from the commits between.

They are two values, for a log reads only the first. A key is in one of them at most: what a commit changes, it does not
inherit. The bytes are described in `docs/formats.md`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import IntEnum
from typing import TypeAlias

import msgspec

from headwater.index.edits import NO_EDITS, Edits
from headwater.index.entry import TOMBSTONE, Edit
from headwater.index.errors import Corrupt
from headwater.index.stored import Stored, from_stored, to_stored

DIGEST = 16
"""Bytes of the digest ahead of a part."""


class Action(IntEnum):
    """What a line of a delta does to its key, and whether its commit did that or inherits it."""

    ADD = 0
    REMOVE = 1
    INCREMENTAL_ADD = 2
    INCREMENTAL_REMOVE = 3


_INHERITED = frozenset({Action.INCREMENTAL_ADD, Action.INCREMENTAL_REMOVE})
_REMOVES = frozenset({Action.REMOVE, Action.INCREMENTAL_REMOVE})


class _Line(msgspec.Struct, frozen=True, array_like=True):
    """A key, as how many bytes of the one before to keep and which to append; and what to do there."""

    keep: int
    append: bytes
    action: Action
    entry: Stored | None


class _Key(msgspec.Struct, frozen=True, array_like=True):
    """What of a line says at which key it is."""

    keep: int
    append: bytes
    action: msgspec.Raw
    entry: msgspec.Raw


_keys_decoder = msgspec.msgpack.Decoder(list[_Key])
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[_Line])


class Encoded(msgspec.Struct, frozen=True):
    """A line as it was encoded, for *edit* at some key behind that of *before*."""

    before: str
    edit: Edit
    line: bytes


Lines: TypeAlias = Mapping[str, Encoded]
"""The lines of an inherited part, by their keys, in their order."""

NO_LINES: Lines = {}


def encode_own(edits: Mapping[str, Edit]) -> bytes:
    """What a commit itself changed."""
    return joined(_lines(edits, NO_LINES, Action.ADD, Action.REMOVE))


def encode_inherited(edits: Mapping[str, Edit]) -> bytes:
    """What the commits between it and its tree changed, and it did not change again."""
    return joined(inherited_lines(edits, NO_LINES))


def inherited_lines(edits: Mapping[str, Edit], known: Lines) -> Lines:
    """The lines of `encode_inherited`, to be `joined`. Those *known* of the commit before are nearly all of them."""
    return _lines(edits, known, Action.INCREMENTAL_ADD, Action.INCREMENTAL_REMOVE)


def joined(lines: Lines) -> bytes:
    """*lines* as one part."""
    if not lines:
        return b""
    body = _array_of(len(lines)) + b"".join([each.line for each in lines.values()])
    return _digest(body) + body


def decode_own(part: bytes, *, of: str = "a delta") -> Edits:
    """The inverse of `encode_own`. Raises `Corrupt`, naming *of*."""
    return _decode(part, of, inherited=False)


def decode_inherited(part: bytes, *, of: str = "a delta") -> Edits:
    """The inverse of `encode_inherited`. Raises `Corrupt`, naming *of*."""
    return _decode(part, of, inherited=True)


def own_keys(part: bytes, *, of: str = "a delta") -> tuple[str, ...]:
    """The keys alone of what `encode_own` made, for who looks through many: a fourth of what decoding takes."""
    keys: list[str] = []
    before = b""
    try:
        for line in _keys_decoder.decode(part[DIGEST:]) if part else ():
            before = before[: line.keep] + line.append
            keys.append(before.decode())
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Corrupt(of, str(error)) from None
    return tuple(keys)


def _lines(edits: Mapping[str, Edit], known: Lines, add: Action, remove: Action) -> Lines:
    lines: dict[str, Encoded] = {}
    before = ""
    for key in sorted(edits):
        edit = edits[key]
        encoded = known.get(key)
        if encoded is None or encoded.edit is not edit or encoded.before != before:
            text = key.encode()
            keep = _common(before.encode(), text)
            line = _Line(keep, text[keep:], remove if edit is TOMBSTONE else add, to_stored(edit))
            encoded = Encoded(before, edit, _encoder.encode(line))
        lines[key] = encoded
        before = key
    return lines


def _array_of(count: int) -> bytes:
    """The head of a msgpack array."""
    if count < 16:
        return bytes([0x90 | count])
    return b"\xdc" + count.to_bytes(2, "big") if count < 1 << 16 else b"\xdd" + count.to_bytes(4, "big")


def _decode(part: bytes, of: str, *, inherited: bool) -> Edits:
    if not part:
        return NO_EDITS
    if _digest(part[DIGEST:]) != part[:DIGEST]:
        raise Corrupt(of, "its digest does not hold")
    try:
        return Edits(dict(_keyed(_decoder.decode(part[DIGEST:]), of, inherited=inherited)))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Corrupt(of, str(error)) from None


def _keyed(lines: list[_Line], of: str, *, inherited: bool) -> list[tuple[str, Edit]]:
    keyed: list[tuple[str, Edit]] = []
    before = b""
    for line in lines:
        text = before[: line.keep] + line.append
        if text <= before:
            raise Corrupt(of, "its keys are not sorted")
        if (line.action in _INHERITED) != inherited or (line.action in _REMOVES) != (line.entry is None):
            raise Corrupt(of, f"{line.action.name} is out of place")
        key = text.decode()
        keyed.append((key, from_stored(key, line.entry)))
        before = text
    return keyed


def _common(left: bytes, right: bytes) -> int:
    """How many bytes both begin with."""
    size = min(len(left), len(right))
    differing = int.from_bytes(left[:size], "big") ^ int.from_bytes(right[:size], "big")
    return size - (differing.bit_length() + 7) // 8


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=DIGEST).digest()
