"""A listing as an Arrow table, with the names and types that people look for."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from headwater.engine.paths import FILES
from headwater.index.schema import SCHEMA

_COLUMNS = ("kind", "size", "modified", "checksum", "content_type", "metadata", "address", "blocks")
_TIME = pa.timestamp("ms", "UTC")

COLUMNS = pa.schema(
    [pa.field("path", pa.string(), nullable=False)]
    + [SCHEMA.field(name).with_type(_TIME) if name == "modified" else SCHEMA.field(name) for name in _COLUMNS]
)
"""`address` is where an object is that is in one piece, `blocks` the pieces of one that is not."""


def listing(rows: pa.RecordBatch) -> pa.RecordBatch:
    """*rows* of the index as people read them."""
    path = pc.utf8_slice_codeunits(rows.column("key"), len(FILES))
    columns = [rows.column(name) for name in _COLUMNS]
    columns[_COLUMNS.index("modified")] = rows.column("modified").cast(_TIME)
    return pa.RecordBatch.from_arrays([path, *columns], schema=COLUMNS)
