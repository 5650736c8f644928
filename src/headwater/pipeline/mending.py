"""Where segments of one task meet those of the next, or those that are kept, the driver cuts anew.

From the rows that a task had left, through the segments behind them, until a cut falls on one that is there. That is
some four segments a seam; seams do not depend on one another, so many are gone over at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.drive import together
from headwater.index import IndexStore
from headwater.index.limits import TOGETHER
from headwater.index.schema import NO_ROWS
from headwater.index.tree import Stripe, Tree
from headwater.pipeline.errors import BadFrame
from headwater.pipeline.segmenting import Told, check_distinct

Piece = Told | int
"""A part of the tree to be: what a task wrote, or the position of a segment that is kept."""


class _Seam(msgspec.Struct, frozen=True):
    """What comes in place of some pieces, of which *end* is the first that stays."""

    end: int
    stripes: list[Stripe]


async def mended(store: IndexStore, told: Sequence[Told], before: Tree, kept: Sequence[range]) -> Tree:
    """The tree of what the tasks wrote and of what is *kept* of the one *before*, cut as if there were no seams.

    It is written, and its segments are.
    """
    pieces: list[Piece] = [*told, *(place for places in kept for place in places)]
    pieces.sort(key=lambda piece: before.firsts[piece] if isinstance(piece, int) else piece.stripe.first)
    open_at = [place for place, each in enumerate(pieces[:-1]) if isinstance(each, Told) and not each.whole]
    seams: dict[int, _Seam] = {}
    for start in range(0, len(open_at), TOGETHER):
        some = open_at[start : start + TOGETHER]
        found = await together([partial(_mend, store, before, pieces, place) for place in some])
        seams.update(zip(some, found, strict=True))
    tree = before.with_stripes(_plan(pieces, seams))
    _check(tree, before)
    await store.put_tree(tree)
    return tree


async def _mend(store: IndexStore, before: Tree, pieces: Sequence[Piece], start: int) -> _Seam:
    """Cut anew from the piece at *start* on, until a cut falls on the end of one."""
    pending = NO_ROWS
    stripes: list[Stripe] = []
    for place in range(start, len(pieces)):
        piece = pieces[place]
        name = before.segments[piece] if isinstance(piece, int) else piece.stripe.segment
        rows = pa.concat_batches([pending, (await store.rows(name)).batch])
        ends = [0, *store.cutting.ends(rows, final=place == len(pieces) - 1)]
        cut = [rows.slice(one, other - one) for one, other in pairwise(ends)]
        for each in cut:
            check_distinct(each)
        stripes += await store.put_segments(cut, keep=False)
        pending = rows.slice(ends[-1])
        if not len(pending):
            return _Seam(place + 1, stripes)
    return _Seam(len(pieces), stripes)


def _plan(pieces: Sequence[Piece], seams: dict[int, _Seam]) -> list[range | Stripe]:
    """The pieces as a tree takes them, with *seams* in place of what they mend. A seam may swallow the next one."""
    plan: list[range | Stripe] = []
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        if place in seams:
            plan += seams[place].stripes
            place = seams[place].end
            continue
        if isinstance(piece, Told):
            plan.append(piece.stripe)
        elif plan and isinstance(plan[-1], range) and plan[-1].stop == piece:
            plan[-1] = range(plan[-1].start, piece + 1)
        else:
            plan.append(range(piece, piece + 1))
        place += 1
    return plan


def _check(tree: Tree, before: Tree) -> None:
    """Raise if segments overlap: what tells where rows go was found by reading them once more than they are written."""
    rows = tree.rows
    if len(tree) < 2 or pc.all(pc.less(rows.column("last")[:-1], rows.column("first")[1:])).as_py():
        return
    if len(before):
        raise BadFrame(
            "a path comes twice, or the rows were others when they were read again: keep one row of each, and write to "
            "Parquet first what does not come out the same each time"
        )
    raise BadFrame("a path comes twice: keep one row of each")
