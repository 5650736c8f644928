"""Durations as lakeFS has them written, which are those of Go: `1m30s`, `500ms`."""

from __future__ import annotations

import re

from headwater.actions.errors import BadAction
from headwater.actions.limits import MAX_TIMEOUT

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")


def seconds_of(text: str) -> float:
    """The seconds that *text* means, of a time that a hook may take."""
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise BadAction(f"timeout {text[:40]!r}: write it as 30s or 1m30s")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if not 0 < seconds <= MAX_TIMEOUT:
        raise BadAction(f"timeout {text[:40]!r}: it is between 0 and {MAX_TIMEOUT:.0f} seconds")
    return float(seconds)
