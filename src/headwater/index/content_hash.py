"""The hash of what columns hold, whichever file or memory they are held in: segments and trees are named by it.

Not the hash of a file's bytes: a newer Parquet writer must not change the name of equal content. The exact bytes that
are hashed are in `docs/formats.md`.
"""

from __future__ import annotations

import hashlib
import sys
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

assert sys.byteorder == "little", "Arrow's buffers are hashed as they are"  # noqa: S101  (true of every platform we know)


_NULL = b"\xff\xff\xff\xff"
"""The length of what is null."""


class _Digest(Protocol):
    def update(self, content: bytes | memoryview, /) -> None: ...


def content_hash(label: str, rows: pa.RecordBatch) -> str:
    """The name, 64 hex digits, of *rows* as a *label*: equal for equal values in equal columns, and nothing else."""
    digest = hashlib.blake2b(f"headwater {label} 1\n{len(rows)}\n".encode(), digest_size=32)
    for column in rows.columns:
        _feed(digest, column)
    return digest.hexdigest()


def _feed(digest: _Digest, column: pa.Array) -> None:
    kind = column.type
    if column.null_count == len(column):
        digest.update(_NULL * len(column))
    elif pa.types.is_int64(kind):
        digest.update(memoryview(column.buffers()[1] or b"")[column.offset * 8 : (column.offset + len(column)) * 8])
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        _feed_lengths(digest, pc.binary_length(column))
        _feed_bytes(digest, column)
    elif pa.types.is_fixed_size_binary(kind):
        _feed(digest, column.cast(pa.binary()))
    elif pa.types.is_list(kind):
        _feed_lengths(digest, pc.list_value_length(column))
        for child in pc.list_flatten(column).flatten():
            _feed(digest, child)
    elif pa.types.is_map(kind):
        _feed(digest, as_list(column))
    else:
        raise TypeError(f"columns of {kind} have no agreed hash")


def as_list(column: pa.Array) -> pa.Array:
    """A column of maps as one of lists of (key, value), which is how it is laid out, and what can be computed with."""
    kind = column.type
    pair = pa.struct([pa.field("key", kind.key_type), pa.field("value", kind.item_type)])
    return column.cast(pa.list_(pair))


def _feed_lengths(digest: _Digest, lengths: pa.Array) -> None:
    """int32, little-endian, -1 for null."""
    filled = lengths.fill_null(-1)
    digest.update(memoryview(filled.buffers()[1] or b"")[filled.offset * 4 : (filled.offset + len(filled)) * 4])


def _feed_bytes(digest: _Digest, column: pa.Array) -> None:
    """The values one after the other. What lies below a null is not a value."""
    values = column.drop_null()
    if len(values) == 0:
        return
    _, offsets, content = values.buffers()
    places = memoryview(offsets).cast("i")
    first, last = places[values.offset], places[values.offset + len(values)]
    if first < last:
        digest.update(memoryview(content)[first:last])
