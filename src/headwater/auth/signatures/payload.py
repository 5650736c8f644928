"""What a signature says of the body of its request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from headwater.auth.signatures.errors import InvalidArgument, MissingContentLength
from headwater.auth.signatures.limits import MAX_BODY

UNSIGNED: Final = "UNSIGNED-PAYLOAD"
CHUNKS: Final = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
CHUNKS_AND_TRAILER: Final = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
UNSIGNED_CHUNKS: Final = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"

_IN_CHUNKS = {CHUNKS: (True, False), CHUNKS_AND_TRAILER: (True, True), UNSIGNED_CHUNKS: (False, True)}
_SHA256 = re.compile(r"[0-9A-Fa-f]{64}")
_LENGTH = re.compile(r"[0-9]{1,15}", re.ASCII)


class Chunks(msgspec.Struct, frozen=True):
    """The body comes in chunks, signed or not, which hold *length* bytes; then come the trailers called *trailers*."""

    length: int
    signed: bool
    trailers: frozenset[str]


class Payload(msgspec.Struct, frozen=True):
    """*text* is what was signed in the place of the body's hash; *sha256* is the hash if it is one."""

    text: str
    sha256: str | None = None
    chunks: Chunks | None = None


def payload_of(text: str, headers: Mapping[str, str]) -> Payload:
    """What `x-amz-content-sha256` says; else `InvalidArgument`."""
    if text == UNSIGNED:
        return Payload(text)
    if _SHA256.fullmatch(text):
        return Payload(text, sha256=text.lower())
    if text in _IN_CHUNKS:
        signed, trailed = _IN_CHUNKS[text]
        return Payload(text, chunks=Chunks(_length(headers), signed, _trailers(headers) if trailed else frozenset()))
    raise InvalidArgument(
        f"x-amz-content-sha256 is {text[:100]!r}: it must be {UNSIGNED}, {CHUNKS}, {CHUNKS_AND_TRAILER}, "
        f"{UNSIGNED_CHUNKS} or the SHA-256 of the body in hex"
    )


def _length(headers: Mapping[str, str]) -> int:
    text = headers.get("x-amz-decoded-content-length")
    if text is None:
        raise MissingContentLength("a body in chunks needs the header x-amz-decoded-content-length")
    if _LENGTH.fullmatch(text) is None or int(text) > MAX_BODY:
        raise InvalidArgument(f"x-amz-decoded-content-length is {text[:40]!r}: it must be a number up to {MAX_BODY}")
    return int(text)


def _trailers(headers: Mapping[str, str]) -> frozenset[str]:
    names = [name.strip().lower() for name in headers.get("x-amz-trailer", "").split(",")]
    return frozenset(name for name in names if name)
