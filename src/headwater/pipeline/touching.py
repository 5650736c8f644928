"""Which segments of a tree a job writes anew: those that its rows fall into. All others are kept, and never read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import ceil

import msgspec
import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from headwater.index.joining import parts
from headwater.index.texts import Texts
from headwater.index.tree import Tree
from headwater.pipeline.limits import ROWS_A_TASK
from headwater.pipeline.snapshots import Snapshot, positions


class Touched(msgspec.Struct, frozen=True):
    """A tree, what lies on top of it, and the *runs* of its segments that are written anew, by position, in order."""

    tree: Tree
    delta: pa.RecordBatch
    runs: tuple[range, ...]
    rows: int | None
    """How many rows there are to be written, at most; None if nobody counted them."""

    @property
    def kept(self) -> list[range]:
        """The positions of the segments between the runs."""
        ends = [0, *(run.stop for run in self.runs)]
        starts = [*(run.start for run in self.runs), len(self.tree)]
        return [range(end, start) for end, start in zip(ends, starts, strict=True) if end < start]

    @property
    def bounds(self) -> list[str]:
        """The greatest key before each run. What comes after one begins a segment, as a segment ended there."""
        return [self.tree.lasts[run.start - 1] for run in self.runs if run.start]

    @property
    def before(self) -> Snapshot:
        """The rows that there are in the runs so far."""
        counts = self.tree.rows.column("count").to_pylist()
        places = [place for run in self.runs for place in run]
        return Snapshot(
            commit="",
            prefix="",
            segments=tuple(self.tree.segments[place] for place in places),
            exact=True,
            count=sum(counts[place] for place in places),
            edits=self.delta,
        )

    def tasks(self, otherwise: int) -> int:
        """How many tasks the rows are worth; so many as *otherwise* if nobody counted them."""
        return otherwise if self.rows is None else max(1, ceil(self.rows / ROWS_A_TASK))


def touched(tree: Tree, delta: pa.RecordBatch, rows: DataFrame, prefixes: Iterable[str]) -> Touched:
    """What of *tree* the keys of *rows* and of *delta* fall into, and what may have keys with one of *prefixes*.

    For that executors go over the keys of *rows* once, but for a tree of one segment.
    """
    if len(tree) <= 1:
        return Touched(tree, delta, (range(1),) if len(tree) else (), None)
    found = _counted(rows, tree)
    places = {part.position for part in parts(tree, Texts(delta.column("key")))} | found.keys()
    for prefix in prefixes:
        places.update(positions(tree, prefix))
    counts = tree.rows.column("count").to_pylist()
    before = sum(counts[place] for place in places)
    return Touched(tree, delta, tuple(_runs(sorted(places))), sum(found.values()) + before + len(delta))


def _counted(rows: DataFrame, tree: Tree) -> dict[int, int]:
    """How many of *rows* fall into each segment of *tree*. What comes after all falls into the last."""
    lasts = pl.Series(tree.rows.column("last"))[:-1]

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys = pl.Series(batch.column("key"), dtype=pl.String)
            counts = lasts.search_sorted(keys, side="left").value_counts(name="rows")
            arrays = [counts.to_series(0).cast(pl.Int32).to_arrow(), counts["rows"].cast(pl.Int64).to_arrow()]
            yield pa.RecordBatch.from_arrays(arrays, names=["position", "rows"])

    found = rows.select("key").mapInArrow(count, "position int, rows long").groupBy("position").agg(F.sum("rows"))
    return {int(position): int(rows) for position, rows in found.collect()}


def _runs(places: Sequence[int]) -> Iterator[range]:
    """Ascending *places* as ranges."""
    if not places:
        return
    start = places[0]
    for one, other in pairwise(places):
        if other > one + 1:
            yield range(start, one + 1)
            start = other
    yield range(start, places[-1] + 1)
