"""What an error is answered with: a status, and a sentence in JSON."""

from __future__ import annotations

from headwater.errors import HeadwaterError
from headwater.sdk.wire.errors import KINDS, body_of
from headwater.server.api.answers import encode
from headwater.server.api.routing import NoSuchMethod
from headwater.server.http import Headers, Response
from headwater.server.tasks import CANCELLED, WORKER_GONE

STATUSES = {
    "AlreadyExists": 409,
    "AlreadySetUp": 409,
    "AmbiguousPrefix": 400,
    "BadCursor": 400,
    "BadExpression": 400,
    "BadLocation": 400,
    "BadName": 400,
    "BadRequest": 400,
    "BlobError": 502,
    "BlobUnavailable": 503,
    "BodyTooLarge": 413,
    "CannotOpen": 400,
    "ClientGone": 400,
    "ConcurrentCommit": 409,
    "ConditionFailed": 412,
    "Contended": 429,
    "CorruptDump": 409,
    "FilesError": 400,
    "Forbidden": 403,
    "HeadMoved": 409,
    "HookRefused": 412,
    "InvalidRecord": 400,
    "LimitExceeded": 400,
    "MergeConflict": 409,
    "NoSuchCommitInProgress": 404,
    "NoSuchMethod": 405,
    "NoSuchPath": 404,
    "NoSuchPlan": 404,
    "NotAnAncestor": 400,
    "NotAppendable": 400,
    "NotAuthenticated": 401,
    "NotFound": 404,
    "NotSignedIn": 401,
    "NotSupported": 501,
    "NothingToCommit": 400,
    "NothingToMerge": 400,
    "OutcomeUnknown": 504,
    "Overdue": 504,
    "PartNotAsListed": 400,
    "PartTooSmall": 400,
    "PartsOutOfOrder": 400,
    "PathCommitted": 409,
    "PathConflict": 409,
    "PathNotFound": 404,
    "PermissionDenied": 502,
    "PreconditionFailed": 412,
    "ProtectedBranch": 403,
    "PullEnded": 409,
    "PullNotFound": 404,
    "RangeNotSatisfiable": 416,
    "ReadOnly": 403,
    "RefExists": 409,
    "RefNotFound": 404,
    "RejectedParts": 400,
    "RepositoryExists": 409,
    "RepositoryNotFound": 404,
    "RuleNotFound": 404,
    "RunNotFound": 404,
    "SharedNamespace": 409,
    "SlowDown": 503,
    "StoreUnavailable": 503,
    "TaskEnded": 409,
    "TaskNotFound": 404,
    "TargetTooLong": 414,
    "TooManyAttempts": 429,
    "TooManyRequests": 429,
    "TooManyTasks": 429,
    "UnknownOutcome": 504,
    "UploadNotFound": 404,
    "WorkspaceBusy": 429,
    "WorkspaceClosed": 409,
}
"""By the name of the error or of one that it is a kind of. Whatever is not here is a defect or damage: a 500.

A store that is down or slow is 503: nothing was done. What may or may not have been done is 504, as if a gateway had
not answered, because that is what it is.
"""

JSON = (b"content-type", b"application/json")

OF_TASKS = {CANCELLED.kind: 409, WORKER_GONE.kind: 503}
"""Ends of tasks that are no errors of anybody's: somebody stopped it, or it can be begun again."""


def status_of(error: HeadwaterError) -> int:
    known = (STATUSES[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in STATUSES)
    return next(known, 500)


def status_of_kind(kind: str) -> int:
    """The status of an error of which only its kind is known, as of one that a task ended with."""
    known = KINDS.get(kind)
    if known is not None:
        return status_of(known.__new__(known))
    return OF_TASKS.get(kind) or STATUSES.get(kind.rpartition(".")[2], 500)


def told(error: HeadwaterError) -> Response:
    """The answer that tells of *error*."""
    status = status_of(error)
    headers: Headers = [JSON, *_headers(error, status)]
    return Response(status, headers, encode(body_of(error)))


def _headers(error: HeadwaterError, status: int) -> Headers:
    if isinstance(error, NoSuchMethod):
        return [(b"allow", ", ".join(error.allowed).encode())]
    match status:
        case 401:
            return [(b"www-authenticate", b'Basic realm="headwater", Bearer')]
        case 429 | 503:
            return [(b"retry-after", b"1")]
    return []
