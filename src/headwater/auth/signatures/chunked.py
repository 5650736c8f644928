"""Bodies in chunks, `aws-chunked`: each with its length ahead of it, perhaps signed, perhaps with trailers at the end.

    400;chunk-signature=…    in hex, and without the signature if chunks are not signed
    <1024 bytes>
    0;chunk-signature=…
    x-amz-checksum-crc32c:…
    x-amz-trailer-signature:…

Each signature covers the one before it, from that of the request on: no chunk can be left out, put elsewhere or added.
A chunk is handed out as it arrives and not held until its signature is known, or its sender would say how much memory
we need: so content is to be believed only once `finish` has returned.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from enum import Enum, auto
from typing import Final

import msgspec

from headwater.auth.signatures.errors import IncompleteBody, MalformedTrailer, SignatureDoesNotMatch
from headwater.auth.signatures.limits import MAX_CHUNK_LINE, MAX_TRAILERS
from headwater.auth.signatures.payload import Chunks

TRAILER_SIGNATURE: Final = "x-amz-trailer-signature"

_NOTHING = hashlib.sha256().hexdigest()
_SIGNED_LINE = re.compile(rb"([0-9A-Fa-f]{1,12});chunk-signature=([0-9a-f]{64})")
_LINE = re.compile(rb"([0-9A-Fa-f]{1,12})(?:;.*)?")


class Chain(msgspec.Struct, frozen=True):
    """What the signatures of chunks go on from: the key, the time, the scope, and the signature of the request."""

    key: bytes
    time: str
    scope: str
    seed: str


class _At(Enum):
    LINE = auto()
    CONTENT = auto()
    AFTER_CONTENT = auto()
    TRAILERS = auto()
    END = auto()


class ChunkedBody:
    """Takes a body in chunks apart, and checks lengths, signatures (if there is a *chain*) and trailers."""

    def __init__(self, chunks: Chunks, chain: Chain | None) -> None:
        self._chunks = chunks
        self._chain = chain
        self._previous = chain.seed if chain else ""
        self._at = _At.LINE
        self._buffer = bytearray()
        self._left = 0
        self._signature = ""
        self._hash = hashlib.sha256()
        self._content = 0
        self._trailers: dict[str, str] = {}
        self._expects_trailers = bool(chunks.trailers)
        self._trailer_bytes = 0
        self._trailer_hash = hashlib.sha256()
        self._trailer_signature: str | None = None

    def feed(self, piece: bytes) -> list[bytes]:
        """What of the content is in the next *piece*. Raises as soon as it is certain that something is wrong."""
        found: list[bytes] = []
        start = 0
        while start < len(piece):
            if self._at is _At.CONTENT:
                content = piece[start : start + self._left]
                start += len(content)
                found.append(self._take(content))
            else:
                end = piece.find(b"\n", start)
                stop = len(piece) if end < 0 else end + 1
                self._buffer += piece[start:stop]
                start = stop
                self._check_length()
                if end >= 0:
                    line = bytes(self._buffer.removesuffix(b"\n").removesuffix(b"\r"))
                    self._buffer.clear()
                    self._read_line(line)
        return found

    def finish(self) -> dict[str, str]:
        """The trailers. Raises unless all of the body came, as it was signed."""
        if self._at is _At.TRAILERS and not self._buffer:
            self._end()
        if self._at is not _At.END or self._buffer:
            raise IncompleteBody("the body ends in the middle of a chunk")
        return self._trailers

    def _check_length(self) -> None:
        if self._at is _At.END:
            raise IncompleteBody("the body goes on after its last chunk")
        limit = MAX_TRAILERS if self._at is _At.TRAILERS else MAX_CHUNK_LINE
        if len(self._buffer) > limit:
            raise IncompleteBody(f"a line between chunks has more than {limit} bytes")

    def _read_line(self, line: bytes) -> None:
        match self._at:
            case _At.LINE:
                self._begin(line)
            case _At.AFTER_CONTENT:
                if line:
                    raise IncompleteBody("a chunk is longer than the line ahead of it says")
                self._at = _At.LINE
            case _:
                self._read_trailer(line)

    def _begin(self, line: bytes) -> None:
        found = (_SIGNED_LINE if self._chain else _LINE).fullmatch(line)
        if found is None:
            raise IncompleteBody(f"the line ahead of a chunk reads {line[:100]!r}")
        self._left = int(found[1], 16)
        self._content += self._left
        if self._content > self._chunks.length:
            raise IncompleteBody(f"the chunks hold more than the {self._chunks.length} bytes that were announced")
        if self._chain:
            self._signature = found[2].decode()
            self._hash = hashlib.sha256()
        self._at = _At.CONTENT
        if self._left == 0:
            self._close_chunk()
            if self._content < self._chunks.length:
                raise IncompleteBody(f"the chunks hold {self._content} bytes, and {self._chunks.length} were announced")
            self._at = _At.TRAILERS

    def _take(self, content: bytes) -> bytes:
        self._left -= len(content)
        if self._chain:
            self._hash.update(content)
        if self._left == 0:
            self._close_chunk()
            self._at = _At.AFTER_CONTENT
        return content

    def _close_chunk(self) -> None:
        if self._chain is None:
            return
        text = f"AWS4-HMAC-SHA256-PAYLOAD\n{self._chain.time}\n{self._chain.scope}\n{self._previous}\n{_NOTHING}\n"
        expected = hmac.digest(self._chain.key, (text + self._hash.hexdigest()).encode(), "sha256").hex()
        if not hmac.compare_digest(expected, self._signature):
            raise SignatureDoesNotMatch("the signature of a chunk is not that of its content and of all before it")
        self._previous = expected

    def _read_trailer(self, line: bytes) -> None:
        if not line:
            if self._expects_trailers:
                self._expects_trailers = False  # some clients end the last chunk with an empty line, as they do others
            else:
                self._end()
            return
        self._expects_trailers = False
        self._trailer_bytes += len(line)
        raw_name, colon, raw_value = line.partition(b":")
        name, value = raw_name.decode("latin-1").strip().lower(), raw_value.decode("latin-1").strip()
        if not colon or self._trailer_bytes > MAX_TRAILERS:
            raise MalformedTrailer(f"a line after the last chunk reads {line[:100]!r}")
        if name == TRAILER_SIGNATURE and self._chain and self._trailer_signature is None:
            self._trailer_signature = value
            return
        if name not in self._chunks.trailers or name in self._trailers or self._trailer_signature is not None:
            raise MalformedTrailer(f"{name[:100]!r} follows the last chunk, and was not announced, or is out of place")
        self._trailers[name] = value
        self._trailer_hash.update(f"{name}:{value}\n".encode("latin-1"))

    def _end(self) -> None:
        self._at = _At.END
        missing = self._chunks.trailers - self._trailers.keys()
        if missing:
            raise MalformedTrailer(f"the trailer {', '.join(sorted(missing))} was announced and did not come")
        if self._chain and (self._chunks.trailers or self._trailer_signature is not None):
            self._check_trailers(self._chain, self._trailer_signature or "")

    def _check_trailers(self, chain: Chain, signature: str) -> None:
        text = f"AWS4-HMAC-SHA256-TRAILER\n{chain.time}\n{chain.scope}\n{self._previous}\n"
        expected = hmac.digest(chain.key, (text + self._trailer_hash.hexdigest()).encode(), "sha256").hex()
        if not hmac.compare_digest(expected.encode(), signature.encode("latin-1", "replace")):
            raise SignatureDoesNotMatch("the signature of the trailers is not that of them and of all before them")
