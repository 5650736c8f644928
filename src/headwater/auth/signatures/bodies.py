"""Bodies of signed requests, as they arrive: fed piece by piece, held in no more memory than one piece, and checked.

What `feed` answers is the content, at once; whether it was the content that was signed is certain only when `finish`
has returned. So nothing that was fed may show before that.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Protocol

from headwater.auth.signatures.errors import XAmzContentSHA256Mismatch


class Body(Protocol):
    """The content of one request."""

    def feed(self, piece: bytes) -> list[bytes]:
        """What of the content is in the next *piece* of the body."""

    def finish(self) -> dict[str, str]:
        """The trailers, now that the body is over. Raises if it is not the body that was signed."""


class UncheckedBody:
    """One that its signature says nothing of."""

    def feed(self, piece: bytes) -> list[bytes]:
        return [piece]

    def finish(self) -> dict[str, str]:
        return {}


class HashedBody:
    """One whose SHA-256 was signed."""

    def __init__(self, sha256: str) -> None:
        self._expected = sha256
        self._hash = hashlib.sha256()

    def feed(self, piece: bytes) -> list[bytes]:
        self._hash.update(piece)
        return [piece]

    def finish(self) -> dict[str, str]:
        found = self._hash.hexdigest()
        if not hmac.compare_digest(found, self._expected):
            raise XAmzContentSHA256Mismatch(
                f"the SHA-256 of the body is {found}, and x-amz-content-sha256 says {self._expected}"
            )
        return {}
