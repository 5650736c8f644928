"""What can go wrong in the index, told apart by what the caller may conclude from it. An absent key is not an error."""

from __future__ import annotations

from headwater.errors import HeadwaterError


class IndexFault(HeadwaterError):
    """The root of this layer's errors."""


class Corrupt(IndexFault):
    """What is stored is not what was written: its content does not hash to its name, or is not in its form.

    It is never served. The way on is a copy from a backup or another region, under the same name.
    """

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what} is corrupt: {why}; restore it from a copy under the same name")
        self.what = what


class Missing(IndexFault):
    """A segment or tree that an index is made of is not in the object store."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not in the object store: was the storage namespace moved or cleaned by hand?")
        self.what = what


class OutOfOrder(IndexFault):
    """Keys that were to be sorted and distinct are not. Nothing was written."""


class LimitExceeded(IndexFault):
    """A key, an entry, a page or a bulk is beyond a limit, which the message names. Nothing was written."""
