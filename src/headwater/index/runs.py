"""Runs: what a listing is made of. Rows that lie behind one another in a segment, and of which nothing has been read.

A page of a thousand entries is a run or two, with whatever is laid over the tree between them. Who wants entries has
them made; who answers with a page reads it column by column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec
import pyarrow as pa

from headwater.index.entry import Entry
from headwater.index.paging import CommonPrefix
from headwater.index.rows import Rows


class Run(msgspec.Struct, frozen=True):
    """The entries of a segment from row *start* up to, not including, *end*. *segment* is its id."""

    segment: str
    rows: Rows
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def columns(self) -> pa.RecordBatch:
        """The entries as a batch of `SCHEMA`."""
        return self.rows.batch.slice(self.start, len(self))

    def entries(self) -> list[Entry]:
        return self.rows.entries(self.start, self.end)

    def up_to(self, amount: int) -> Run:
        """The first *amount* of it."""
        return self.part(self.start, min(self.end, self.start + amount))

    def part(self, start: int, end: int) -> Run:
        """The rows of its segment from *start* up to *end*."""
        return Run(self.segment, self.rows, start, end)


Piece: TypeAlias = Run | Entry | CommonPrefix


class Listing(msgspec.Struct, frozen=True):
    """A page of a listing: entries and common prefixes in one order, in pieces."""

    pieces: Sequence[Piece]

    def __len__(self) -> int:
        """How many entries and common prefixes there are."""
        return sum(len(piece) if isinstance(piece, Run) else 1 for piece in self.pieces)

    @property
    def last(self) -> str:
        """The key of the last of them."""
        piece = self.pieces[-1]
        return piece.rows.key(piece.end - 1) if isinstance(piece, Run) else piece.key

    def items(self) -> list[Entry | CommonPrefix]:
        """All of them, one by one."""
        found: list[Entry | CommonPrefix] = []
        for piece in self.pieces:
            if isinstance(piece, Run):
                found += piece.entries()
            else:
                found.append(piece)
        return found

    def up_to(self, amount: int) -> Listing:
        """The first *amount* of them."""
        kept: list[Piece] = []
        for piece in self.pieces:
            if amount <= 0:
                break
            kept.append(piece.up_to(amount) if isinstance(piece, Run) else piece)
            amount -= len(piece) if isinstance(piece, Run) else 1
        return Listing(kept)
