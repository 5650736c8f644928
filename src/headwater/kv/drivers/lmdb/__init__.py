"""`lmdb:///path`: the embedded default. A memory-mapped B+ tree in a directory, shared by the processes of one machine.

Reads are microseconds and never suspend. Writes are durable when they return, and concurrent ones share one fsync.
`docs/kv/lmdb.md` describes the format and the promises.
"""

from headwater.kv.drivers.lmdb.store import LMDBStore, connect

__all__ = ["LMDBStore", "connect"]
