"""Listing an index: a tree, and layers on top of it, page by page.

Of the tree no entry is made: where nothing is laid over it, what it has is taken in runs, however long. So a page costs
what lies over it, and a seek for each common prefix, which is a search in keys that are in memory.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Protocol

from headwater.index.entry import Edit, Entry
from headwater.index.keys import after_key, after_prefix
from headwater.index.layers import Layer, Span, nearest, read_through
from headwater.index.limits import FIRST_STEP, SEEK_STEP
from headwater.index.paging import CommonPrefix, check_amount, first_key, rolled_up
from headwater.index.rows import Rows
from headwater.index.runs import Listing, Piece, Run


class Runs(Protocol):
    """What lies below all layers."""

    async def run(self, start: str, stop: str | None) -> tuple[Run, str | None]:
        """Some of what there is from *start* on and before *stop*: all of it up to and with the key that is told, or
        to the end if that is None."""


async def read_listing(
    layers: Sequence[Layer],
    below: Runs,
    *,
    prefix: str,
    delimiter: str,
    after: str,
    amount: int,
) -> Listing:
    """The first *amount* things greater than *after*, in order; fewer if there are no more. See `read_page`."""
    check_amount(amount)
    page = _Page(prefix, delimiter, amount)
    stop = after_prefix(prefix)
    ahead = _Ahead(layers, FIRST_STEP if delimiter else amount)
    start = first_key(prefix, delimiter, after)
    while start is not None and page.missing and (stop is None or start < stop):
        over = await ahead.read(start, page.missing)
        run, last = await below.run(start, stop)
        reached = nearest(over.reached, last)
        for piece in woven(run, _between(over.items, start, reached, stop), reached):
            start = page.take(piece, start)
            if start is None or not page.missing:
                return Listing(page.pieces)
        start = None if reached is None else max(start, after_key(reached))
    return Listing(page.pieces)


class _Ahead:
    """The edits of some layers, read ahead of a page: the more at a time, the longer it goes on without a seek."""

    def __init__(self, layers: Sequence[Layer], step: int) -> None:
        self._layers = layers
        self._step = step
        self._span: Span[tuple[str, Edit]] | None = None

    async def read(self, start: str, missing: int) -> Span[tuple[str, Edit]]:
        """Edits from *start* or from before it. One that ends before *start* has been used up."""
        span = self._span
        if span is not None:
            if span.reached is None or start <= span.reached:
                return span
            self._step = self._step * 4 if start == after_key(span.reached) else SEEK_STEP
        self._span = await read_through(self._layers, start, min(self._step, missing))
        return self._span


class _Page:
    """A page that is being filled. *missing* is how many more things go into it."""

    def __init__(self, prefix: str, delimiter: str, amount: int) -> None:
        self.pieces: list[Piece] = []
        self.missing = amount
        self._prefix = prefix
        self._delimiter = delimiter

    def take(self, piece: Run | Entry, start: str) -> str | None:
        """Take what there is room for of *piece* from *start* on. Returns where to go on; None if nowhere."""
        if isinstance(piece, Entry):
            return start if piece.key < start else self._take_entry(piece, start)
        rows, position = piece.rows, max(piece.start, piece.rows.position(start))
        following: str | None = start
        while following is not None and position < piece.end and self.missing:
            common = rolled_up(rows.key(position), self._prefix, self._delimiter)
            if common is not None:
                following = self._roll_up(common)
                position = piece.end if following is None else rows.position(following)
                continue
            plain = _plain(rows, position, min(piece.end, position + self.missing), self._prefix, self._delimiter)
            self.pieces.append(piece.part(position, plain))
            self.missing -= plain - position
            position = plain
        return following

    def _take_entry(self, entry: Entry, start: str) -> str | None:
        common = rolled_up(entry.key, self._prefix, self._delimiter)
        if common is not None:
            return self._roll_up(common)
        self.pieces.append(entry)
        self.missing -= 1
        return start

    def _roll_up(self, common: str) -> str | None:
        self.pieces.append(CommonPrefix(common))
        self.missing -= 1
        return after_prefix(common)


def woven(run: Run, edits: Sequence[tuple[str, Edit]], reached: str | None) -> Iterator[Run | Entry]:
    """What *edits* leave of *run* up to the key *reached*, and what they add, in order."""
    rows, position, end = run.rows, run.start, run.end
    if reached is not None and end > position and rows.key(end - 1) > reached:
        end = rows.position(after_key(reached))
    for key, edit in edits:
        at = position
        if position < end and rows.key(position) < key:
            at = min(end, rows.position(key))
            yield run.part(position, at)
        position = at + 1 if at < end and rows.key(at) == key else at
        if isinstance(edit, Entry):
            yield edit
    if end > position:
        yield run.part(position, end)


def _between(
    edits: Sequence[tuple[str, Edit]], start: str, reached: str | None, stop: str | None
) -> Sequence[tuple[str, Edit]]:
    """Those of *edits* from *start* up to and with *reached*, and before *stop*."""
    if not edits:
        return edits
    first = bisect_left(edits, start, key=itemgetter(0))
    last = len(edits) if reached is None else bisect_left(edits, after_key(reached), first, key=itemgetter(0))
    return edits[first : last if stop is None else bisect_left(edits, stop, first, last, key=itemgetter(0))]


def _plain(rows: Rows, start: int, end: int, prefix: str, delimiter: str) -> int:
    """The first row from *start* on, before *end*, that has *delimiter* behind *prefix*; *end* if none has.

    All of them begin with *prefix*. So, of a delimiter of one character, as many are in them as there would have to be
    for the prefix alone if none is behind it: that is counted, over more rows at a time the longer none is found.
    """
    if not delimiter:
        return end
    within, mark = prefix.count(delimiter), delimiter.encode(errors="surrogatepass")
    if len(delimiter) > 1:
        return next((row for row in range(start, end) if rows.key(row).find(delimiter, len(prefix)) >= 0), end)

    def has_more(upto: int) -> bool:
        return rows.content(start, upto).count(mark) > (upto - start) * within

    step = FIRST_STEP
    while start < end:
        upto = min(start + step, end)
        if has_more(upto):
            return bisect_left(range(start, upto), 1, key=lambda row: has_more(row + 1)) + start
        start, step = upto, step * 16
    return end
