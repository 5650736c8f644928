"""Packing: many small blocks of a file are written as few large ones, in a commit that changes no content.

What a file is, where an append of it ended, and what a range of commits added stay the same. Earlier commits keep the
blocks that they have.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from headwater.blob.namespace import data_name
from headwater.engine.advance import Made, advance
from headwater.engine.commit import Check, Description
from headwater.engine.growth import Piece
from headwater.engine.limits import LISTED_BLOCKS
from headwater.engine.looking import commit_of
from headwater.engine.paths import key_of
from headwater.engine.read import content
from headwater.engine.repository import Repository
from headwater.files.limits import PACKED, SMALL
from headwater.history import Commit
from headwater.index import Entry, Kind, relocate
from headwater.refs.branch import Branch
from headwater.staging.errors import NothingToCommit


async def pack(
    repository: Repository, branch: str, path: str, description: Description, *, check: Check | None = None
) -> Commit:
    """Pack what is committed of the file at *path*. `NothingToCommit` if there is little to gain.

    It reads and writes once what lies in small blocks. What is appended meanwhile stays as it is.
    """
    key = key_of(path)
    head = await repository.index_of((await commit_of(repository, branch)).id)
    found = await head.get(key)
    packed = None if found is None else await _packed(repository, found)
    if found is None or packed is None:
        raise NothingToCommit(f"{path!r} has no blocks on branch {branch!r} that packing would make fewer")
    end = packed[-1].mark

    async def make(ground: Branch) -> Made:
        index = await repository.index_of(ground.commit)
        entry = await index.get(key)
        if entry is None or await repository.block_lists.mark_at(entry.blocks, found.size) != end:
            raise NothingToCommit(f"{path!r} was cut on branch {branch!r} while it was packed")
        return [ground.commit], await relocate(index, {key: await _over(repository, entry, packed, found.size)})

    return await advance(repository, branch, description, make, check)


async def _packed(repository: Repository, entry: Entry) -> list[Piece] | None:
    """The blocks of *entry* with the small ones packed, as pieces that keep their marks; None if that is no gain."""
    if entry.kind is not Kind.APPEND:
        return None
    leaves = [piece async for piece in repository.block_lists.pieces(entry.blocks)]
    found: list[Piece] = []
    gained = False
    start = 0
    for run in _runs(leaves):
        end = start + sum(piece.length for piece in run)
        if len({piece.address for piece in run}) > 1:
            found += await _written(repository, entry, run, start, end)
            gained = True
        else:
            found += run
        start = end
    return found if gained else None


def _runs(leaves: Sequence[Piece]) -> list[list[Piece]]:
    """Neighbours that belong into one object: small ones, up to `PACKED` bytes together."""
    runs: list[list[Piece]] = []
    size = 0
    for leaf in leaves:
        small = leaf.length < SMALL
        if runs and small and size + leaf.length <= PACKED:
            runs[-1].append(leaf)
            size += leaf.length
        else:
            runs.append([leaf])
            size = leaf.length if small else PACKED
    return runs


async def _written(repository: Repository, entry: Entry, run: Sequence[Piece], start: int, end: int) -> list[Piece]:
    """*run*, the bytes of *entry* from *start* to *end*, in one object."""
    address = data_name(repository.outside.now(), repository.outside.random(16).hex())
    await repository.blobs.put(address, content(repository, entry, start=start, end=end).chunks)
    pieces = []
    offset = 0
    for piece in run:
        pieces.append(Piece(address, offset, piece.length, piece.mark))
        offset += piece.length
    return pieces


async def _over(repository: Repository, entry: Entry, packed: Sequence[Piece], size: int) -> Entry:
    """*entry* with *packed* in the place of its first *size* bytes. All is in lists, which keep the marks."""
    lists = repository.block_lists
    pieces = [*packed, *[piece async for piece in lists.pieces(entry.blocks, after=size)]]
    starts = range(0, len(pieces), LISTED_BLOCKS)
    listed = [await lists.write(pieces[start : start + LISTED_BLOCKS], 1) for start in starts]
    return await lists.rolled(msgspec.structs.replace(entry, blocks=tuple(piece.block for piece in listed)))
