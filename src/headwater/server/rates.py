"""How many requests a second one address may make: a bucket that fills as time passes, and empties as requests come."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from headwater.auth.login.clients import counted_as
from headwater.server.limits import ADDRESSES, BURST


class Rates:
    """The buckets of addresses, those seen last. *each* is how many requests a second one has; 0: any number."""

    def __init__(self, each: float, elapsed: Callable[[], float]) -> None:
        self._each = each
        self._elapsed = elapsed
        self._full = max(1.0, each * BURST)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def admits(self, address: str) -> bool:
        """Whether *address* may make one more request now, which this is."""
        if not self._each:
            return True
        now = self._elapsed()
        address = counted_as(address)
        level, at = self._buckets.pop(address, (self._full, now))
        level = min(self._full, level + (now - at) * self._each)
        admitted = level >= 1
        self._buckets[address] = level - 1 if admitted else level, now
        if len(self._buckets) > ADDRESSES:
            self._buckets.popitem(last=False)
        return admitted
