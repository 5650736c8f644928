"""Patterns of paths as regular expressions: `*`, `?` and `[…]` within a name, `**` for any number of directories."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from headwater.engine.errors import BadRequest
from headwater.engine.limits import MAX_PATH, PATTERN_PARTS


def check_pattern(pattern: str) -> None:
    """Raise `BadRequest` unless *pattern* can be one: what is wrong is told before anything is looked at."""
    parts = pattern.count("/") + 1
    if parts > PATTERN_PARTS or len(pattern.encode(errors="replace")) > MAX_PATH:
        raise BadRequest(f"pattern {pattern[:80]!r}… is too long: {PATTERN_PARTS} parts and {MAX_PATH} bytes at most")
    regex(pattern)


def matching(paths: pa.Array, patterns: Sequence[str]) -> pa.Array:
    """For each of *paths*, whether one of *patterns* matches it as a whole."""
    either = "|".join(f"(?:{regex(pattern)})" for pattern in patterns)
    return pc.match_substring_regex(paths, f"(?s){either}")


def regex(pattern: str) -> str:
    """The regular expression, in what RE2 and Python both understand, of paths that match *pattern* as a whole."""
    found = ""
    parts = pattern.split("/")
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        if part == "**":
            found += ".*" if last else "(?:[^/]+/)*"
        else:
            found += of_part(part) + ("" if last else "/")
    return f"^{found}$"


def of_part(part: str) -> str:
    found, place = "", 0
    while place < len(part):
        character = part[place]
        place += 1
        if character == "*":
            found += "[^/]*"
        elif character == "?":
            found += "[^/]"
        elif character == "[":
            end = part.find("]", place + (2 if part[place : place + 1] == "!" else 1))
            if end < 0:
                raise BadRequest(f"pattern {part!r}: a [ has no ] behind it; write [[] for the character itself")
            inside = part[place:end]
            negated = inside.startswith("!")
            found += f"[{'^' if negated else ''}{_class(inside[negated:])}]"
            place = end + 1
        else:
            found += re.escape(character)
    return found


def _class(characters: str) -> str:
    """The inside of brackets: a dash between two characters means a range, all else itself."""
    return "".join(f"\\{each}" if each in "\\]^[&~|" else each for each in characters)
