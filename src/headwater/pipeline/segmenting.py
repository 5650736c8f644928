"""Sorted rows become segments on executors; where two tasks meet, the driver cuts anew, so that all is cut as by one.

A cut depends on nothing but the rows since the cut before. A task that begins anywhere in the rows therefore makes, but
for its first few segments, the very ones that one long run would have made, and the last of its rows are no whole
segment. The driver goes over these seams (see `mending`). So the tree is that of the engine, segment by segment,
whatever the number of tasks.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from headwater.index import IndexStore
from headwater.index.boundaries import SEED
from headwater.index.limits import CUT_BITS
from headwater.index.schema import NO_ROWS, SCHEMA
from headwater.index.segment import is_sorted
from headwater.index.texts import Texts
from headwater.index.tree import Stripe
from headwater.pipeline.errors import BadFrame
from headwater.pipeline.frames import ROWS
from headwater.pipeline.place import Objects
from headwater.sdk.sync.running import Runner

assert SEED == 42, "Spark's xxhash64 has this seed"  # noqa: S101  (the boundaries would be others)

_PAIRS = "array<struct<key: string, value: string>>"

STRIPES = T.StructType(
    [
        T.StructField("task", T.IntegerType()),
        T.StructField("place", T.IntegerType()),
        T.StructField("whole", T.BooleanType()),
        T.StructField("segment", T.StringType()),
        T.StructField("first", T.StringType()),
        T.StructField("last", T.StringType()),
        T.StructField("count", T.LongType()),
        T.StructField("bytes", T.LongType()),
    ]
)
"""What a task tells of the segments that it wrote. The last may not be *whole*: it is what was left."""


class Told(msgspec.Struct, frozen=True):
    """A segment that a task wrote."""

    task: int
    place: int
    whole: bool
    stripe: Stripe


def write_segments(rows: DataFrame, objects: Objects, tasks: int, bounds: Sequence[str] = ()) -> list[Told]:
    """Sort *rows* of `ROWS` by key into that many tasks, and write what each has as segments. In the order of keys.

    Behind each of *bounds*, which are sorted, a segment begins. A task that runs twice writes the same objects under
    the same names.
    """
    sorted_rows = (
        rows.select(
            *(_canonical(field.name) for field in SCHEMA),
            (F.xxhash64("key").bitwiseAND((1 << CUT_BITS) - 1) == 0).alias("may_end"),
        )
        .repartitionByRange(tasks, "key")
        .sortWithinPartitions("key")
    )
    found = sorted_rows.mapInArrow(_segmenter(objects, tuple(bounds)), STRIPES).collect()
    told = [
        Told(row.task, row.place, row.whole, Stripe(row.segment, row.first, row["last"], row["count"], row["bytes"]))
        for row in found
    ]
    return sorted(told, key=lambda each: (each.task, each.place))


def _canonical(name: str) -> Any:
    """A column as it goes to Python: metadata as pairs sorted by name, and lists of nothing where there is nothing.

    Null would be what segments have there. But Spark asks for the size of a batch at each row, and to tell it, goes
    over all nulls behind the last list that is one: nine tenths of the time of a task would be that.
    """
    if name == "metadata":
        return F.coalesce(F.array_sort(F.map_entries("metadata")), F.array().cast(_PAIRS)).alias("metadata")
    if name == "blocks":
        return F.coalesce("blocks", F.array().cast(ROWS["blocks"].dataType)).alias("blocks")
    return F.col(name)


def _segmenter(
    objects: Objects, bounds: Sequence[str]
) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    """What runs in a task."""

    def segment(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        writing = _Writing(objects, 0 if context is None else context.partitionId(), bounds)
        try:
            for batch in batches:
                yield from writing.add(batch)
            yield from writing.end()
        finally:
            writing.close()

    return segment


class _Writing:
    """One task's rows on their way into segments."""

    def __init__(self, objects: Objects, task: int, bounds: Sequence[str]) -> None:
        self._runner = Runner()
        self._blobs = self._runner.run_on_loop(objects.open())
        self._store = IndexStore(self._blobs)
        self._task = task
        self._bounds = bounds
        self._last = ""
        self._place = 0
        self._rows = NO_ROWS
        self._candidates: list[int] = []
        self._cut: list[tuple[pa.RecordBatch, bool]] = []

    def add(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take more rows; write the segments that are cut by now, once there are enough of them."""
        rows = as_rows(batch)
        ends = pc.indices_nonzero(batch.column("may_end")).to_pylist()
        start = 0
        for begins in self._bounds_in(rows):
            self._take(rows.slice(start, begins - start), [end - start for end in ends if start <= end < begins])
            self._end_run()
            start = begins
        self._take(rows.slice(start), [end - start for end in ends if start <= end])
        if len(self._rows) + sum(len(piece) for piece, _ in self._cut) >= self._store.cutting.max_rows:
            self._end_segments()
            yield from self._put()

    def end(self) -> Iterator[pa.RecordBatch]:
        """Write what is left."""
        self._end_run()
        yield from self._put()

    def close(self) -> None:
        self._runner.run_on_loop(self._blobs.aclose())
        self._runner.close()

    def _bounds_in(self, rows: pa.RecordBatch) -> list[int]:
        """Before which of *rows*, the next ones of the task, a segment begins in any case."""
        keys = Texts(rows.column("key"))
        if not len(keys):
            return []
        last = keys[len(keys) - 1]
        behind = range(bisect_left(self._bounds, self._last or keys[0]), bisect_left(self._bounds, last))
        self._last = last
        return sorted({bisect_right(keys, self._bounds[bound]) for bound in behind})

    def _take(self, rows: pa.RecordBatch, ends: Sequence[int]) -> None:
        """More rows of the run; behind those at *ends* a segment may end."""
        before = len(self._rows)
        self._rows = pa.concat_batches([self._rows, rows]) if before else rows
        self._candidates += [before + end + 1 for end in ends]

    def _end_segments(self) -> None:
        """Cut what is whole."""
        ends = self._store.cutting.ends(self._rows, final=False, candidates=self._candidates)
        if not ends:
            return
        self._cut += [
            (self._rows.slice(start, end - start), True) for start, end in zip([0, *ends], ends, strict=False)
        ]
        self._rows = self._rows.slice(ends[-1])
        self._candidates = [place - ends[-1] for place in self._candidates if place > ends[-1]]

    def _end_run(self) -> None:
        """Cut all there is. What is left is whole only if a cut is allowed there, which `ends` knows."""
        self._end_segments()
        if len(self._rows):
            self._cut.append((self._rows, False))
        self._rows, self._candidates = NO_ROWS, []

    def _put(self) -> Iterator[pa.RecordBatch]:
        """Write what was cut, and tell of it."""
        cut, self._cut = self._cut, []
        if not cut:
            return
        for piece, _ in cut:
            check_distinct(piece)
        stripes = self._runner.run_on_loop(self._store.put_segments([piece for piece, _ in cut], keep=False))
        rows = [
            (self._task, self._place + place, whole, each.segment, each.first, each.last, each.count, each.bytes)
            for place, (each, (_, whole)) in enumerate(zip(stripes, cut, strict=True))
        ]
        self._place += len(rows)
        columns = zip(*rows, strict=True)
        kinds = [pa.int32(), pa.int32(), pa.bool_(), pa.string(), pa.string(), pa.string(), pa.int64(), pa.int64()]
        arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names=STRIPES.names)


def as_rows(batch: pa.RecordBatch) -> pa.RecordBatch:
    """What Spark hands over, see `_canonical`, as rows of `SCHEMA`."""
    return pa.RecordBatch.from_arrays([_column(batch.column(field.name), field) for field in SCHEMA], schema=SCHEMA)


def _column(column: pa.Array, field: pa.Field) -> pa.Array:
    if not pa.types.is_list(column.type):
        return column.cast(field.type)
    sizes = pc.list_value_length(column)
    empty = pc.equal(sizes, 0)
    if pc.all(empty).as_py():
        return pa.nulls(len(column), field.type)
    items = pc.list_flatten(column)
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(sizes).cast(pa.int32())])
    if pa.types.is_list(field.type):
        return pa.ListArray.from_arrays(offsets, items, mask=empty).cast(field.type)
    names, values = (pc.struct_field(items, place).cast(pa.string()) for place in (0, 1))
    return pa.MapArray.from_arrays(offsets, names, values, type=field.type, mask=empty)


def check_distinct(rows: pa.RecordBatch) -> None:
    """Raise `BadFrame` if a path comes twice among *rows*."""
    if not is_sorted(rows.column("key")):
        raise BadFrame(f"a path comes twice: {_first_twice(rows.column('key'))!r}; keep one row of each")


def _first_twice(keys: pa.Array) -> str:
    again = pc.equal(keys.slice(1), keys.slice(0, len(keys) - 1))
    places = pc.indices_nonzero(again)
    key = keys[places[0].as_py()].as_py() if len(places) else keys[0].as_py()
    return str(key)[2:]
