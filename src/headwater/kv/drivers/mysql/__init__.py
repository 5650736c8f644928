"""`mysql://user@host/database`: a store in a MariaDB or MySQL database, one table, one round trip an operation.

A predicate is the row's version, 16 random bytes that its writer drew. `docs/kv/mysql.md` says what maps to what.
"""

from headwater.kv.drivers.mysql.store import connect

__all__ = ["connect"]
