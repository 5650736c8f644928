"""What the core may not take for itself: time, randomness, waiting. Handed in, so that a seed can decide them."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable

import msgspec


class Outside(msgspec.Struct, frozen=True):
    """The world as one engine sees it."""

    now: Callable[[], int]
    """Milliseconds since 1970, for what people read. It may jump."""

    elapsed: Callable[[], float]
    """Seconds since some fixed moment, for what must not be outlasted. It never goes back."""

    random: Callable[[int], bytes]
    """So many bytes that nobody else will ever be given."""

    sleep: Callable[[float], Awaitable[None]]
    """Wait so many seconds; only ever called where waiting is possible."""


def real_outside() -> Outside:
    """This machine's clock and randomness."""
    return Outside(
        now=lambda: time.time_ns() // 1_000_000, elapsed=time.monotonic, random=secrets.token_bytes, sleep=asyncio.sleep
    )
