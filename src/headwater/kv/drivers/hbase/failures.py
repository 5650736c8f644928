"""What the failure of a call to the gateway means for its caller."""

from __future__ import annotations

import re

from thriftpy2.protocol.exc import TProtocolException
from thriftpy2.thrift import TException

from headwater.kv.drivers.hbase.service import thrift
from headwater.kv.errors import SlowDown, StoreError, StoreUnavailable, UnknownOutcome

FAILURES = (TException, TProtocolException, OSError)
"""All that the client library and its socket raise. A `TimeoutError` is an `OSError`."""

_BUSY = ("RegionTooBusyException", "CallQueueTooBigException", "RpcThrottlingException")

_MOVING = (
    "NotServingRegionException",
    "RegionMovedException",
    "RegionOpeningException",
    "No server address listed in hbase:meta",
    "failed on connection exception",
)
"""What HBase says while a region splits or moves, which takes a second and happens every day, or its server is gone."""

_LOST_PLACE = (
    "Resetting the scanner",
    "ScannerResetException",
    "UnknownScannerException",
    "OutOfOrderScannerNextException",
)
"""What it says of a page of a scan whose region moved half way. A page is read, and may be read again."""

_TRIES = re.compile(
    r"^(?:\S+: )?Failed after attempts=\d+, exceptions:\n|^\S+, RpcRetryingCaller\{.*?\}, ", re.MULTILINE
)
"""What stands before each try of the gateway, in what it says of several."""


def failure(error: Exception, *, writes: bool) -> StoreError:
    """What a call that failed after it was sent means.

    HBase says of its own refusals that they are not to be tried again: then nothing was done. Of all others nobody
    knows, not even the gateway.
    """
    said = reason(error)
    if never_ran(error):
        return SlowDown(f"HBase is busy, or moves a region: {said}")
    if refused(error):
        return StoreUnavailable(f"HBase refused: {said}")
    if writes:
        return UnknownOutcome(f"HBase did not say that a write was done: {said}")
    return StoreUnavailable(f"HBase did not answer: {said}")


def never_ran(error: Exception) -> bool:
    """Whether nothing was done, in any try of the gateway: then it may be sent again, whatever it is."""
    if not isinstance(error, thrift.TIOError) or not error.message:
        return False
    tries = [said for said in _TRIES.split(error.message) if said.strip()]
    return all(any(sign in said.partition("\n")[0] for sign in (*_BUSY, *_MOVING, *_LOST_PLACE)) for said in tries)


def refused(error: Exception) -> bool:
    """Whether HBase would not do it, and will not the next time: no such table, no right."""
    return isinstance(error, thrift.TIOError) and error.canRetry is False


def reason(error: Exception) -> str:
    said = str(getattr(error, "message", None) or error) or type(error).__name__
    return next(line for line in _TRIES.split(said) if line.strip()).strip().partition("\n")[0]
