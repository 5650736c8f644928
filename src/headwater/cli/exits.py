"""How `hw` ends: the status that a script can act on, by the kind of what went wrong.

What Headwater expected might go wrong is told in one line, without a traceback. A traceback is a defect.
"""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The statuses of `hw`. They are a promise: scripts know them."""

    DONE = 0
    FAILED = 1
    """It failed in a way that has no status of its own."""
    MISUSED = 2
    """The command, an option or a name cannot be understood, or cannot be meant so. Nothing was done."""
    NOT_FOUND = 3
    """There is no such repository, reference, commit or path."""
    REFUSED = 4
    """It contradicts what is there: it exists already, has changed meanwhile, conflicts, or is read-only."""
    NOTHING = 5
    """There was nothing to commit or to merge."""
    DENIED = 6
    """The server does not know these credentials, or does not let them do this."""
    UNAVAILABLE = 7
    """A store or the server did not answer, or answered that it cannot now. Try again."""
    DAMAGED = 8
    """Something stored is not as it must be, or a check found so."""
    INTERRUPTED = 130


STATUSES = {
    "AlreadyExists": Exit.REFUSED,
    "AlreadySetUp": Exit.REFUSED,
    "AmbiguousPrefix": Exit.MISUSED,
    "BadAction": Exit.MISUSED,
    "BadConfiguration": Exit.MISUSED,
    "BadCursor": Exit.MISUSED,
    "BadExpression": Exit.MISUSED,
    "BadLocation": Exit.MISUSED,
    "BadName": Exit.MISUSED,
    "BadRequest": Exit.MISUSED,
    "BadSettings": Exit.MISUSED,
    "BisectError": Exit.MISUSED,
    "BlobUnavailable": Exit.UNAVAILABLE,
    "CannotOpen": Exit.UNAVAILABLE,
    "ChangedOnBothSides": Exit.REFUSED,
    "ConcurrentCommit": Exit.REFUSED,
    "ConditionFailed": Exit.REFUSED,
    "Contended": Exit.UNAVAILABLE,
    "CorruptClock": Exit.DAMAGED,
    "CorruptDump": Exit.DAMAGED,
    "CorruptRecord": Exit.DAMAGED,
    "CorruptRef": Exit.DAMAGED,
    "FileExistsError": Exit.REFUSED,
    "FileNotFoundError": Exit.NOT_FOUND,
    "Forbidden": Exit.DENIED,
    "HeadMoved": Exit.REFUSED,
    "HookRefused": Exit.REFUSED,
    "IndexFault": Exit.DAMAGED,
    "InvalidPolicy": Exit.MISUSED,
    "InvalidRecord": Exit.MISUSED,
    "LimitExceeded": Exit.MISUSED,
    "MergeConflict": Exit.REFUSED,
    "NoSuchCommitInProgress": Exit.NOT_FOUND,
    "NoSuchPlan": Exit.NOT_FOUND,
    "NoSuchTag": Exit.NOT_FOUND,
    "NotAFile": Exit.NOT_FOUND,
    "NotAWorkingCopy": Exit.NOT_FOUND,
    "NotAnAncestor": Exit.MISUSED,
    "NotAppendable": Exit.REFUSED,
    "NotAuthenticated": Exit.DENIED,
    "NotFound": Exit.NOT_FOUND,
    "NotSupported": Exit.MISUSED,
    "NothingChanged": Exit.NOTHING,
    "NothingToCommit": Exit.NOTHING,
    "NothingToMerge": Exit.NOTHING,
    "OutcomeUnknown": Exit.UNAVAILABLE,
    "PathCommitted": Exit.REFUSED,
    "PathConflict": Exit.REFUSED,
    "PathNotFound": Exit.NOT_FOUND,
    "PermissionDenied": Exit.DENIED,
    "PreconditionFailed": Exit.REFUSED,
    "ReadOnly": Exit.REFUSED,
    "RefExists": Exit.REFUSED,
    "RefNotFound": Exit.NOT_FOUND,
    "RepositoryExists": Exit.REFUSED,
    "RepositoryNotFound": Exit.NOT_FOUND,
    "RunNotFound": Exit.NOT_FOUND,
    "SharedNamespace": Exit.REFUSED,
    "StoreUnavailable": Exit.UNAVAILABLE,
    "TooManyAttempts": Exit.DENIED,
    "UnknownOutcome": Exit.UNAVAILABLE,
    "UnsafePath": Exit.MISUSED,
    "WorkspaceBusy": Exit.UNAVAILABLE,
    "WorkspaceClosed": Exit.REFUSED,
}
"""By the name of the error or of one that it is a kind of: so that nothing need be imported to tell a status."""


ANSWERS = {
    400: Exit.MISUSED,
    401: Exit.DENIED,
    403: Exit.DENIED,
    404: Exit.NOT_FOUND,
    409: Exit.REFUSED,
    410: Exit.NOT_FOUND,
    412: Exit.REFUSED,
    422: Exit.MISUSED,
    429: Exit.UNAVAILABLE,
}
"""By what a server answered with, where that is all that is known. Above 500 it could not, whatever was asked."""


def status_of(error: BaseException) -> Exit:
    """The status with which a command ends that raised *error*."""
    known = (STATUSES[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in STATUSES)
    answered = getattr(error, "status", None)
    if isinstance(answered, int):
        return next(known, Exit.UNAVAILABLE if answered >= 500 else ANSWERS.get(answered, Exit.FAILED))
    return next(known, Exit.FAILED)


def in_a_line(error: BaseException) -> str:
    """What *error* says, for people."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    return str(error)
