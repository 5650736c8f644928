"""What is said to Cassandra, in CQL. One table holds all partitions; the clustering column keeps keys in byte order."""

from __future__ import annotations

TABLE = "headwater_kv_1"

MAKE_TABLE = f"""create table if not exists {TABLE} (
  partition_name blob, entry_key blob, version blob, value blob, primary key (partition_name, entry_key)
)"""

GET = f"select version, value from {TABLE} where partition_name = ? and entry_key = ?"  # noqa: S608  (a constant, here and below)
GET_MANY = f"select entry_key, version, value from {TABLE} where partition_name = ? and entry_key in ?"  # noqa: S608
PAGE = f"select entry_key, value from {TABLE} where partition_name = ? and entry_key >= ? limit ?"  # noqa: S608

PUT = f"update {TABLE} set version = ?, value = ? where partition_name = ? and entry_key = ?"  # noqa: S608
DELETE = f"delete from {TABLE} where partition_name = ? and entry_key = ?"  # noqa: S608

ALWAYS = " if version != 0x"
"""A condition that always holds, for no version is empty: it makes a lightweight transaction of a write."""

SWAP = f"{PUT} if version = ?"
CREATE = f"insert into {TABLE} (version, value, partition_name, entry_key) values (?, ?, ?, ?) if not exists"  # noqa: S608


def make_keyspace(keyspace: str, replicas: int) -> str:
    """*keyspace* is a plain name, which the caller has looked at."""
    strategy = f"{{'class': 'NetworkTopologyStrategy', 'replication_factor': {replicas}}}"
    return f"create keyspace if not exists {keyspace} with replication = {strategy}"
