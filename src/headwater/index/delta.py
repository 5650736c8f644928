"""The changes of a commit since its tree: its own, and those it inherits from the commits between.

They are two values, for a log reads only the first. A key is in one of them at most: what a commit changes, it does not
inherit. The bytes are described in `docs/formats.md`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import IntEnum

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


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[_Line])


def encode_own(edits: Mapping[str, Edit]) -> bytes:
    """What a commit itself changed."""
    return _encode(edits, Action.ADD, Action.REMOVE)


def encode_inherited(edits: Mapping[str, Edit]) -> bytes:
    """What the commits between it and its tree changed, and it did not change again."""
    return _encode(edits, Action.INCREMENTAL_ADD, Action.INCREMENTAL_REMOVE)


def decode_own(part: bytes, *, of: str = "a delta") -> Edits:
    """The inverse of `encode_own`. Raises `Corrupt`, naming *of*."""
    return _decode(part, of, inherited=False)


def decode_inherited(part: bytes, *, of: str = "a delta") -> Edits:
    """The inverse of `encode_inherited`. Raises `Corrupt`, naming *of*."""
    return _decode(part, of, inherited=True)


def _encode(edits: Mapping[str, Edit], add: Action, remove: Action) -> bytes:
    if not edits:
        return b""
    lines: list[_Line] = []
    before = b""
    for key in sorted(edits):
        text, edit = key.encode(), edits[key]
        keep = _common(before, text)
        lines.append(_Line(keep, text[keep:], remove if edit is TOMBSTONE else add, to_stored(edit)))
        before = text
    body = _encoder.encode(lines)
    return _digest(body) + body


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
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=DIGEST).digest()
