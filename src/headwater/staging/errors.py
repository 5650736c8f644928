"""What can go wrong while something is staged or committed."""

from __future__ import annotations

from headwater.errors import HeadwaterError


class StagingError(HeadwaterError):
    """The root of this layer's errors."""


class NothingToCommit(StagingError):
    """The branch holds no change against its head, so there is nothing that a commit would say."""


class TakenAlong(NothingToCommit):
    """There was something to commit, and somebody else committed it, or dropped it."""


class Contended(StagingError):
    """Others were faster, again and again. Nothing was changed: try again when there is less going on."""


class LimitExceeded(StagingError):
    """A limit of staging was reached, which the message names."""
