"""A page of objects in JSON: what `ObjectStats` says of each, written from the columns that the entries lie in.

An entry that lies in no segment, as one that is staged, is written by itself. Both look the same; a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.engine.paths import FILES
from headwater.index import CommonPrefix, Entry, Listing, Run
from headwater.server.api.answers import encode
from headwater.server.columns import (
    CONTROL,
    Part,
    WrittenRows,
    content_of,
    digits,
    filled,
    without_prefix,
    written,
)
from headwater.server.sending import OCTETS

SPECIAL = CONTROL + b'"\\'
"""What is escaped in JSON."""


def results_of(
    listing: Listing, kept: WrittenRows, home: str, one: Callable[[Entry | CommonPrefix], object], *, metadata: bool
) -> msgspec.Raw:
    """The results of a page. *home* is the address of the namespace; *one* makes what is told of a single entry."""
    parts: list[bytes] = []
    singles: list[object] = []
    for piece in listing.pieces:
        if not isinstance(piece, Run):
            singles.append(one(piece))
            continue
        parts += _in_a_row(singles)
        singles = []
        parts.append(kept.text(piece, ("json", home, metadata), partial(_rows, home, metadata))[:-1])
    parts += _in_a_row(singles)
    return msgspec.Raw(b"[" + b",".join(parts) + b"]")


def _in_a_row(singles: Sequence[object]) -> list[bytes]:
    """*singles* as one part of a list; as none if there is none."""
    return [encode(singles)[1:-1]] if singles else []


def _rows(home: str, metadata: bool, columns: pa.RecordBatch) -> list[Part]:  # noqa: FBT001  (partially applied)
    """What each object is made of, with a comma behind it."""
    return [
        '{"path":"',
        _texts(without_prefix(columns.column("key"), len(FILES))),
        '","path_type":"object","physical_address":"',
        *_addresses(columns, home),
        '","checksum":"',
        _texts(filled(columns.column("checksum"), "")),
        '","mtime":',
        digits(_seconds(columns.column("modified"))),
        ',"size_bytes":',
        digits(columns.column("size")),
        *([',"metadata":', _metadata(columns.column("metadata"))] if metadata else []),
        ',"content_type":"',
        _texts(filled(columns.column("content_type"), OCTETS)),
        '"},',
    ]


def _texts(column: pa.Array) -> pa.Array:
    """What stands between the quotes."""
    return written(column, SPECIAL, lambda value: encode(value)[1:-1].decode())


def _addresses(columns: pa.RecordBatch, home: str) -> list[Part]:
    """Where the bytes of each are, or the first of them: a name in the namespace at *home*, or a URI."""
    addresses = columns.column("address")
    if not addresses.null_count and b"://" not in content_of(addresses):
        return [encode(f"{home}/")[1:-1].decode(), _texts(addresses)]
    several = [blocks[0]["address"] if blocks else None for blocks in columns.column("blocks").to_pylist()]
    told = [
        address if address is None or "://" in address else f"{home}/{address}"
        for address in pc.coalesce(addresses, pa.array(several, pa.string())).to_pylist()
    ]
    return [_texts(pa.array([address or "" for address in told], pa.string()))]


def _seconds(milliseconds: pa.Array) -> pa.Array:
    """Whole seconds, rounded down: before 1970, too, where `divide` would round up."""
    if pc.min(milliseconds).as_py() < 0:
        milliseconds = pc.if_else(pc.less(milliseconds, 0), pc.subtract(milliseconds, 999), milliseconds)
    return pc.divide(milliseconds, 1000)


def _metadata(column: pa.Array) -> Part:
    if column.null_count == len(column):
        return "{}"
    return pa.array([encode(dict(pairs or ())).decode() for pairs in column.to_pylist()], pa.string())
