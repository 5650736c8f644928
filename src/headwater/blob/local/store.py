"""`file:///directory?durability=fsync`: the verbs of an object store on a local directory."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Literal

import msgspec

from headwater.blob.errors import BlobUnavailable, CannotOpen, NotFound, NotSupported, RangeNotSatisfiable
from headwater.blob.limits import CALLS, CHUNK, INLINE_READ, INLINE_WRITE, PAGE, STREAMS
from headwater.blob.local.files import Attributes, described, explained, read_attributes
from headwater.blob.local.placing import Placing
from headwater.blob.local.unseen import write_unseen
from headwater.blob.local.walking import walk
from headwater.blob.measured import Measured, md5_of
from headwater.blob.store import (
    ANY,
    NO_METADATA,
    Blob,
    BlobStore,
    Body,
    Condition,
    Fetched,
    Listed,
    Method,
    Stat,
    Stored,
)
from headwater.blob.threads import Threads
from headwater.location import Location

_NO_OBJECT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO})  # the last two: a link, a socket


class Options(msgspec.Struct, forbid_unknown_fields=True):
    """*durability* `fsync`: what was answered survives the machine's crash. `os`: it survives the process's."""

    durability: Literal["fsync", "os"] = "fsync"


def open_directory(location: Location) -> BlobStore:
    """The store in a directory, which is made if need be."""
    options = location.read_options(Options)
    if location.credentials:
        raise CannotOpen(f"{location}: a directory takes no credentials")
    root = Path(location.local_path()).absolute()
    placing = Placing(root, durable=options.durability == "fsync")
    try:
        placing.prepare()
    except OSError as error:
        raise CannotOpen(f"{location}: {error.strerror}: it must be a directory to write and lock files in") from error
    return LocalStore(root, placing)


class LocalStore(BlobStore):
    """Writes go to threads, since they wait for the disk; so do long reads. A short read is a copy from memory, and so
    is a short write where nobody waits for the disk."""

    def __init__(self, root: Path, placing: Placing) -> None:
        self._root = root
        self._placing = placing
        self._calls = Threads(CALLS, "blob-call")
        self._streams = Threads(STREAMS, "blob-stream")

    def __repr__(self) -> str:
        return f"<BlobStore file://{self._root}>"

    async def put(
        self,
        name: str,
        body: Body,
        *,
        condition: Condition = ANY,
        content_type: str | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
        tags: Mapping[str, str] = NO_METADATA,  # noqa: ARG002  (files have none)
    ) -> Stored:
        attributes = Attributes(content_type, dict(metadata))
        if isinstance(body, bytes):
            if len(body) <= INLINE_WRITE and not self._placing.durable:
                return self._put(name, iter([body]), condition, attributes)
            return await self._calls.run(self._put, name, iter([body]), condition, attributes)
        return await self._streams.run_on_stream(lambda chunks: self._put(name, chunks, condition, attributes), body)

    async def put_unseen(self, name: str, body: bytes) -> Stored:
        if self._placing.durable:
            return await self.put(name, body)
        if len(body) <= INLINE_WRITE:
            return self._put_unseen(name, body)
        return await self._calls.run(self._put_unseen, name, body)

    async def get(self, name: str, *, start: int = 0, end: int | None = None) -> Blob:
        opened = self._open(name)
        first, last = opened.bounds(start, end)
        return Blob(opened.stat, first, last, self._chunks(opened, first, last), opened.close)

    async def fetch(self, name: str, *, start: int = 0, end: int | None = None) -> Fetched:
        opened = self._open(name)
        return Fetched(await self._read(opened, start, end), opened.stat)

    async def read(self, name: str, *, start: int = 0, end: int | None = None) -> bytes:
        return await self._read(self._open(name), start, end)

    async def stat(self, name: str) -> Stat | None:
        try:
            return self._open(name).stat
        except NotFound:
            return None

    async def list(
        self, prefix: str = "", *, start_after: str = "", delimiter: bool = False, page: int = PAGE
    ) -> AsyncIterator[Sequence[Listed]]:
        found = walk(str(self._root), prefix, start_after, delimiter=delimiter)
        while entries := await self._calls.run(self._page, found, page):
            yield entries

    async def delete(self, name: str) -> None:
        await self._calls.run(self._placing.remove, name)

    async def delete_many(self, names: Iterable[str]) -> None:
        await self._calls.run(self._remove_all, [*names])

    async def copy(self, source: str, target: str) -> None:
        await self._calls.run(self._copy, source, target)

    async def presign(self, name: str, method: Method, seconds: int) -> str:  # noqa: ARG002  (the interface's)
        raise NotSupported(f"{self!r} has no URLs to sign")

    @property
    def directory(self) -> Path | None:
        return self._root

    def file(self, name: str) -> Path | None:
        found = self._root / name
        with suppress(OSError):
            if stat.S_ISREG(found.lstat().st_mode):  # a link may lead anywhere
                return found
        return None

    async def aclose(self) -> None:
        await self._streams.aclose()
        await self._calls.aclose()

    def _open(self, name: str) -> Opened:
        return Opened(name, f"{self._root}/{name}")

    async def _read(self, opened: Opened, start: int, end: int | None) -> bytes:
        first, last = opened.bounds(start, end)
        if last - first <= INLINE_READ:
            return opened.read(first, last)
        return await self._calls.run(opened.read, first, last)

    async def _chunks(self, opened: Opened, start: int, end: int) -> AsyncGenerator[bytes, None]:
        while start < end:
            chunk = await self._calls.run(opened.read, start, min(start + CHUNK, end))
            start += len(chunk)
            yield chunk
        opened.close()

    # What follows blocks, and runs in a thread.

    def _put(self, name: str, chunks: Iterator[bytes], condition: Condition, attributes: Attributes) -> Stored:
        measured = Measured(chunks)
        etag = self._placing.put(name, measured, condition, attributes)
        return Stored(measured.size, measured.md5, etag)

    def _put_unseen(self, name: str, body: bytes) -> Stored:
        etag = write_unseen(str(self._root), name, body)
        return Stored(len(body), md5_of(body), etag)

    def _page(self, found: Iterator[Listed], page: int) -> Sequence[Listed]:
        with explained(str(self._root)):
            return [*islice(found, page)]

    def _remove_all(self, names: Sequence[str]) -> None:
        for name in names:
            self._placing.remove(name)

    def _copy(self, source: str, target: str) -> None:
        opened = self._open(source)
        found = opened.stat
        size = found.size
        pieces = (opened.read(at, min(at + CHUNK, size)) for at in range(0, size, CHUNK))
        self._placing.put(target, pieces, ANY, Attributes(found.content_type, found.metadata))


class Opened:
    """A file open for reading: that version of the object, even when another takes its place. Closes with its owner."""

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self._descriptor = -1
        with explained(name):
            try:
                self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError as error:
                if error.errno not in _NO_OBJECT:
                    raise
                raise NotFound(f"{name}: there is no such object") from None
            self._status = os.fstat(self._descriptor)
            if not stat.S_ISREG(self._status.st_mode):
                raise NotFound(f"{name}: there is no such object")

    @property
    def stat(self) -> Stat:
        """What the object is. To be asked before `close`."""
        with explained(self.name):
            return described(self.name, self._status, read_attributes(self._descriptor))

    def bounds(self, start: int, end: int | None) -> tuple[int, int]:
        """The range as it is in this object."""
        size = self._status.st_size
        if start >= size and start:
            raise RangeNotSatisfiable(f"{self.name!r} has {size} bytes: none from {start} on")
        return start, size if end is None else min(end, size)

    def read(self, start: int, end: int) -> bytes:
        pieces = []
        while start < end:
            with explained(self.name):
                piece = os.pread(self._descriptor, end - start, start)
            if not piece:
                raise BlobUnavailable(f"{self.name}: the file was cut short by somebody who is not this store")
            pieces.append(piece)
            start += len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    __del__ = close
