"""What everything about users shares: the store, the world outside, and how many changes this process has made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headwater.auth.directory.sealing import Sealer
from headwater.kv import Store
from headwater.outside import Outside

PARTITION = b"auth"


class Realm:
    """The users of one installation, and all that belongs to them, are in one partition."""

    def __init__(self, store: Store, outside: Outside, sealer: Sealer) -> None:
        self.store = store
        self.outside = outside
        self.sealer = sealer
        self.generation = 0
        """What was read in an earlier generation may have been changed by this process, so it is not believed."""

    @contextmanager
    def change(self) -> Iterator[None]:
        """Something changes while the block runs: when it is over, or has failed, nothing read before is believed."""
        try:
            yield
        finally:
            self.generation += 1
