"""Where a scan of what is staged begins: at a key, or wherever else a listing goes on."""

from __future__ import annotations

from headwater.kv.limits import MAX_KEY


def beginning_at(start: bytes) -> bytes:
    """What a scan begins at that is to find all keys from *start* on.

    That is *start* itself, unless it is longer than any key, as what comes just behind the longest one: then nothing
    begins so, and all that is greater is at the next key of the greatest length, or beyond.
    """
    if len(start) <= MAX_KEY:
        return start
    longest = start[:MAX_KEY]
    return longest[:-1] + bytes([longest[-1] + 1])  # the bytes of a text are all less than 255
