"""The checksum of an object that arrives in parts, of those of its parts."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from functools import reduce

import msgspec
from awscrt import checksums as crt

from headwater.engine.uploads import Part
from headwater.server.http import Request
from headwater.server.s3.checksums import ALGORITHMS, Algorithm, Checksum, Kind, algorithm_of, checksum_in, digest_of
from headwater.server.s3.errors import S3Error

_COMBINE: dict[Algorithm, Callable[[int, int, int], int]] = {
    "CRC32": crt.combine_crc32,
    "CRC32C": crt.combine_crc32c,
    "CRC64NVME": crt.combine_crc64nvme,
}


class Planned(msgspec.Struct, frozen=True):
    """The checksum that an upload was begun with."""

    algorithm: Algorithm
    kind: Kind

    def kept(self) -> str:
        return f"{self.algorithm} {self.kind}"


def plan_of(request: Request) -> Planned | None:
    """What the headers of a CreateMultipartUpload ask for."""
    algorithm = algorithm_of(request, "x-amz-checksum-algorithm")
    told = request.header("x-amz-checksum-type")
    if algorithm is None:
        if told is not None:
            raise S3Error("InvalidRequest", "x-amz-checksum-type: say with x-amz-checksum-algorithm of which")
        return None
    match told.upper() if told is not None else ("FULL_OBJECT" if algorithm == "CRC64NVME" else "COMPOSITE"):
        case "FULL_OBJECT" if algorithm in _COMBINE:
            return Planned(algorithm, "FULL_OBJECT")
        case "COMPOSITE" if algorithm != "CRC64NVME":
            return Planned(algorithm, "COMPOSITE")
        case "FULL_OBJECT" | "COMPOSITE" as kind:
            raise S3Error("InvalidRequest", f"The {kind} checksum type cannot be used with the {algorithm} algorithm")
        case _:
            raise S3Error("InvalidRequest", "x-amz-checksum-type: it must be FULL_OBJECT or COMPOSITE")


def planned_in(text: str) -> Planned | None:
    """What `kept` made *text* of."""
    match text.split(" "):
        case [algorithm, kind] if algorithm in ALGORITHMS:
            return msgspec.convert({"algorithm": algorithm, "kind": kind}, Planned)
        case _:
            return None


def combined(planned: Planned, parts: Sequence[Part]) -> Checksum | None:
    """The checksum of the object; None if one of the parts has none."""
    checksums = [checksum_in(part.checksum) for part in parts]
    values = [base64.b64decode(each.value) for each in checksums if each is not None]
    if len(values) < len(parts):
        return None
    if planned.kind == "COMPOSITE":
        digest = digest_of(planned.algorithm)
        digest.update(b"".join(values))
        return Checksum(planned.algorithm, f"{_text(digest.digest())}-{len(parts)}", "COMPOSITE")
    step = _COMBINE[planned.algorithm]
    numbers = [(int.from_bytes(value, "big"), part.size) for value, part in zip(values, parts, strict=True)]
    whole, _ = reduce(lambda left, right: (step(left[0], right[0], right[1]), 0), numbers)
    return Checksum(planned.algorithm, _text(whole.to_bytes(len(values[0]), "big")))


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()
