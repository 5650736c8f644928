"""What can go wrong that the SDK tells in its own words. All other errors are those of the layers below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from headwater.engine import errors as engine
from headwater.errors import HeadwaterError
from headwater.index import Conflict
from headwater.sdk.results import Change, conflict_of


class MergeConflict(engine.MergeConflict):
    """Both sides changed the same paths. Nothing was merged. *changes* has the first ones, *count* says how many."""

    def __init__(self, message: str, changes: Sequence[Change], count: int) -> None:
        Exception.__init__(self, message)
        self.conflicts: Sequence[Conflict] = ()
        self.count = count
        self.changes = list(changes)


class RemoteError(HeadwaterError):
    """A server could not do what was asked, for a reason that only servers have. *status* is what it answered with.

    *kind* is what the server calls the reason; it is empty if something went wrong there that should not.
    """

    def __init__(self, message: str, status: int, kind: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class HookRefused(RemoteError):
    """A hook of the repository did not let it happen: nothing was done. The message names the hook and the run."""


@contextmanager
def told() -> Iterator[None]:
    """Conflicts are told as changes."""
    try:
        yield
    except engine.MergeConflict as error:
        changes = [conflict_of(conflict) for conflict in error.conflicts]
        raise MergeConflict(str(error), changes, error.count) from None
