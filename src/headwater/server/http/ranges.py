"""The `Range` header of a request for one object."""

from __future__ import annotations

import re

import msgspec

from headwater.blob import RangeNotSatisfiable

_RANGE = re.compile(r"bytes=\s*(\d*)\s*-\s*(\d*)\s*", re.ASCII)

_BEYOND = 10**18
"""A place in an object that is behind the end of any: what a number with more digits stands for."""


class Range(msgspec.Struct, frozen=True):
    """Bytes from *start* up to, not including, *end*."""

    start: int
    end: int

    def header(self, size: int) -> bytes:
        """The `Content-Range` of an object of *size* bytes."""
        return b"bytes %d-%d/%d" % (self.start, self.end - 1, size)


def parse_range(text: str | None, size: int) -> Range | None:
    """What *text* asks for of an object of *size* bytes. None: all of it, as for a header that makes no sense.

    `RangeNotSatisfiable` if the object has no byte in it. Of several ranges none is understood, and all is sent, which
    a client must expect.
    """
    found = None if text is None else _RANGE.fullmatch(text)
    if found is None:
        return None
    first, last = found.groups()
    if not first and not last:
        return None
    if not first:
        length = place_in(last)
        if length == 0 or size == 0:
            raise RangeNotSatisfiable(f"there are no {length} last bytes of {size}")
        return Range(max(0, size - length), size)
    start, end = place_in(first), size if not last else min(place_in(last) + 1, size)
    if last and place_in(last) < start:
        return None
    if start >= size:
        raise RangeNotSatisfiable(f"there is no byte {start} in {size} bytes")
    return Range(start, end)


def place_in(digits: str) -> int:
    """The place in an object that *digits* name, however many they are."""
    significant = digits.lstrip("0")
    return int(significant or "0") if len(significant) <= 18 else _BEYOND
