"""Sorted rows become segments on executors; where two tasks meet, the driver cuts anew, so that all is cut as by one.

A cut depends on nothing but the rows since the cut before. A task that begins anywhere in the rows therefore makes, but
for its first few segments, the very ones that one long run would have made, and the last of its rows are no whole
segment. The driver goes over these seams: from the rows that a task had left, through the next task's segments, until a
cut falls on one of theirs. So the tree is that of the engine, segment by segment, whatever the number of tasks.
"""

from __future__ import annotations

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
from headwater.index.tree import NO_TREE, Stripe, Tree
from headwater.pipeline.errors import BadFrame
from headwater.pipeline.place import Objects
from headwater.sdk.sync.running import Runner

assert SEED == 42, "Spark's xxhash64 has this seed"  # noqa: S101  (the boundaries would be others)

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


def write_segments(rows: DataFrame, objects: Objects, tasks: int) -> list[Told]:
    """Sort *rows* of `ROWS` by key into that many tasks, and write what each has as segments. In the order of keys.

    A task that runs twice writes the same objects under the same names.
    """
    sorted_rows = (
        rows.select(
            *(_canonical(field.name) for field in SCHEMA),
            (F.xxhash64("key").bitwiseAND((1 << CUT_BITS) - 1) == 0).alias("may_end"),
        )
        .repartitionByRange(tasks, "key")
        .sortWithinPartitions("key")
    )
    found = sorted_rows.mapInArrow(_segmenter(objects), STRIPES).collect()
    told = [
        Told(row.task, row.place, row.whole, Stripe(row.segment, row.first, row["last"], row["count"], row["bytes"]))
        for row in found
    ]
    return sorted(told, key=lambda each: (each.task, each.place))


def _canonical(name: str) -> Any:
    """A column as segments have it: metadata as pairs sorted by name, and null where there is nothing."""
    if name == "metadata":
        pairs = F.array_sort(F.map_entries("metadata"))
        return F.when(F.size(pairs) > 0, pairs).alias("metadata")
    if name == "blocks":
        return F.when(F.size("blocks") > 0, F.col("blocks")).alias("blocks")
    return F.col(name)


