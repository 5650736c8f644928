"""What can go wrong in a key-value store, told apart by what the caller may conclude from it.

An absent key is not an error: `get` answers None, and `delete` is content.
"""

from __future__ import annotations

from headwater.errors import HeadwaterError


class StoreError(HeadwaterError):
    """The root of this layer's errors."""


class CannotOpen(StoreError):
    """The store could not be opened as asked: a wrong URI, a missing driver, or a database not fit to be one."""


class PredicateFailed(StoreError):
    """The value is no longer as it was when the predicate was read. Certainly nothing was written.

    The way on is to read again and decide anew.
    """

    def __init__(self, partition: bytes, key: bytes) -> None:
        super().__init__(
            f"{key!r} in partition {partition!r} is not as it was when it was read: read it again and retry"
        )
        self.partition = partition
        self.key = key


class LimitExceeded(StoreError):
    """A key, a value, a name or the whole store is beyond a limit, which the message names. Nothing was written."""


class StoreUnavailable(StoreError):
    """The store did not do what was asked, and certainly wrote nothing: it is down, closed, full or out of reach."""


class SlowDown(StoreUnavailable):
    """The store is throttling, and still was after bounded retries. Certainly nothing was written: try again later."""


class UnknownOutcome(StoreError):
    """A write was sent and its answer never came: it may have been applied, or may yet be.

    The way on is to read: only the store knows. That is why values that matter carry an id of their own.
    """
