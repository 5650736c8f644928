"""The columns of a segment, in Arrow and in Parquet, and how entries become rows of them.

In memory rows are a `RecordBatch` of `SCHEMA`; edits have one column more, `removed`, and nothing but a key in the rows
where it is true. Metadata is sorted by name, and null where it is empty; blocks likewise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from headwater.index.entry import TOMBSTONE, Block, Edit, Entry, Kind
from headwater.index.stored import Stored, to_stored

BLOCK = pa.struct(
    [
        pa.field(name, kind, nullable=False)
        for name, kind in (
            ("address", pa.string()),
            ("offset", pa.int64()),
            ("length", pa.int64()),
        )
    ]
)

SCHEMA = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("modified", pa.int64(), nullable=False),
        pa.field("checksum", pa.string()),
        pa.field("address", pa.string()),
        pa.field("blocks", pa.list_(pa.field("element", BLOCK, nullable=False))),
        pa.field("content_type", pa.string()),
        pa.field("metadata", pa.map_(pa.string(), pa.field("value", pa.string(), nullable=False))),
        pa.field("content_id", pa.binary(16)),
        pa.field("payload", pa.binary()),
    ]
)

EDITS = SCHEMA.append(pa.field("removed", pa.bool_(), nullable=False))

NO_ROWS = pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in SCHEMA], schema=SCHEMA)

NO_EDIT_ROWS = pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in EDITS], schema=EDITS)

_GONE = Stored("", 0, 0, None, None, None, None, None, None, None)  # type: ignore[arg-type]  # of no kind


def batch_of_edits(edits: Mapping[str, Edit]) -> pa.RecordBatch:
    """Rows of `EDITS`, in the order of *edits*."""
    return batch_of_stored(list(edits), [to_stored(edit) for edit in edits.values()])


def batch_of_stored(keys: Sequence[str], stored: Sequence[Stored | None]) -> pa.RecordBatch:
    """Rows of `EDITS`, in the order of *keys*. Costs some 2 us a row."""
    rows = [row or _GONE for row in stored]
    columns: list[Any] = [
        keys,
        [row.kind for row in rows],
        [row.size for row in rows],
        [row.modified for row in rows],
        [row.checksum for row in rows],
        [row.address for row in rows],
        [row.blocks and [_as_struct(block) for block in row.blocks] for row in rows],
        [row.content_type for row in rows],
        [row.metadata and sorted(row.metadata.items()) for row in rows],
        [row.content_id for row in rows],
        [row.payload for row in rows],
        [row is None for row in stored],
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, EDITS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=EDITS)


def entries_of(rows: pa.RecordBatch) -> list[Entry]:
    """The entries of *rows*. Costs less than 1 us a row: each column is walked in one go."""
    sizes = rows.column("size").to_pylist()
    return list(
        map(
            Entry,
            rows.column("key").to_pylist(),
            map(_KINDS.__getitem__, rows.column("kind").to_pylist()),
            _blocks(rows, sizes),
            sizes,
            _values(rows.column("checksum")),
            rows.column("modified").to_pylist(),
            _values(rows.column("content_type")),
            map(dict, _values(rows.column("metadata"), ())),
            _values(rows.column("content_id")),
            _values(rows.column("payload")),
        )
    )


def entries_at(rows: pa.RecordBatch) -> Iterator[Entry | None]:
    """The entries of *rows*, of which some are null all over."""
    present = rows.column("kind").is_valid()
    entries = iter(entries_of(rows.filter(present)))
    return (next(entries) if there else None for there in present.to_pylist())


def edits_of(rows: pa.RecordBatch) -> dict[str, Edit]:
    """The edits of a batch of `EDITS`: for few of them."""
    keys: list[str] = rows.column("key").to_pylist()
    added = iter(entries_of(rows.filter(pc.invert(rows.column("removed")))))
    return {
        key: TOMBSTONE if removed else next(added)
        for key, removed in zip(keys, rows.column("removed").to_pylist(), strict=True)
    }


def _blocks(rows: pa.RecordBatch, sizes: Sequence[int]) -> Iterable[tuple[Block, ...]]:
    """The blocks of each of *rows*, of which most are one whole object: `zip` of one thing makes tuples of one."""
    addresses = rows.column("address")
    if not addresses.null_count:
        return zip(map(Block, addresses.to_pylist(), repeat(0), sizes))
    return [
        (Block(address, 0, size),) if address is not None else tuple(Block(**block) for block in blocks or ())
        for address, blocks, size in zip(addresses.to_pylist(), rows.column("blocks").to_pylist(), sizes, strict=True)
    ]


_KINDS = {str(kind): kind for kind in Kind}


def _values(column: pa.Array, absent: Any = None) -> Iterable[Any]:
    """The values of *column*, *absent* for null: without a look at each where all are."""
    if column.null_count == len(column):
        return repeat(absent, len(column))
    values: list[Any] = column.to_pylist()
    if absent is None or not column.null_count:
        return values
    return [absent if value is None else value for value in values]


def _as_struct(block: Block) -> dict[str, Any]:
    return {"address": block.address, "offset": block.offset, "length": block.length}
