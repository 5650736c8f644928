"""The times that are written on signed requests."""

from __future__ import annotations

import calendar
import re
import time
from datetime import UTC, datetime
from email.utils import parsedate_tz
from functools import lru_cache

from headwater.auth.signatures.errors import RequestTimeTooSkewed
from headwater.auth.signatures.limits import SKEW

_BASIC = re.compile(r"\d{8}T\d{6}Z", re.ASCII)
BASIC = "%Y%m%dT%H%M%SZ"
_YEAR_10000 = 253_402_300_800


@lru_cache(64)
def parse_basic(text: str) -> int | None:
    """Seconds since 1970 of a time such as `20130524T000000Z`, or None. Of now, as a rule, so it is kept."""
    if _BASIC.fullmatch(text) is None:
        return None
    year, month, day = int(text[:4]), int(text[4:6]), int(text[6:8])
    hour, minute, second = int(text[9:11]), int(text[11:13]), int(text[13:15])
    try:
        return int(datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp())
    except ValueError:
        return None


def parse_any(text: str) -> int | None:
    """The same, or of one as it stands in a `Date` header."""
    seconds = parse_basic(text)
    if seconds is None:
        try:
            parts = parsedate_tz(text)
            seconds = None if parts is None else calendar.timegm(parts[:9]) - (parts[9] or 0)
        except (ValueError, OverflowError, IndexError, TypeError):
            return None
    return seconds if seconds is not None and 0 <= seconds < _YEAR_10000 else None


@lru_cache(64)
def basic(seconds: int) -> str:
    """A time as `parse_basic` reads it."""
    return time.strftime(BASIC, time.gmtime(seconds))


def check_skew(signed_at: int, now: float) -> None:
    """Raise `RequestTimeTooSkewed` unless *signed_at* is about *now*."""
    if abs(now - signed_at) > SKEW:
        raise RequestTimeTooSkewed(
            f"the request was signed at {basic(signed_at)} and it is {basic(int(now))}: set the clock of the client"
        )
