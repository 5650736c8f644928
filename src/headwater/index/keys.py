"""Keys are in the order of their UTF-8 bytes, which is that of Python's strings: what comes next in it."""

from __future__ import annotations

LAST = "\U0010ffff"
_BEFORE_SURROGATES, _AFTER_SURROGATES = "\ud7ff", "\ue000"


def after_key(key: str) -> str:
    """The least key greater than *key*."""
    return key + "\0"


def after_prefix(prefix: str) -> str | None:
    """The least key greater than all that begin with *prefix*; None if there is no such key."""
    stem = prefix.rstrip(LAST)
    if not stem:
        return None
    last = stem[-1]
    return stem[:-1] + (_AFTER_SURROGATES if last == _BEFORE_SURROGATES else chr(ord(last) + 1))
