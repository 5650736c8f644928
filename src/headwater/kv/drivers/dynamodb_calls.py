"""Calls to DynamoDB: retried where that is sound and bounded, and their failures told apart by what is certain of them.

botocore's own retries are off: they would send a write again whose outcome is unknown.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from random import SystemRandom
from typing import Any

import aiohttp
from botocore import exceptions as botocore  # type: ignore[import-untyped]
from botocore.parsers import ResponseParserError  # type: ignore[import-untyped]

from headwater.kv.errors import LimitExceeded, SlowDown, StoreUnavailable, UnknownOutcome

ATTEMPTS = 8
"""Times that a throttled call is made: about 1.3 s of waiting in the mean, long enough for a burst to pass."""

FIRST_PAUSE = 0.025
"""Seconds that the first pause has at most; each next one may be twice as long."""

LONGEST_PAUSE = 1.0
"""Seconds that a pause has at most."""

_THROTTLED = {
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
    "LimitExceededException",
}

_PREDICATE = "ConditionalCheckFailedException"

_NO_CREDENTIALS = (
    botocore.NoCredentialsError,
    botocore.PartialCredentialsError,
    botocore.CredentialRetrievalError,
    botocore.TokenRetrievalError,
    botocore.NoAuthTokenError,
)

_NOT_SENT = (botocore.ConnectTimeoutError, botocore.ProxyConnectionError, botocore.SSLError)
"""What botocore raises when it made no connection. Its `EndpointConnectionError` is not among them: see `_was_sent`."""

_jitter = SystemRandom().random

Call = Callable[..., Awaitable[Any]]


class PredicateRefused(Exception):
    """DynamoDB found the condition of a write not to hold."""


class Refused(StoreUnavailable):
    """DynamoDB would not do it, and trying again will not change that: no right, no such table, no credentials."""


class Calls:
    """Makes calls. *jitter* gives a number between 0 and 1 that a pause is multiplied by, so that clients spread."""

    def __init__(self, jitter: Callable[[], float] = _jitter) -> None:
        self._jitter = jitter

    async def read(self, call: Call, **arguments: Any) -> Any:
        """Make a call that does no harm when it is done twice."""
        return await self._make(call, arguments, writes=False)

    async def write(self, call: Call, **arguments: Any) -> Any:
        """Make a call that is made again only when it certainly was not done."""
        return await self._make(call, arguments, writes=True)

    async def pause(self, attempt: int) -> None:
        """Wait before the next attempt, counted from 0: exponential backoff with full jitter."""
        await asyncio.sleep(self._jitter() * min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt))

    async def _make(self, call: Call, arguments: dict[str, Any], *, writes: bool) -> Any:
        attempt = 0
        while True:
            try:
                return await call(**arguments)
            except botocore.ClientError as error:
                attempt += 1
                if attempt == ATTEMPTS or not _can_be_repeated(error, writes=writes):
                    raise _refusal(error, writes=writes) from error
            except _NO_CREDENTIALS as error:
                raise Refused(f"no credentials for DynamoDB: {error}") from error
            except (botocore.BotoCoreError, ResponseParserError) as error:
                if writes and _was_sent(error):
                    raise UnknownOutcome(f"the answer of DynamoDB to a write never came: {error}") from error
                raise StoreUnavailable(f"no answer from DynamoDB: {error}") from error
            await self.pause(attempt - 1)


def error_code(error: botocore.ClientError) -> str:
    code: str = error.response["Error"].get("Code", "")
    return code


def _status(error: botocore.ClientError) -> int:
    status: int = error.response["ResponseMetadata"]["HTTPStatusCode"]
    return status


def _can_be_repeated(error: botocore.ClientError, *, writes: bool) -> bool:
    """A throttled call was not begun; one that failed inside DynamoDB may have written, so only a read is repeated."""
    return error_code(error) in _THROTTLED or (_status(error) >= 500 and not writes)


def _refusal(error: botocore.ClientError, *, writes: bool) -> Exception:
    """What an answer that is an error means."""
    code, reason = error_code(error), str(error)
    if code == _PREDICATE:
        return PredicateRefused()
    if code in _THROTTLED:
        return SlowDown(f"DynamoDB throttled {ATTEMPTS} attempts: {reason}")
    if _status(error) >= 500 and writes:
        return UnknownOutcome(f"DynamoDB failed at a write: {reason}")
    if code == "ItemCollectionSizeLimitExceededException" or "size has exceeded" in reason:
        return LimitExceeded(f"a limit of DynamoDB: {reason}")
    if _status(error) >= 500:
        return StoreUnavailable(f"DynamoDB failed {ATTEMPTS} times: {reason}")
    return Refused(f"DynamoDB refused: {reason}")


def _was_sent(error: Exception) -> bool:
    """Whether any of the request may have gone out. In doubt it has.

    aiobotocore calls a connection that was never made and one that was reset after sending by the same name, so what
    lies beneath has to tell.
    """
    if isinstance(error, botocore.EndpointConnectionError):
        return not isinstance(error.kwargs.get("error"), (aiohttp.ClientConnectorError, socket.gaierror))
    return not isinstance(error, _NOT_SENT)
