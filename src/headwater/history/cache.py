"""Memory for what never changes: bounded in bytes, the least recently used goes first.

There is nothing to invalidate, hence no protocol; a lock, because the sync face may be called from several threads.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """Values under keys, whose sizes, as the callers count them, are at most *capacity* together."""

    def __init__(self, capacity: int) -> None:
        self._room = capacity
        self._held: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> Value | None:
        with self._lock:
            held = self._held.get(key)
            if held is None:
                return None
            self._held.move_to_end(key)
            return held[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        with self._lock:
            if key in self._held:
                return
            self._held[key] = (value, size)
            self._room -= size
            while self._room < 0:
                _, (_, freed) = self._held.popitem(last=False)
                self._room += freed
