"""The size and MD5 of what is put, computed while it passes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator


def md5_of(body: bytes) -> str:
    """The MD5 of a *body* that is all there, in hex."""
    return hashlib.md5(body, usedforsecurity=False).hexdigest()


class Measured(Iterator[bytes]):
    """The chunks of a body, counted and hashed as they are taken.

    MD5 because S3 and its clients know an object by it; it protects nothing here.
    """

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._hash = hashlib.md5(usedforsecurity=False)
        self.size = 0

    def __next__(self) -> bytes:
        chunk = next(self._chunks)
        self.size += len(chunk)
        self._hash.update(chunk)
        return chunk

    @property
    def md5(self) -> str:
        return self._hash.hexdigest()
