"""`cassandra://host/keyspace`: a store in Apache Cassandra or ScyllaDB, where every write is a lightweight transaction.

A predicate is 16 random bytes that the writer drew. `docs/kv/cassandra.md` says what maps to what, and what it costs.
"""

from headwater.kv.drivers.cassandra.opening import connect

__all__ = ["connect"]
