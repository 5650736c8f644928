"""Paths of files as keys of the index: `f/` and the path. The catalog of tables has a key space of its own, `c/`."""

from __future__ import annotations

from headwater.engine.errors import BadRequest
from headwater.engine.limits import MAX_JOURNALED, MAX_PATH

FILES = "f/"


def key_of(path: str) -> str:
    """The key of the file at *path*. Raises `BadRequest` if there can be none."""
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise BadRequest(f"path {path!r} is no text: it has an unpaired surrogate") from None
    if not 1 <= size <= MAX_PATH:
        raise BadRequest(f"path {path[:80]!r} has {size} bytes; it must have 1 to {MAX_PATH}")
    if "\0" in path:
        raise BadRequest(f"path {path!r} has a NUL character, which no path may have")
    return FILES + path


def check_journaled(key: str) -> None:
    """Raise `BadRequest` if *key* has no room for the stamp that records of an append repository have behind it."""
    size = len(key.encode()) - len(FILES)
    if size > MAX_JOURNALED:
        raise BadRequest(
            f"path {path_of(key)[:80]!r}… has {size} bytes; in an append repository it must have 1 to {MAX_JOURNALED}"
        )


def prefix_of(prefix: str) -> str:
    """What the keys of files begin with whose paths begin with *prefix*."""
    if len(prefix.encode(errors="replace")) > MAX_PATH:
        raise BadRequest(f"prefix {prefix[:80]!r}… is longer than any path, which has {MAX_PATH} bytes at most")
    return FILES + prefix


def after_of(after: str) -> str:
    """Where a listing goes on that stopped after *after*; from the beginning for an empty one."""
    return FILES + after if after else ""


def path_of(key: str) -> str:
    return key.removeprefix(FILES)
