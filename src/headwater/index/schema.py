"""The columns of a segment, in Arrow and in Parquet, and how entries become rows of them.

In memory rows are a `RecordBatch` of `SCHEMA`; edits have one column more, `removed`, and nothing but a key in the rows
where it is true. Metadata is sorted by name, and null where it is empty; blocks likewise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    """The entries of *rows*. Costs some 3 us a row."""
    columns = {name: _values(rows.column(name)) for name in SCHEMA.names}
    return list(map(_entry, *columns.values()))


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


def _entry(  # noqa: PLR0917  (called with one column each)
    key: str,
    kind: str,
    size: int,
    modified: int,
    checksum: str | None,
    address: str | None,
    blocks: list[dict[str, Any]] | None,
    content_type: str | None,
    metadata: list[tuple[str, str]] | None,
    content_id: bytes | None,
    payload: bytes | None,
) -> Entry:
    extents: tuple[Block, ...] = ()
    if address is not None:
        extents = (Block(address, 0, size),)
    elif blocks is not None:
        extents = tuple(Block(**block) for block in blocks)
    return Entry(
        key,
        _KINDS[kind],
        extents,
        size,
        checksum,
        modified,
        content_type,
        dict(metadata or ()),
        content_id,
        payload,
    )


_KINDS = {str(kind): kind for kind in Kind}


def _values(column: pa.Array) -> Any:
    """The values of *column*, without a look at each where all are null."""
    return repeat(None, len(column)) if column.null_count == len(column) else column.to_pylist()


def _as_struct(block: Block) -> dict[str, Any]:
    return {"address": block.address, "offset": block.offset, "length": block.length}
