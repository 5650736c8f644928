"""Checksums of S3: computed while bytes pass, compared with what the client says, kept with the object."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Mapping
from typing import Literal, Protocol, TypeAlias

import msgspec
from awscrt import checksums as crt

from headwater.server.http import Request
from headwater.server.s3.errors import S3Error

Algorithm: TypeAlias = Literal["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"]
Kind: TypeAlias = Literal["FULL_OBJECT", "COMPOSITE"]

PREFIX = "x-amz-checksum-"
HEADERS: Mapping[str, Algorithm] = {
    "x-amz-checksum-crc32": "CRC32",
    "x-amz-checksum-crc32c": "CRC32C",
    "x-amz-checksum-crc64nvme": "CRC64NVME",
    "x-amz-checksum-sha1": "SHA1",
    "x-amz-checksum-sha256": "SHA256",
}
ALGORITHMS = tuple(HEADERS.values())
_NAMED: Mapping[str, Algorithm] = {algorithm: algorithm for algorithm in ALGORITHMS}
_KINDS: Mapping[str, Kind] = {"FULL_OBJECT": "FULL_OBJECT", "COMPOSITE": "COMPOSITE"}
_SIZES = {"CRC32": 4, "CRC32C": 4, "CRC64NVME": 8, "SHA1": 20, "SHA256": 32}


class Digest(Protocol):
    """A checksum being computed."""

    def update(self, content: bytes, /) -> None: ...

    def digest(self) -> bytes: ...


class Checksum(msgspec.Struct, frozen=True):
    """A checksum of an object. *value* is in base64, of a composite one with how many parts it is of."""

    algorithm: Algorithm
    value: str
    kind: Kind = "FULL_OBJECT"

    @property
    def header(self) -> str:
        return f"{PREFIX}{self.algorithm.lower()}"

    @property
    def element(self) -> str:
        """What its element is called in documents."""
        return f"Checksum{self.algorithm}"

    @property
    def spellings(self) -> tuple[str, ...]:
        """How a client may write it. Some leave out of how many parts a composite one is."""
        return (self.value, self.value.partition("-")[0])

    def kept(self) -> str:
        """As it is kept in an entry's metadata."""
        return f"{self.algorithm} {self.kind} {self.value}"

    def headers(self) -> list[tuple[bytes, bytes]]:
        return [(self.header.encode(), self.value.encode()), (b"x-amz-checksum-type", self.kind.encode())]


def checksum_in(text: str | None) -> Checksum | None:
    """The checksum that `kept` made *text* of; None if it made none."""
    parts = (text or "").split(" ")
    if len(parts) != 3:
        return None
    algorithm, kind = _NAMED.get(parts[0]), _KINDS.get(parts[1])
    return Checksum(algorithm, parts[2], kind) if algorithm is not None and kind is not None else None


class Expected(msgspec.Struct, frozen=True):
    """What a request says of the checksum of its body: the algorithm, and the value, unless a trailer will say it."""

    algorithm: Algorithm
    value: str | None

    def check(self, digest: Digest, trailers: Mapping[str, str]) -> Checksum:
        """The checksum of what passed, if it is as it was said to be."""
        found = base64.b64encode(digest.digest()).decode()
        told = self.value or trailers.get(f"{PREFIX}{self.algorithm.lower()}")
        if told is not None and told != found:
            check_value(self.algorithm, told)
            raise S3Error("BadDigest", f"the {self.algorithm} of the body is {found}, and {told[:100]} was announced")
        return Checksum(self.algorithm, found)


def expected(request: Request) -> Expected | None:
    """What the headers of *request* say of a checksum; None if they say nothing."""
    given = [(HEADERS[name], value) for name, value in request.headers.items() if name in HEADERS]
    trailers = [name.strip().lower() for name in (request.header("x-amz-trailer") or "").split(",") if name.strip()]
    unknown = [name for name in trailers if name not in HEADERS]
    if unknown:
        raise S3Error("InvalidRequest", f"x-amz-trailer: {unknown[0][:100]!r} is no checksum that is known here")
    announced = [HEADERS[name] for name in trailers]
    if len(given) + len(announced) > 1:
        raise S3Error("InvalidRequest", "Expecting a single x-amz-checksum- header or trailer; several are given")
    sdk = algorithm_of(request, "x-amz-sdk-checksum-algorithm")
    found: Expected | None = None
    if given:
        algorithm, value = given[0]
        check_value(algorithm, value)
        found = Expected(algorithm, value)
    elif announced:
        found = Expected(announced[0], None)
    if sdk is not None and (found is None or found.algorithm != sdk):
        raise S3Error("InvalidRequest", f"x-amz-sdk-checksum-algorithm is {sdk}, and no checksum of that kind is given")
    return found


def algorithm_of(request: Request, name: str) -> Algorithm | None:
    """The algorithm that the header *name* names, if there is one."""
    told = request.header(name)
    return None if told is None else known(told, name)


def known(told: str, where: str) -> Algorithm:
    for algorithm in ALGORITHMS:
        if told.upper() == algorithm:
            return algorithm
    raise S3Error("InvalidRequest", f"{where} is {told[:100]!r}: it must be one of {', '.join(ALGORITHMS)}")


def check_value(algorithm: Algorithm, value: str) -> None:
    """Raise unless *value* can be a checksum of *algorithm*."""
    try:
        right = len(base64.b64decode(value, validate=True)) == _SIZES[algorithm]
    except (binascii.Error, ValueError):
        right = False
    if not right:
        raise S3Error("InvalidRequest", f"Value for {PREFIX}{algorithm.lower()} header is invalid.")


def digest_of(algorithm: Algorithm) -> Digest:
    """A new checksum of *algorithm*."""
    match algorithm:
        case "CRC32":
            return _Crc(crt.crc32, 4)
        case "CRC32C":
            return _Crc(crt.crc32c, 4)
        case "CRC64NVME":
            return _Crc(crt.crc64nvme, 8)
        case "SHA1":
            return hashlib.sha1(usedforsecurity=False)
        case "SHA256":
            return hashlib.sha256()


class _Crc:
    """A checksum that goes on from its last value."""

    def __init__(self, step: Callable[[bytes, int], int], size: int) -> None:
        self._step = step
        self._size = size
        self._value = 0

    def update(self, content: bytes, /) -> None:
        self._value = self._step(content, self._value)

    def digest(self) -> bytes:
        return self._value.to_bytes(self._size, "big")
