"""`redis://host`: a store in a Redis that writes every change to its log before it answers.

A predicate is 16 random bytes that the writer drew. `docs/kv/redis.md` says what maps to what, and what is lost when.
"""

from headwater.kv.drivers.redis.store import connect

__all__ = ["connect"]
