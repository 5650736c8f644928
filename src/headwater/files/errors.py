"""What can go wrong with growing files, beyond what the engine says."""

from __future__ import annotations

from headwater.errors import HeadwaterError


class FilesError(HeadwaterError):
    """The root of this layer's errors."""


class NotAppendable(FilesError):
    """The repository is one of objects: nothing grows there."""


class NoSuchCommitInProgress(FilesError):
    """There is no commit in progress of that id: it was finished or dropped, or never begun."""


class HeadMoved(FilesError):
    """The branch is no longer where the commit in progress was to go on from. Nothing was committed."""
