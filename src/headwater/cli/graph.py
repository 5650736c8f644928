"""Drawing a history: a column for each line of it that is open, and a row for each commit and each join.

A line is open from a commit down to its parent. It keeps its column, and a column that has become free is used again,
so nothing ever moves sideways; a merge opens lines, and where several lead to one commit they are joined before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar


class Drawn(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def parents(self) -> Sequence[str]: ...


Item = TypeVar("Item", bound=Drawn)

COMMIT = "●"
ASCII = str.maketrans(
    {"●": "*", "│": "|", "─": "-", "├": "|", "┤": "|", "╮": "\\", "╯": "/", "┬": "+", "┴": "+", "┼": "+"}
)
"""For terminals that have no lines."""


class Graph:
    """Draws commits one by one, each after all those that lead to it."""

    def __init__(self) -> None:
        self._lines: list[str | None] = []
        """By column: the commit that its line leads down to; None where there is no line."""

    def rows(self, commits: Iterable[Item]) -> Iterator[tuple[str, Item | None]]:
        """The picture, row by row, and the commit that a row is for; None if it only joins or opens lines."""
        for commit in commits:
            column, joined = self._reached(commit.id)
            if joined:
                yield self._join(column, joined), None
            yield self._row({column: COMMIT}), commit
            yield from ((row, None) for row in self._leave(column, commit.parents))

    def _reached(self, commit: str) -> tuple[int, list[int]]:
        """The column of *commit*, and those of other lines that lead to it, too."""
        columns = [column for column, line in enumerate(self._lines) if line == commit]
        if columns:
            return columns[0], columns[1:]
        column = self._free()
        self._lines[column] = commit
        return column, []

    def _join(self, column: int, joined: Sequence[int]) -> str:
        row = self._across(column, joined[-1], "├", "╯", dict.fromkeys(joined[:-1], "┴"))
        for each in joined:
            self._lines[each] = None
        return row

    def _leave(self, column: int, parents: Sequence[str]) -> Iterator[str]:
        """Go on from a commit to its *parents*: to the first in its own column, to the others aside."""
        self._lines[column] = parents[0] if parents else None
        for parent in parents[1:]:
            if parent in self._lines:
                other = self._lines.index(parent)
                if other == column:
                    continue
                yield self._across(min(column, other), max(column, other), "├", "┤", {})
                continue
            other = self._free(column)
            self._lines[other] = parent
            yield self._across(column, other, "├", "╮", {})

    def _free(self, after: int = -1) -> int:
        """A column behind *after* without a line."""
        for column in range(after + 1, len(self._lines)):
            if self._lines[column] is None:
                return column
        self._lines.append(None)
        return len(self._lines) - 1

    def _across(self, left: int, right: int, begin: str, end: str, between: dict[int, str]) -> str:
        """A row with a bar from *left* to *right*."""
        signs = {column: between.get(column, "┼" if self._lines[column] else "─") for column in range(left + 1, right)}
        return self._row({left: begin, **signs, right: end}, bar=range(left, right))

    def _row(self, signs: dict[int, str], *, bar: range = range(0)) -> str:
        cells = (
            signs.get(column, "│" if line else " ") + ("─" if column in bar else " ")
            for column, line in enumerate(self._lines)
        )
        return "".join(cells).rstrip()
