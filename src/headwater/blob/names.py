"""Which names an object may have: those that every kind of store can hold, so that all refuse alike."""

from __future__ import annotations

import re

from headwater.blob.errors import BadName, LimitExceeded
from headwater.blob.limits import MAX_NAME, MAX_SEGMENT

RESERVED = ".headwater"
"""The segment that no name has: a local directory keeps what is not an object under it."""

_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_NOT_SEGMENTS = frozenset({"", ".", "..", RESERVED})


def check_name(name: str, room: int = MAX_NAME) -> None:
    """Raise unless *name* may be the name of an object, of at most *room* bytes."""
    _check_text(name, room)
    for segment in name.split("/"):
        if segment in _NOT_SEGMENTS:
            raise BadName(
                f"{name[:200]!r}: a name is segments between single slashes, none of them '.', '..' or {RESERVED!r}"
            )
        if len(segment) > MAX_SEGMENT // 4 and len(segment.encode()) > MAX_SEGMENT:
            raise LimitExceeded(f"{name[:200]!r}: between two slashes there are at most {MAX_SEGMENT} bytes")


def check_bound(bound: str, room: int = MAX_NAME) -> None:
    """Raise unless *bound* may be where a listing starts: nothing, a name, or a name and a slash."""
    if bound:
        check_name(bound.removesuffix("/"), room)


def check_prefix(prefix: str, room: int = MAX_NAME) -> None:
    """Raise unless *prefix* may be what names begin with: the last segment may be any part of one."""
    _check_text(prefix, room)
    directory, slash, _ = prefix.rpartition("/")
    if slash:
        check_name(directory, room)


def is_fit(segment: str) -> bool:
    """Whether *segment*, as a file system had it, holds no character that a name may not."""
    return _UNFIT.search(segment) is None


def _check_text(text: str, room: int) -> None:
    if _UNFIT.search(text):
        raise BadName(f"{text[:200]!r}: a name has no control characters, surrogates or U+FFFE, U+FFFF")
    if len(text) > room // 4 and len(text.encode()) > room:
        raise LimitExceeded(f"{text[:80]!r}… has {len(text.encode())} bytes; there is room for {room}")
