"""HBase's Thrift 2 service, and the messages of a store in its words."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, TypeAlias

import thriftpy2

from headwater.kv.store import Predicate, Versioned

Durability: TypeAlias = Literal["fsync", "server"]

thrift: Any = thriftpy2.load(str(Path(__file__).with_name("hbase.thrift")), module_name="headwater_hbase_thrift")

FAMILY = b"h"
VERSION_COLUMN = b"v"
VALUE_COLUMN = b"d"

TIMESTAMP = 0
"""Of every cell and every deletion. Of two at one time the later one counts, and no clock has a say."""

KEEPS_ORDER = b"NEW_VERSION_BEHAVIOR"
"""What a family must be, so that a deletion hides what was written before it and nothing that is written after."""


def get_of(row: bytes) -> Any:
    return thrift.TGet(row=row, columns=[thrift.TColumn(family=FAMILY)])


def put_of(row: bytes, version: bytes, value: bytes, durability: Durability) -> Any:
    cells = [(VERSION_COLUMN, version), (VALUE_COLUMN, value)]
    columns = [thrift.TColumnValue(FAMILY, name, content, TIMESTAMP) for name, content in cells]
    return thrift.TPut(row=row, columnValues=columns, durability=_wal(durability))


def delete_of(row: bytes, durability: Durability) -> Any:
    """Of the whole family in that row."""
    return thrift.TDelete(
        row=row,
        columns=[thrift.TColumn(family=FAMILY, timestamp=TIMESTAMP)],
        deleteType=thrift.TDeleteType.DELETE_FAMILY,
        durability=_wal(durability),
    )


def scan_of(first: bytes, end: bytes, rows: int) -> Any:
    columns = [thrift.TColumn(family=FAMILY)]
    return thrift.TScan(startRow=first, stopRow=end, columns=columns, caching=rows, limit=rows)


def table_name(table: str) -> Any:
    namespace, _, name = table.rpartition(":")
    return thrift.TTableName(ns=namespace.encode() or None, qualifier=name.encode())


def description_of(table: str) -> Any:
    """What a new table is to be."""
    family = thrift.TColumnFamilyDescriptor(name=FAMILY, attributes={KEEPS_ORDER: b"true"}, maxVersions=1)
    return thrift.TTableDescriptor(tableName=table_name(table), columns=[family])


def is_fit(description: Any) -> bool:
    """Whether a table that is there can be a store."""
    families: Iterable[Any] = description.columns or ()
    return any(one.name == FAMILY and (one.attributes or {}).get(KEEPS_ORDER) == b"true" for one in families)


def record_of(result: Any) -> Versioned | None:
    if not result.columnValues:
        return None
    columns = {column.qualifier: column.value for column in result.columnValues}
    return Versioned(columns[VALUE_COLUMN], Predicate(columns[VERSION_COLUMN]))


def _wal(durability: Durability) -> int:
    levels = thrift.TDurability
    level: int = levels.FSYNC_WAL if durability == "fsync" else levels.USE_DEFAULT
    return level