def _segmenter(objects: Objects) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    """What runs in a task."""

    def segment(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        writing = _Writing(objects, 0 if context is None else context.partitionId())
        try:
            for batch in batches:
                yield from writing.add(batch)
            yield from writing.end()
        finally:
            writing.close()

    return segment


class _Writing:
    """One task's rows on their way into segments."""

    def __init__(self, objects: Objects, task: int) -> None:
        self._runner = Runner()
        self._blobs = self._runner.run_on_loop(objects.open())
        self._store = IndexStore(self._blobs)
        self._task = task
        self._place = 0
        self._rows = NO_ROWS
        self._candidates: list[int] = []

    def add(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take more rows; write the segments that are whole by now, once there are enough of them."""
        before = len(self._rows)
        rows = as_rows(batch)
        self._rows = pa.concat_batches([self._rows, rows]) if before else rows
        places = pc.indices_nonzero(batch.column("may_end")).to_pylist()
        self._candidates += [before + place + 1 for place in places]
        if len(self._rows) >= self._store.cutting.max_rows:
            yield from self._write(final=False)

    def end(self) -> Iterator[pa.RecordBatch]:
        """Write what is left, whole or not: it is whole if a cut is allowed there, which `ends` knows."""
        yield from self._write(final=False)
        if len(self._rows):
            yield from self._put([self._rows], whole=False)

    def close(self) -> None:
        self._runner.run_on_loop(self._blobs.aclose())
        self._runner.close()

    def _write(self, *, final: bool) -> Iterator[pa.RecordBatch]:
        ends = self._store.cutting.ends(self._rows, final=final, candidates=self._candidates)
        if not ends:
            return
        pieces = [self._rows.slice(start, end - start) for start, end in zip([0, *ends], ends, strict=False)]
        self._rows = self._rows.slice(ends[-1])
        self._candidates = [place - ends[-1] for place in self._candidates if place > ends[-1]]
        yield from self._put(pieces, whole=True)

    def _put(self, pieces: Sequence[pa.RecordBatch], *, whole: bool) -> Iterator[pa.RecordBatch]:
        for piece in pieces:
            if not is_sorted(piece.column("key")):
                raise BadFrame(f"a path comes twice: {_first_twice(piece.column('key'))!r}; keep one row of each")
        stripes = self._runner.run_on_loop(self._store.put_segments(pieces, keep=False))
        rows = [
            (self._task, self._place + place, whole, each.segment, each.first, each.last, each.count, each.bytes)
            for place, each in enumerate(stripes)
        ]
        self._place += len(rows)
        columns = zip(*rows, strict=True)
        kinds = [pa.int32(), pa.int32(), pa.bool_(), pa.string(), pa.string(), pa.string(), pa.int64(), pa.int64()]
        arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names=STRIPES.names)


def as_rows(batch: pa.RecordBatch) -> pa.RecordBatch:
    """What Spark hands over, as rows of `SCHEMA`. Metadata comes as pairs."""
    return pa.RecordBatch.from_arrays([_column(batch.column(field.name), field) for field in SCHEMA], schema=SCHEMA)


def _column(column: pa.Array, field: pa.Field) -> pa.Array:
    if pa.types.is_map(field.type):
        if column.null_count == len(column):
            return pa.nulls(len(column), field.type)
        pairs = pc.list_flatten(column)
        names, values = (pc.struct_field(pairs, place).cast(pa.string()) for place in (0, 1))
        offsets = pa.concat_arrays([pa.array([0], pa.int32()), _ends(column)])
        return pa.MapArray.from_arrays(offsets, names, values, type=field.type, mask=column.is_null())
    if pa.types.is_list(field.type) and column.null_count == len(column):
        return pa.nulls(len(column), field.type)
    return column.cast(field.type)


def _ends(column: pa.Array) -> pa.Array:
    """Where each list of *column* ends in what they are flattened to."""
    return pc.cumulative_sum(pc.fill_null(pc.list_value_length(column), 0)).cast(pa.int32())


def _first_twice(keys: pa.Array) -> str:
    again = pc.equal(keys.slice(1), keys.slice(0, len(keys) - 1))
    places = pc.indices_nonzero(again)
    key = keys[places[0].as_py()].as_py() if len(places) else keys[0].as_py()
    return str(key)[2:]


async def mended(store: IndexStore, told: Sequence[Told]) -> Tree:
    """The tree of what the tasks wrote, with the seams cut as if there were none. It is written."""
    plan: list[Stripe | range] = []
    pending = NO_ROWS
    for number, each in enumerate(told):
        final = number == len(told) - 1
        if not len(pending) and (each.whole or final):
            plan.append(each.stripe)
            continue
        rows = (await store.rows(each.stripe.segment)).batch
        joined = pa.concat_batches([pending, rows]) if len(pending) else rows
        start = 0
        pieces: list[pa.RecordBatch] = []
        for end in store.cutting.ends(joined, final=final):
            pieces.append(joined.slice(start, end - start))
            start = end
        _check_seam(pieces)
        plan += await store.put_segments(pieces, keep=False)
        pending = joined.slice(start)
    tree = NO_TREE.with_stripes(plan)
    if not is_sorted(tree.rows.column("first")) or not is_sorted(tree.rows.column("last")):
        raise BadFrame("a path comes twice: keep one row of each")
    await store.put_tree(tree)
    return tree


def _check_seam(pieces: Sequence[pa.RecordBatch]) -> None:
    for piece in pieces:
        if not is_sorted(piece.column("key")):
            raise BadFrame(f"a path comes twice: {_first_twice(piece.column('key'))!r}; keep one row of each")
