"""Completing an upload in parts: the parts that were chosen become the blocks of one entry."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from headwater.engine import uploads
from headwater.engine.block_lists import BlockLists
from headwater.engine.errors import PartNotAsListed, PartsOutOfOrder, PartTooSmall, PreconditionFailed
from headwater.engine.growth import pieces_of
from headwater.engine.limits import LISTED_BLOCKS, MAX_BLOCKS, MIN_PART
from headwater.engine.paths import key_of
from headwater.engine.repository import Repository
from headwater.engine.uploads import Ended, Found, Part
from headwater.index import Block, Entry
from headwater.kv import PredicateFailed

Stage = Callable[[Entry], Awaitable[None]]
"""Writes an entry whose bytes are stored already, where the upload goes."""


class Chosen(msgspec.Struct, frozen=True):
    """A part that is to be in the object: its number, and the MD5 that its sender was told."""

    number: int
    md5: str


def check_parts(stored: Sequence[Part], chosen: Sequence[Chosen]) -> list[Part]:
    """The parts that were *chosen*, of those that are *stored*; else what is wrong with the choice."""
    known = {part.number: part for part in stored}
    found: list[Part] = []
    for each in chosen:
        if found and each.number <= found[-1].number:
            raise PartsOutOfOrder(f"part {each.number} comes after part {found[-1].number}: list them by their numbers")
        part = known.get(each.number)
        if part is None or part.md5 != each.md5:
            raise PartNotAsListed(f"part {each.number} was not uploaded, or not with the ETag {each.md5[:100]!r}")
        found.append(part)
    for part in found[:-1]:
        if part.size < MIN_PART:
            raise PartTooSmall(f"part {part.number} has {part.size} bytes; all but the last have {MIN_PART} or more")
    return found


async def complete(
    repository: Repository, found: Found, parts: Sequence[Part], metadata: Mapping[str, str], stage: Stage
) -> Entry:
    """Stage the object that *parts* make, with *metadata* beside what was said at the beginning, and end the upload.

    It may be called again after it failed in any way, or at the same time: the entry is the same each time, down to its
    time, which is that of the beginning. No byte is copied.
    """
    upload = found.upload
    closed = await _closed(repository, found)
    blocks = await few(repository.block_lists, [block for part in parts for block in part.blocks])
    entry = Entry(
        key_of(upload.path),
        blocks=blocks,
        size=sum(part.size for part in parts),
        checksum=etag_of(parts),
        modified=upload.started,
        content_type=upload.content_type,
        metadata={**upload.metadata, **metadata},
    )
    try:
        await stage(entry)
    except PreconditionFailed:
        await uploads.reopen(repository, closed)
        raise
    became = Ended(upload.where, upload.path, repository.outside.now(), entry.checksum or "", entry.metadata)
    await uploads.end(repository, upload, became)
    return entry


def etag_of(parts: Sequence[Part]) -> str:
    """What S3 calls an object of these parts: the MD5 of their MD5s, and how many they are."""
    joined = b"".join(bytes.fromhex(part.md5) for part in parts)
    return f"{hashlib.md5(joined, usedforsecurity=False).hexdigest()}-{len(parts)}"


async def few(lists: BlockLists, blocks: Sequence[Block]) -> tuple[Block, ...]:
    """*blocks*, or, if they are too many for an entry, lists of them: objects that are named by their content."""
    if len(blocks) <= MAX_BLOCKS:
        return tuple(blocks)
    pieces = pieces_of([block async for block in lists.expand(blocks)])
    steps = range(0, len(pieces), LISTED_BLOCKS)
    return tuple([(await lists.write(pieces[start : start + LISTED_BLOCKS], 1)).block for start in steps])


async def _closed(repository: Repository, found: Found) -> Found:
    """*found* with the word of the store that nobody takes its bytes away."""
    while True:
        try:
            return await uploads.close(repository, found)
        except PredicateFailed:
            found = await uploads.find(repository, found.upload.id)
