"""The parts that an object was uploaded in, as its entry keeps them: how many, where each ends, and their checksums.

`s3:parts` is the sizes in order, equal ones counted: `8388608*3 1024`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec

from headwater.index import Entry
from headwater.server.http import Range
from headwater.server.s3.checksums import Checksum
from headwater.server.s3.errors import S3Error
from headwater.server.s3.limits import MAX_PART, MAX_PART_CHECKSUMS
from headwater.server.s3.metadata import PART_CHECKSUMS, PARTS


class ObjectPart(msgspec.Struct, frozen=True):
    """One part of an object."""

    number: int
    size: int
    checksum: str | None


def written(sizes: Iterable[int]) -> str:
    """The sizes of parts, as they are kept."""
    runs = [(size, len(list(run))) for size, run in groupby(sizes)]
    return " ".join(f"{size}*{count}" if count > 1 else str(size) for size, count in runs)


def kept_checksums(checksums: Iterable[Checksum | None]) -> str:
    """The checksums of parts, as they are kept; nothing, if one has none, or if they would be too much to keep."""
    values = [None if each is None else each.value for each in checksums]
    known = [value for value in values if value is not None]
    text = " ".join(known)
    return text if len(known) == len(values) and len(text) <= MAX_PART_CHECKSUMS else ""


def parts_count(entry: Entry) -> int | None:
    """How many parts *entry* has; None if it was not uploaded in parts."""
    told = entry.metadata.get(PARTS)
    return None if told is None else sum(count for _, count in _runs(told))


def parts_of(entry: Entry) -> list[ObjectPart]:
    """The parts of *entry*, in order; none if it was not uploaded in parts."""
    told = entry.metadata.get(PARTS)
    if told is None:
        return []
    sizes = [size for size, count in _runs(told) for _ in range(count)]
    checksums = (entry.metadata.get(PART_CHECKSUMS) or "").split()
    known: list[str | None] = [*checksums] if len(checksums) == len(sizes) else [None] * len(sizes)
    return [ObjectPart(number, *part) for number, part in enumerate(zip(sizes, known, strict=True), 1)]


def part_range(entry: Entry, told: str) -> Range:
    """Where the part of the number *told* is. An object that was put in one piece is its own first part."""
    if not (told.isascii() and told.isdigit() and len(told) < 6) or not 1 <= int(told) <= MAX_PART:
        raise S3Error("InvalidArgument", f"Part number must be an integer between 1 and {MAX_PART}, inclusive")
    number, start = int(told), 0
    sizes = [part.size for part in parts_of(entry)] or [entry.size]
    if number > len(sizes):
        raise S3Error("InvalidPart", f"the object has {len(sizes)} parts, and no part {number}")
    start = sum(sizes[: number - 1])
    return Range(start, start + sizes[number - 1])


def _runs(told: str) -> Iterator[tuple[int, int]]:
    for run in told.split():
        size, _, count = run.partition("*")
        yield int(size), int(count or "1")
