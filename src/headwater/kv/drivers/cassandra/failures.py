"""What the failure of a request to Cassandra means for its caller."""

from __future__ import annotations

from cassandra import (
    AuthenticationFailed,
    DriverException,
    InvalidRequest,
    RequestExecutionException,
    RequestValidationException,
    Timeout,
    Unauthorized,
)
from cassandra.cluster import NoHostAvailable
from cassandra.connection import ConnectionException
from cassandra.protocol import ErrorMessage, IsBootstrappingErrorMessage, OverloadedErrorMessage

from headwater.kv.errors import CannotOpen, LimitExceeded, SlowDown, StoreError, StoreUnavailable, UnknownOutcome

FAILURES = (
    DriverException, RequestExecutionException, RequestValidationException, Timeout, NoHostAvailable,
    ConnectionException, ErrorMessage, AuthenticationFailed, OSError,
)  # fmt: skip
"""All that the client library raises, or hands to a callback."""


def failure(error: Exception, *, writes: bool) -> StoreError:
    """What a request that failed means.

    Only what is said before it begins is certain. A lightweight transaction takes several rounds: one that ends with
    "unavailable", "overloaded" or a timeout, even of a read, may have been proposed: then the next one finishes it.
    """
    match error:
        case NoHostAvailable():
            return StoreUnavailable(f"no node of Cassandra can be reached: {reason(error)}")
        case InvalidRequest() if "too large" in str(error):
            return LimitExceeded(f"a limit of Cassandra: {reason(error)}")
        case RequestValidationException() | IsBootstrappingErrorMessage():
            return StoreUnavailable(f"Cassandra refused: {reason(error)}")
        case _ if writes:
            return UnknownOutcome(f"Cassandra did not say that a write was done: {reason(error)}")
        case OverloadedErrorMessage():
            return SlowDown(f"Cassandra throttles: {reason(error)}")
    return StoreUnavailable(f"Cassandra did not answer: {reason(error)}")


def not_connected(error: Exception) -> StoreError:
    """What it means that the first connection failed, or that the table is not there and cannot be made."""
    if isinstance(error, NoHostAvailable):
        causes = list(error.errors.values())
        if causes and all(isinstance(cause, AuthenticationFailed) for cause in causes):
            return CannotOpen(f"Cassandra: {reason(causes[0])}")
    if isinstance(error, AuthenticationFailed | Unauthorized | RequestValidationException):
        return CannotOpen(f"Cassandra: {reason(error)}")
    return StoreUnavailable(f"no connection to Cassandra: {reason(error)}")


def reason(error: Exception) -> str:
    if isinstance(error, NoHostAvailable) and error.errors:
        return "; ".join(f"{host}: {cause}" for host, cause in error.errors.items())
    return str(error) or type(error).__name__
