"""A tree: which segments, in order, make the reference index of a commit. A small Parquet file, named by content."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headwater.index.content_hash import content_hash
from headwater.index.errors import Corrupt
from headwater.index.limits import LISTED_STRIPES
from headwater.index.segment import is_sorted, read_rows
from headwater.index.texts import Texts

TREE = pa.schema(
    [
        pa.field("segment", pa.string(), nullable=False),
        pa.field("first", pa.string(), nullable=False),
        pa.field("last", pa.string(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
    ]
)

_WRITING: dict[str, Any] = {
    "compression": "zstd",
    "version": "2.6",
    "data_page_version": "1.0",
    "store_schema": False,
    "write_page_checksum": True,
    "use_dictionary": False,
    "column_encoding": {
        "first": "DELTA_BYTE_ARRAY",
        "last": "DELTA_BYTE_ARRAY",
        "count": "DELTA_BINARY_PACKED",
        "bytes": "DELTA_BINARY_PACKED",
    },
}


class Stripe(msgspec.Struct, frozen=True):
    """One line of a tree: a segment, its first and last key, its rows, and the bytes of its file."""

    segment: str
    first: str
    last: str
    count: int
    bytes: int


class Tree:
    """The segments of a reference index in the order of their keys. Immutable.

    Its *id* is the hash of all columns but `bytes`, which depends on who wrote the files.
    """

    def __init__(self, rows: pa.RecordBatch) -> None:
        self.rows = rows
        self.id = content_hash("tree", rows.select(TREE.names[:-1]))
        self.segments = _texts(rows.column("segment"))
        self.firsts = _texts(rows.column("first"))
        self.lasts = _texts(rows.column("last"))

    def __len__(self) -> int:
        """How many segments there are."""
        return len(self.segments)

    @property
    def name(self) -> str | None:
        """What it is stored as: its id, or None for the tree of nothing."""
        return self.id if len(self) else None

    @property
    def count(self) -> int:
        """How many entries there are."""
        return pc.sum(self.rows.column("count"), min_count=0).as_py()  # type: ignore[no-any-return]  # of an int64 column

    def find(self, key: str) -> int:
        """The position of the only segment that can have *key*, or where it would come."""
        return bisect_left(self.lasts, key)

    def encode(self) -> bytes:
        """The bytes of its file."""
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_batches([self.rows]), sink, **_WRITING)
        return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]  # pyarrow has no types

    def with_stripes(self, runs: Sequence[range | Stripe]) -> Tree:
        """The tree of some of these segments, by ranges of positions, and new ones, in the order given."""
        parts: list[pa.RecordBatch] = []
        fresh: list[Stripe] = []
        for run in [*runs, range(0)]:
            if isinstance(run, Stripe):
                fresh.append(run)
                continue
            parts.append(_batch(fresh))
            parts.append(self.rows.slice(run.start, len(run)))
            fresh = []
        return Tree(pa.concat_batches(parts))


def read_tree(name: str, file: bytes) -> Tree:
    """The tree *name*. Raises `Corrupt` unless it is the very one that was written."""
    what = f"tree {name}"
    tree = Tree(read_rows(what, file, TREE))
    if tree.id != name:
        raise Corrupt(what, "its content does not hash to its name")
    if not (is_sorted(tree.rows.column("first")) and is_sorted(tree.rows.column("last"))):
        raise Corrupt(what, "its segments are not in order")
    return tree


def _texts(column: pa.Array) -> Sequence[str]:
    """The strings of *column*: as objects, which are found at once, while they are few."""
    strings: list[str] | None = column.to_pylist() if len(column) <= LISTED_STRIPES else None
    return Texts(column) if strings is None else strings


def _batch(stripes: Sequence[Stripe]) -> pa.RecordBatch:
    columns = zip(*map(msgspec.structs.astuple, stripes), strict=True) if stripes else [()] * len(TREE)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, TREE, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=TREE)


NO_TREE = Tree(pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in TREE], schema=TREE))
"""The tree of nothing, which is never stored."""
