"""What differs between two trees, found by executors: segments that one has and the other has not, range by range.

Segments are sorted already. So nothing is sorted, shuffled or joined: each range of keys is read from both sides, laid
side by side in Arrow, and only what differs goes to the JVM.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T  # noqa: N812

from headwater.index import IndexStore
from headwater.index.comparing import Aligned, differing
from headwater.index.keys import after_key, after_prefix
from headwater.index.schema import NO_ROWS
from headwater.index.tree import Tree
from headwater.pipeline.frames import COLUMNS, ENTRY, plain
from headwater.pipeline.limits import COMPARED
from headwater.pipeline.place import Objects
from headwater.pipeline.snapshots import positions
from headwater.sdk.sync.running import Runner

_SIDE = T.StructType([T.StructField(*field) for field in ENTRY])
CHANGED = T.StructType(
    [T.StructField("key", T.StringType()), T.StructField("left", _SIDE), T.StructField("right", _SIDE)]
)
"""A key, and what it is on each side; null where there is none."""


class Range(msgspec.Struct, frozen=True):
    """Keys from *start* up to *stop*, or to the end, and the segments of each side that may have some."""

    start: str
    stop: str | None
    left: list[str]
    right: list[str]


class _Only(msgspec.Struct, frozen=True):
    """The segments that one tree has and the other has not, in order, with their first and last keys."""

    names: list[str]
    firsts: list[str]
    lasts: list[str]

    def between(self, start: str, stop: str | None) -> list[str]:
        """Those that may have keys from *start* up to *stop*."""
        end = len(self.names) if stop is None else bisect_left(self.firsts, stop)
        return self.names[bisect_left(self.lasts, start) : end]


def ranges(left: Tree, right: Tree, prefix: str) -> list[Range]:
    """Ranges that have all differences of two trees among keys with *prefix*, each of some segments."""
    sides = _only(left, right, prefix), _only(right, left, prefix)
    ends = sorted(last for side in sides for last in side.lasts)[COMPARED - 1 :: COMPARED]
    first, end = prefix, after_prefix(prefix)
    inner = [after_key(each) for each in ends]
    inner = inner[bisect_right(inner, first) : len(inner) if end is None else bisect_left(inner, end)]
    found = [
        Range(start, stop, *(side.between(start, stop) for side in sides))
        for start, stop in zip([first, *inner], [*inner, end], strict=True)
    ]
    return [each for each in found if each.left or each.right]


def differences(spark: SparkSession, objects: Objects, found: Sequence[Range], known: pa.Array) -> DataFrame:
    """What differs in the ranges that were *found*, but for the keys that are *known* otherwise. As `CHANGED`."""
    if not found:
        return spark.createDataFrame([], CHANGED)
    rows = [msgspec.structs.astuple(each) for each in found]
    frame = spark.createDataFrame(rows, "start string, stop string, left array<string>, right array<string>")
    return frame.repartition(len(found)).mapInArrow(_Comparing(objects, known).compared, CHANGED)


class _Comparing:
    """What runs in a task."""

    def __init__(self, objects: Objects, known: pa.Array) -> None:
        self._objects = objects
        self._known = known

    def compared(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        runner = Runner()
        blobs = runner.run_on_loop(self._objects.open())
        try:
            store = IndexStore(blobs)
            for batch in batches:
                for row in batch.to_pylist():
                    each = Range(**row)
                    sides = [runner.run_on_loop(_rows(store, names, each)) for names in (each.left, each.right)]
                    yield from self._shown(differing(*sides))
        finally:
            runner.run_on_loop(blobs.aclose())
            runner.close()

    def _shown(self, found: Aligned) -> Iterator[pa.RecordBatch]:
        if len(self._known):
            found = found.filter(pc.invert(pc.is_in(found.keys, value_set=self._known)))
        if len(found):
            yield pa.RecordBatch.from_arrays(
                [found.keys, _struct(found.left), _struct(found.right)], names=CHANGED.names
            )


async def _rows(store: IndexStore, names: Sequence[str], each: Range) -> pa.RecordBatch:
    """The rows of segments that are in the range."""
    pieces = [NO_ROWS]
    for rows in await store.many_rows(names):
        start = rows.position(each.start)
        end = len(rows) if each.stop is None else rows.position(each.stop)
        pieces.append(rows.batch.slice(start, end - start))
    return pa.concat_batches(pieces)


def _struct(side: pa.RecordBatch) -> pa.Array:
    columns = plain(side.select(list(COLUMNS))).columns
    return pa.StructArray.from_arrays(columns, names=list(COLUMNS), mask=side.column("kind").is_null())


def _only(tree: Tree, other: Tree, prefix: str) -> _Only:
    there = set(other.segments)
    places = [place for place in positions(tree, prefix) if tree.segments[place] not in there]
    return _Only(*([column[place] for place in places] for column in (tree.segments, tree.firsts, tree.lasts)))
