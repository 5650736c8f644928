"""What the MySQL driver keeps in a database, one table, and the statements that it sends.

They are in the SQL that MariaDB and MySQL share, and are sent as text. Values stand in it as hexadecimal literals,
which need no escaping, whatever the server's settings. Nothing is prepared at the server: that would be a round trip of
its own, after which it could be open which of the two has failed.
"""

from __future__ import annotations

from collections.abc import Sequence

from headwater.kv.store import ABSENT, Delete, Operation, Set, SetIf

MAKE = """
    create table if not exists headwater_kv_1 (
        partition_name varbinary(319) not null,
        entry_key varbinary(1024) not null,
        version binary(16) not null,
        value mediumblob not null,
        primary key (partition_name, entry_key)
    ) engine = InnoDB row_format = dynamic character set = binary
"""
"""319 bytes are what a tenant's prefix and a partition have at most. The number in the table's name is the layout's."""

IS_THERE = "select 1 from information_schema.tables where table_schema = database() and table_name = 'headwater_kv_1'"


def begin_session(lock_seconds: int) -> str:
    """What each new session begins with; the last statement answers whether the server takes writes.

    The SQL mode is ours, whatever the server's is, so that nothing is ever cut. Reading committed rows keeps writers
    of neighbouring keys out of each other's way: the default isolation also locks the gaps between them.
    """
    return (
        "set session sql_mode = 'STRICT_ALL_TABLES'; "
        "set session transaction isolation level read committed; "
        f"set session innodb_lock_wait_timeout = {lock_seconds}; "
        "set session autocommit = 1; "
        "select @@global.read_only, @@global.max_allowed_packet"
    )


def get(partition: bytes, keys: Sequence[bytes]) -> str:
    return f"select entry_key, version, value from headwater_kv_1 where {_are(partition, keys)}"  # noqa: S608  (all values are hexadecimal literals)


def scan(partition: bytes, start: bytes, page: int) -> str:
    return (
        f"select entry_key, value from headwater_kv_1 where partition_name = {_literal(partition)} "  # noqa: S608  (as above)
        f"and entry_key >= {_literal(start)} order by entry_key limit {page}"
    )


def put(partition: bytes, entries: Sequence[tuple[bytes, bytes, bytes]]) -> str:
    """Write *entries*, which are key, version and value, whatever was there."""
    rows = ", ".join(f"({_row(partition, *entry)})" for entry in entries)
    return f"replace into headwater_kv_1 ({_COLUMNS}) values {rows}"  # noqa: S608  (as above)


def create(partition: bytes, key: bytes, version: bytes, value: bytes) -> str:
    """Of a key that is there this changes nothing, and then counts no row."""
    return f"{_insert(_row(partition, key, version, value))} {_UNLESS_THERE}"


def replace(partition: bytes, key: bytes, version: bytes, value: bytes, was: object) -> str:
    assert isinstance(was, bytes)  # noqa: S101  (a predicate is what `get` has answered)
    return (
        f"update headwater_kv_1 set version = {_literal(version)}, value = {_literal(value)} "  # noqa: S608  (as above)
        f"where {_are(partition, [key])} and version = {_literal(was)}"
    )


def delete(partition: bytes, keys: Sequence[bytes]) -> str:
    return f"delete from headwater_kv_1 where {_are(partition, keys)}"  # noqa: S608  (as above)


def pipeline(operations: Sequence[Operation], versions: Sequence[bytes]) -> str:
    """One transaction, in order, in which nothing is written any more once a predicate did not hold.

    Which one that was, counted from 1, is the last answer; 0 if all held. What ran before it is committed.
    """
    steps = ["start transaction", "set @headwater_failed = 0"]
    for number, (operation, version) in enumerate(zip(operations, versions, strict=True), start=1):
        steps.append(_step(operation, version))
        if isinstance(operation, SetIf):
            steps.append(
                f"set @headwater_failed = if(@headwater_failed = 0 and row_count() = 0, {number}, @headwater_failed)"
            )
    return "; ".join([*steps, "commit", "select @headwater_failed"])


def _step(operation: Operation, version: bytes) -> str:
    match operation:
        case Set(partition, key, value):
            row = _row(partition, key, version, value)
            return f"replace into headwater_kv_1 ({_COLUMNS}) select {row} from dual where {_NONE_FAILED}"  # noqa: S608  (as above)
        case SetIf(partition, key, value, predicate) if predicate is ABSENT:
            return f"{_insert(_row(partition, key, version, value))} where {_NONE_FAILED} {_UNLESS_THERE}"
        case SetIf(partition, key, value, predicate):
            return f"{replace(partition, key, version, value, predicate)} and {_NONE_FAILED}"
        case Delete(partition, key):
            return f"{delete(partition, [key])} and {_NONE_FAILED}"


_COLUMNS = "partition_name, entry_key, version, value"
_NONE_FAILED = "@headwater_failed = 0"
_UNLESS_THERE = "on duplicate key update version = headwater_kv_1.version"


def _insert(row: str) -> str:
    return f"insert into headwater_kv_1 ({_COLUMNS}) select {row} from dual"  # noqa: S608  (as above)


def _are(partition: bytes, keys: Sequence[bytes]) -> str:
    """The condition that a row is one of *keys*."""
    where = f"partition_name = {_literal(partition)} and entry_key"
    return f"{where} = {_literal(keys[0])}" if len(keys) == 1 else f"{where} in ({', '.join(map(_literal, keys))})"


def _row(*values: bytes) -> str:
    return ", ".join(map(_literal, values))


def _literal(value: bytes) -> str:
    return f"x'{value.hex()}'"
