"""Files that grow: an entry extended by what was appended, and a *mark* for each place where an append ended.

The bytes of a file are those of its blocks. What was appended last has its blocks in the entry; behind them are lists
of blocks, which are objects, and lists of lists. So an entry stays small however often a file was appended to, and is
extended without anything being read. A mark is a hash of all blocks up to some place: two files that have the same mark
at the same place are the same up to there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import msgspec

from headwater.blob.namespace import parse_blocks_name
from headwater.index import Block, Entry, Kind

MARK = 16
"""Bytes of a mark."""

START = bytes(MARK)
"""The mark of nothing."""


class Piece(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A block, or a list of blocks by its name, and the mark of the file at its end."""

    address: str
    offset: int
    length: int
    mark: bytes

    @property
    def block(self) -> Block:
        return Block(self.address, self.offset, self.length)


_encoder = msgspec.msgpack.Encoder()


def mark_after(mark: bytes, block: Block) -> bytes:
    """The mark behind *block*, which follows what has *mark*."""
    return hashlib.blake2b(mark + _encoder.encode(block), digest_size=MARK).digest()


def pieces_of(blocks: Iterable[Block]) -> list[Piece]:
    """The blocks of an entry, with their marks. Nothing is read: a list has its mark in its name."""
    mark = START
    pieces = []
    for block in blocks:
        name = parse_blocks_name(block.address)
        mark = mark_after(mark, block) if name is None else bytes.fromhex(name.mark)
        pieces.append(Piece(block.address, block.offset, block.length, mark))
    return pieces


def mark_of(entry: Entry | None) -> bytes:
    """The mark at the end of *entry*; that of nothing, if it is none."""
    pieces = [] if entry is None else pieces_of(entry.blocks)
    return pieces[-1].mark if pieces else START


def appends_in(pieces: Iterable[Piece]) -> int:
    """How many blocks *pieces* have in the end, those in lists included."""
    names = [parse_blocks_name(piece.address) for piece in pieces]
    return sum(1 if name is None else name.appends for name in names)


class Growth:
    """An entry while it is being extended, however often: each time at no cost by its size."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        self._modified = entry.modified
        self._size = entry.size
        self.grown = False
        self.pieces = pieces_of(entry.blocks)

    def push(self, block: Block, modified: int) -> None:
        """Append *block*."""
        mark = self.pieces[-1].mark if self.pieces else START
        self.pieces.append(Piece(block.address, block.offset, block.length, mark_after(mark, block)))
        self._size += block.length
        self.grown = True
        self._modified = max(self._modified, modified)

    def entry(self) -> Entry:
        """The entry as it is now."""
        return msgspec.structs.replace(
            self._entry,
            kind=Kind.APPEND,
            blocks=tuple(piece.block for piece in self.pieces),
            size=self._size,
            checksum=checksum_of(self.pieces),
            modified=self._modified,
        )


def checksum_of(pieces: Sequence[Piece]) -> str:
    """What tells the content of a growing file from any other: its mark, and how many appends made it.

    Like that of an upload in parts to S3, it has a dash: no MD5 of the content, which nobody has read as a whole.
    """
    mark = pieces[-1].mark if pieces else START
    return f"{mark.hex()}-{appends_in(pieces)}"
