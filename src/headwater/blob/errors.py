"""What can go wrong in an object store, told apart by what the caller may conclude from it."""

from __future__ import annotations

from headwater.errors import HeadwaterError


class BlobError(HeadwaterError):
    """The root of this layer's errors."""


class CannotOpen(BlobError):
    """The store could not be opened as asked: a wrong URI or credential, or a store not fit for its use."""


class NotFound(BlobError):
    """There is no object of that name."""


class ConditionFailed(BlobError):
    """The object is not as the condition says. Certainly nothing was written."""


class BadName(BlobError):
    """A name that not every store can hold, which the message explains. Nothing was sent."""


class LimitExceeded(BlobError):
    """A name, a body or a request is beyond a limit, which the message names. Nothing was written."""


class RejectedParts(BlobError):
    """The parts of an upload do not make an object: one is missing, too small, out of order, or not what it was."""


class RangeNotSatisfiable(BlobError):
    """The range starts beyond the end of the object, or is empty."""


class NotSupported(BlobError):
    """This kind of store cannot do that. Nothing was done."""


class PermissionDenied(BlobError):
    """The store knows the caller and refuses, or does not know it. Nothing was done."""


class BlobUnavailable(BlobError):
    """The store is down, closed, full or out of reach. A conditional put certainly wrote nothing.

    Of an unconditional write, which is tried several times, an earlier try may have been applied; doing it again is
    harmless.
    """


class SlowDown(BlobUnavailable):
    """The store is throttling: try again later."""


class OutcomeUnknown(BlobError):
    """A write was sent and its answer never came: it may have been applied, or may yet be. The way on is to read."""
