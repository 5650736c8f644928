"""`hbase://host/table`: a store in Apache HBase through its Thrift gateway, a row a key, check-and-put.

A predicate is 16 random bytes that the writer drew. `docs/kv/hbase.md` says what maps to what, and what it needs.
"""

from headwater.kv.drivers.hbase.opening import connect

__all__ = ["connect"]
