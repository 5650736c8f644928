"""A segment: sorted rows in one Parquet file, named by what they hold. What is in one is in `docs/formats.md`."""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headwater.index.content_hash import content_hash
from headwater.index.errors import Corrupt, OutOfOrder
from headwater.index.schema import SCHEMA

_WRITING: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 1,
    "version": "2.6",
    "data_page_version": "1.0",
    "store_schema": False,
    "write_page_index": True,
    "write_page_checksum": True,
    "use_dictionary": ["kind", "content_type"],
    "column_encoding": {"key": "DELTA_BYTE_ARRAY", "size": "DELTA_BINARY_PACKED", "modified": "DELTA_BINARY_PACKED"},
    "max_rows_per_page": 1024,
}


class Segment(msgspec.Struct, frozen=True):
    """A segment to be written: what a tree says of it, its rows, and the bytes of its file."""

    id: str
    first: str
    last: str
    rows: pa.RecordBatch
    file: bytes


def make_segment(rows: pa.RecordBatch) -> Segment:
    """*rows* of `SCHEMA`, at least one, sorted, as a segment. The same rows always have the same id."""
    keys = rows.column("key")
    if not is_sorted(keys):
        raise OutOfOrder("the keys of a segment are to be sorted and distinct: sort them first")
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_batches([rows]), sink, row_group_size=len(rows), **_WRITING)
    return Segment(content_hash("segment", rows), keys[0].as_py(), keys[-1].as_py(), rows, sink.getvalue().to_pybytes())


def read_segment(name: str, file: bytes) -> pa.RecordBatch:
    """The rows of the segment *name*. Raises `Corrupt` unless they are the very rows it was made of."""
    what = f"segment {name}"
    rows = read_rows(what, file, SCHEMA)
    if content_hash("segment", rows) != name:
        raise Corrupt(what, "its content does not hash to its name")
    if not is_sorted(rows.column("key")):
        raise Corrupt(what, "its keys are not sorted")
    return rows


def read_rows(what: str, file: bytes, schema: pa.Schema) -> pa.RecordBatch:
    """The one batch of a Parquet file that has just the columns of *schema*, well-formed, or `Corrupt`."""
    try:
        source = pq.ParquetFile(pa.BufferReader(file), page_checksum_verification=True)
        if source.schema_arrow.names != schema.names:
            raise Corrupt(what, f"its columns are {', '.join(source.schema_arrow.names)}")
        table = source.read(use_threads=False).cast(schema).combine_chunks()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Corrupt(what, str(error).splitlines()[0] if str(error) else type(error).__name__) from None
    batches = table.to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=schema)


def is_sorted(keys: pa.Array) -> bool:
    """Whether *keys* ascend and none comes twice."""
    if len(keys) < 2:
        return True
    ascending: bool = pc.all(pc.less(keys.slice(0, len(keys) - 1), keys.slice(1))).as_py()
    return ascending
