"""Lists of blocks: objects that never change, named by their content, behind the blocks of an entry that grew."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterable, Sequence

import msgspec

from headwater.blob import BlobStore
from headwater.blob.namespace import BLOCKS, BlocksName, blocks_name, parse_blocks_name
from headwater.engine.growth import MARK, Growth, Piece, appends_in, mark_after, pieces_of
from headwater.engine.limits import BLOCK_LISTS, INLINE_BLOCKS, LISTED_BLOCKS
from headwater.history.cache import Cache
from headwater.index import Block, Corrupt, Entry

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(tuple[Piece, ...])


class BlockLists:
    """The lists of one storage namespace. What was read once is kept, up to a limit."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._known: Cache[str, tuple[Piece, ...]] = Cache(BLOCK_LISTS)

    async def read(self, address: str) -> tuple[Piece, ...]:
        """What is in the list at *address*. One request, or none. Raises `Corrupt`."""
        known = self._known.get(address)
        if known is not None:
            return known
        content = await self._blobs.read(address)
        name = parse_blocks_name(address)
        if name is None or _hash(content) != name.hash:
            raise Corrupt(f"the list of blocks {address}", "its content does not hash to its name")
        try:
            pieces = _decoder.decode(content)
        except msgspec.MsgspecError as error:
            raise Corrupt(f"the list of blocks {address}", str(error)) from None
        self._known.put(address, pieces, len(content))
        return pieces

    async def write(self, pieces: Sequence[Piece], level: int) -> Piece:
        """A list of *pieces*, which are all of one level below *level*. Written twice, it is the same object."""
        content = _encoder.encode(pieces)
        name = BlocksName(level, appends_in(pieces), pieces[-1].mark.hex(), _hash(content))
        address = blocks_name(name)
        await self._blobs.put(address, content)
        self._known.put(address, tuple(pieces), len(content))
        return Piece(address, 0, sum(piece.length for piece in pieces), pieces[-1].mark)

    async def rolled(self, entry: Entry) -> Entry:
        """*entry* with few blocks of its own: of each level at most `INLINE_BLOCKS`; more of them go to a list."""
        if len(entry.blocks) <= INLINE_BLOCKS:
            return entry
        growth = Growth(entry)
        level = 0
        while len(tail := _tail(growth.pieces, level)) > INLINE_BLOCKS:
            level += 1
            starts = range(0, len(tail), LISTED_BLOCKS)
            lists = [await self.write(tail[start : start + LISTED_BLOCKS], level) for start in starts]
            growth.pieces[len(growth.pieces) - len(tail) :] = lists
        return growth.entry()

    async def expand(self, blocks: Iterable[Block]) -> AsyncIterator[Block]:
        """The blocks that have the bytes of *blocks*, lists read when their turn comes.

        Those that lie behind each other in one object come as one.
        """
        waiting: Block | None = None
        async for block in self._expand(blocks):
            if waiting is not None and follows(waiting, block):
                waiting = Block(waiting.address, waiting.offset, waiting.length + block.length)
                continue
            if waiting is not None:
                yield waiting
            waiting = block
        if waiting is not None:
            yield waiting

    async def pieces(self, blocks: Iterable[Block], *, after: int = 0) -> AsyncIterator[Piece]:
        """The blocks of a whole file and their marks, in order; of those that end within *after* bytes only some."""
        async for piece in self._leaves(pieces_of(blocks), after):
            yield piece

    async def mark_at(self, blocks: Sequence[Block], size: int) -> bytes | None:
        """The mark of a file where it has *size* bytes; None if no append ended there. Reads a list of each level."""
        pieces: Sequence[Piece] = pieces_of(blocks)
        start, found = 0, bytes(MARK) if size == 0 else None
        while found is None:
            for piece in pieces:
                end = start + piece.length
                if end == size:
                    found = piece.mark  # not the last such: what is empty is never pushed
                    break
                if end > size:
                    break
                start = end
            else:
                return None
            if found is None:
                if not is_list(piece.address):
                    return None
                pieces = await self.read(piece.address)
        return found

    async def has(self, blocks: Sequence[Block], block: Block) -> bool:
        """Whether *block* was appended to the file of these *blocks*. Reads all its lists, the first time."""
        before = bytes(MARK)
        async for piece in self.pieces(blocks):
            if mark_after(before, block) == piece.mark:
                return True
            before = piece.mark
        return False

    async def _leaves(self, pieces: Iterable[Piece], after: int) -> AsyncIterator[Piece]:
        start = 0
        for piece in pieces:
            end = start + piece.length
            if end > after:
                if is_list(piece.address):
                    async for leaf in self._leaves(await self.read(piece.address), after - start):
                        yield leaf
                else:
                    yield piece
            start = end

    async def _expand(self, blocks: Iterable[Block]) -> AsyncIterator[Block]:
        for block in blocks:
            if not is_list(block.address):
                yield block
                continue
            inner = [piece.block for piece in await self.read(block.address)]
            async for leaf in self._expand(pieces_between(inner, block.offset, block.offset + block.length)):
                yield leaf


def is_list(address: str) -> bool:
    """Whether *address* names a list of blocks."""
    return address.startswith(BLOCKS)


def follows(one: Block, other: Block) -> bool:
    """Whether *other* begins where *one* ends."""
    return one.address == other.address and one.offset + one.length == other.offset


def pieces_between(blocks: Iterable[Block], start: int, end: int) -> list[Block]:
    """The parts of *blocks* that hold the bytes from *start* up to *end*."""
    found = []
    position = 0
    for block in blocks:
        first, last = max(start, position), min(end, position + block.length)
        if first < last:
            found.append(Block(block.address, block.offset + first - position, last - first))
        position += block.length
    return found


def _tail(pieces: Sequence[Piece], level: int) -> Sequence[Piece]:
    """The last of *pieces*, as many as are of *level*."""
    start = len(pieces)
    while start and _level(pieces[start - 1]) == level:
        start -= 1
    return pieces[start:]


def _level(piece: Piece) -> int:
    name = parse_blocks_name(piece.address)
    return 0 if name is None else name.level


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
