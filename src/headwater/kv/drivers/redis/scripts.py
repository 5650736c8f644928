"""The two scripts that the driver has Redis run. Each is one command to Redis: nothing happens in between.

A stored partition is two Redis keys: a hash from key to record (16 bytes of version, then the value), and a sorted set
of the same keys, all of score 0, which Redis keeps in byte order. Both are written in one script, and a script is one
transaction in Redis's log, so neither is ever without the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from headwater.kv.store import ABSENT, Delete, Operation, Set, SetIf

VERSION_BYTES = 16

RECORDS, ORDER = b"headwater:1:r:", b"headwater:1:o:"
"""What the names of the two keys of a partition begin with. The number is the layout's."""


class Script(msgspec.Struct, frozen=True):
    """A script, and the name by which Redis knows it once it has seen it."""

    text: bytes
    digest: bytes


def _script(text: str) -> Script:
    return Script(text.encode(), hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest().encode())


WRITE = _script("""
for step = 1, #ARGV / 5 do
  local kind, place = ARGV[5 * step - 4], tonumber(ARGV[5 * step - 3])
  local key, was, record = ARGV[5 * step - 2], ARGV[5 * step - 1], ARGV[5 * step]
  local records, order = KEYS[2 * place - 1], KEYS[2 * place]
  if kind == 'create' then
    if redis.call('HEXISTS', records, key) == 1 then return step end
  elseif kind == 'replace' then
    local now = redis.call('HGET', records, key)
    if not now or string.sub(now, 1, 16) ~= was then return step end
  end
  if kind == 'delete' then
    redis.call('HDEL', records, key)
    redis.call('ZREM', order, key)
  else
    redis.call('HSET', records, key, record)
    if kind ~= 'replace' then redis.call('ZADD', order, 0, key) end
  end
end
return 0
""")
"""Runs operations in order. Answers the number of the one whose predicate did not hold, and has run those before it."""

PAGE = _script("""
local keys = redis.call('ZRANGEBYLEX', KEYS[2], ARGV[1], '+', 'LIMIT', 0, ARGV[2])
local found = {}
for first = 1, #keys, 1000 do
  local last = math.min(first + 999, #keys)
  local records = redis.call('HMGET', KEYS[1], unpack(keys, first, last))
  for place = 1, #records do
    found[#found + 1] = keys[first + place - 1]
    found[#found + 1] = records[place]
  end
end
return found
""")
"""Answers key, record, key, record, … in order: a page of a scan, all of one moment."""


def names(partition: bytes) -> tuple[bytes, bytes]:
    """The Redis keys of a stored partition: its records, and their order."""
    return RECORDS + partition, ORDER + partition


def write_arguments(operations: Sequence[Operation], versions: Sequence[bytes]) -> tuple[list[bytes], list[bytes]]:
    """*operations* as the KEYS and the ARGV of `WRITE`."""
    places: dict[bytes, int] = {}
    arguments: list[bytes] = []
    for operation, version in zip(operations, versions, strict=True):
        place = places.setdefault(operation.partition, len(places) + 1)
        kind, was, record = _step(operation, version)
        arguments += [kind, b"%d" % place, operation.key, was, record]
    return [name for partition in places for name in names(partition)], arguments


def _step(operation: Operation, version: bytes) -> tuple[bytes, bytes, bytes]:
    match operation:
        case Delete():
            return b"delete", b"", b""
        case Set(value=value):
            return b"set", b"", version + value
        case SetIf(value=value, predicate=predicate) if predicate is ABSENT:
            return b"create", b"", version + value
        case SetIf(value=value, predicate=predicate):
            assert isinstance(predicate, bytes)  # noqa: S101  (what `get` has answered)
            return b"replace", predicate, version + value
