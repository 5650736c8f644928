"""Patterns with `*` (any text, also none) and `?` (any one character), compiled so that a look costs next to nothing.

Most patterns are whole names or end in their only `*`: those become one look into a set and one `startswith` with all
prefixes at once. The others become regular expressions whose groups never give back what they took: a match takes time
in proportion to the pattern times the text, whatever they are, so nobody can stall a server with either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final, Literal, TypeAlias

ANY: Final = "*"
ONE: Final = "?"
USER: Final = "${user}"

Piece: TypeAlias = tuple[Literal["text", "any", "one"], str]


def pieces(pattern: str, user: str | None = None) -> list[Piece]:
    """What a pattern consists of. `${user}` becomes *user*, to the letter: a user called `*` is no wildcard."""
    parts = [pattern] if user is None else pattern.split(USER)
    found: list[Piece] = []
    for number, part in enumerate(parts):
        if number and user:
            found.append(("text", user))
        found += [
            ("any" if token == ANY else "one" if token == ONE else "text", token)
            for token in re.split(r"([*?])", part)
            if token
        ]
    return _simplest(found)


def _simplest(found: Iterable[Piece]) -> list[Piece]:
    """Without texts beside texts, or `*` beside `*`."""
    simplest: list[Piece] = []
    for kind, group in groupby(found, key=lambda piece: piece[0]):
        tokens = [token for _, token in group]
        if kind == "one":
            simplest += [(kind, token) for token in tokens]
        else:
            simplest.append((kind, "".join(tokens) if kind == "text" else ANY))
    return simplest


class Patterns:
    """Any number of patterns, of which a text matches at least one or none."""

    __slots__ = ("_everything", "_others", "_prefixes", "_whole")

    def __init__(self, patterns: Iterable[Sequence[Piece]]) -> None:
        whole: set[str] = set()
        prefixes: set[str] = set()
        others: set[str] = set()
        for pattern in patterns:
            match [kind for kind, _ in pattern]:
                case []:
                    whole.add("")
                case ["text"]:
                    whole.add(pattern[0][1])
                case ["any"]:
                    prefixes.add("")
                case ["text", "any"]:
                    prefixes.add(pattern[0][1])
                case _:
                    others.add(_expression(pattern))
        self._everything = "" in prefixes
        self._whole = frozenset(whole)
        self._prefixes = tuple(sorted(prefixes))
        self._others = [re.compile(other, re.DOTALL) for other in sorted(others)]

    def match(self, text: str) -> bool:
        if self._everything or text in self._whole or text.startswith(self._prefixes):
            return True
        return any(other.fullmatch(text) for other in self._others) if self._others else False


def _expression(pattern: Sequence[Piece]) -> str:
    """As a regular expression: after a `*`, the first place where what follows fits is the only one to be tried."""
    runs: list[str] = [""]
    for kind, token in pattern:
        if kind == "any":
            runs.append("")
        else:
            runs[-1] += "." if kind == "one" else re.escape(token)
    first, *between, last = runs if len(runs) > 1 else [*runs, ""]
    if len(runs) == 1:
        return first
    return first + "".join(f"(?>.*?{run})" for run in between) + ".*" + last
