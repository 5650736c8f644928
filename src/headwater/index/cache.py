"""Decoded segments, close at hand: as Arrow files in a directory that processes share, or in memory.

A cache is never needed: it may be deleted at any time while in use, and what it cannot keep is fetched again.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
import threading
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

import msgspec
import pyarrow as pa
import xxhash

from headwater.index.limits import CACHE_BYTES, CACHE_MEMORY, MAPPED_RESIDENT, MAPPED_WEIGHT
from headwater.index.rows import Rows

_DIGEST = 16
_c = ctypes.CDLL(None)


class SegmentCache:
    """The segments that were used last, open, within so many bytes of memory; and below them, maybe, a directory.

    An open segment of the directory takes hardly any memory, but the pages of it that were read count as the
    process's own: of all but those used last, of *resident* bytes together, they are given back.
    """

    def __init__(
        self,
        directory: CacheDirectory | None = None,
        *,
        memory: int = CACHE_MEMORY,
        resident: int = MAPPED_RESIDENT,
    ) -> None:
        self._directory = directory
        self._room = memory
        self._resident_room = resident
        self._lock = threading.Lock()
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._resident: OrderedDict[str, Mapped] = OrderedDict()
        self.hits = 0
        self.misses = 0
        """How often a segment was here, and how often it was not."""

    def get(self, name: str) -> Rows | None:
        """The rows of segment *name*, if they are here."""
        with self._lock:
            found = self._open.get(name)
            if found is not None:
                self._open.move_to_end(name)
                self._touch(name, found.mapped)
                self.hits += 1
                return found.rows
        mapped = None if self._directory is None else self._directory.get(name)
        if mapped is None:
            self.misses += 1
            return None
        self.hits += 1
        return self._keep(name, _Open(Rows(mapped.batch), MAPPED_WEIGHT, mapped))

    def put(self, name: str, batch: pa.RecordBatch) -> Rows:
        """Keep *batch*, the rows of segment *name*, and return them as they are kept."""
        mapped = None if self._directory is None else self._directory.put(name, batch)
        if mapped is None:
            return self._keep(name, _Open(Rows(_compact(batch)), batch.nbytes, None))
        return self._keep(name, _Open(Rows(mapped.batch), MAPPED_WEIGHT, mapped))

    def _keep(self, name: str, opened: _Open) -> Rows:
        with self._lock:
            self._drop(name)
            self._open[name] = opened
            self._room -= opened.weight
            self._touch(name, opened.mapped)
            while self._room < 0:
                self._drop(next(iter(self._open)))
        return opened.rows

    def _drop(self, name: str) -> None:
        before = self._open.pop(name, None)
        if before is not None:
            self._room += before.weight
        touched = self._resident.pop(name, None)
        if touched is not None:
            self._resident_room += touched.size

    def _touch(self, name: str, mapped: Mapped | None) -> None:
        """Count the pages of *mapped* as read, and give back those of what was used longest ago."""
        if mapped is None:
            return
        if name in self._resident:
            self._resident.move_to_end(name)
            return
        self._resident[name] = mapped
        self._resident_room -= mapped.size
        while self._resident_room < 0:
            _, oldest = self._resident.popitem(last=False)
            self._resident_room += oldest.size
            oldest.give_back()


class Mapped:
    """A segment in a file that Arrow has mapped: *content* is the whole of it."""

    __slots__ = ("_content", "batch")

    def __init__(self, content: pa.Buffer, batch: pa.RecordBatch) -> None:
        self._content = content
        self.batch = batch

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return int(self._content.size)

    def give_back(self) -> None:
        """Have the system take its pages for its own again. Who reads them has them back, and sees no difference.

        Through the C library, because Python's own mappings each keep a file open.
        """
        if hasattr(mmap, "MADV_DONTNEED"):
            _c.madvise(ctypes.c_void_p(self._content.address), ctypes.c_size_t(self.size), mmap.MADV_DONTNEED)


class _Open(msgspec.Struct, frozen=True):
    rows: Rows
    weight: int
    mapped: Mapped | None


class _Cached(msgspec.Struct, frozen=True):
    used: float
    size: int
    path: str


class CacheDirectory:
    """Segments as memory-mapped Arrow IPC files of at most *capacity* bytes together, those used last.

    Each is followed by a digest of its bytes, so that what a crash or a full disk left of one is not taken for it. A
    file comes by rename and is never written again: a mapping of it stays good after it is gone. Several processes may
    each bring as much as they put between two looks at the directory.
    """

    def __init__(self, path: Path, *, capacity: int = CACHE_BYTES) -> None:
        self._path = path
        self._capacity = capacity
        self._lock = threading.Lock()
        self._held: int | None = None

    def get(self, name: str) -> Mapped | None:
        """Segment *name*, mapped, if it is here and whole."""
        path = self._of(name)
        try:
            mapped = _mapped(path)
            if mapped is None:
                path.unlink(missing_ok=True)
        except OSError:  # not here, or no longer, or not readable: all the same to whoever fetches it then
            return None
        with suppress(OSError):  # somebody else was quicker, or may write here and we may not
            os.utime(path)
        return mapped

    def put(self, name: str, batch: pa.RecordBatch) -> Mapped | None:
        """Keep *batch*, and return it as it is mapped; or None, if it cannot be kept."""
        path = self._of(name)
        content = _encode(batch)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                file.write(content)
                file.write(_digest(content))
            Path(file.name).rename(path)
        except OSError:  # the disk is full, or the directory is gone or not ours: slower, and nothing worse
            return None
        self._make_room(len(content) + _DIGEST)
        return self.get(name)

    def _of(self, name: str) -> Path:
        return self._path / name[:2] / f"{name}.arrow"

    def _make_room(self, size: int) -> None:
        """Count *size* in. If that may be too much, look what there is, and drop what was used longest ago."""
        with self._lock:
            self._held = None if self._held is None else self._held + size
            if self._held is not None and self._held <= self._capacity:
                return
            files = sorted(self._files(), key=lambda cached: cached.used)
            self._held = sum(cached.size for cached in files)
            if self._held <= self._capacity:
                return
            for cached in files:
                if self._held <= self._capacity * 9 // 10:
                    break
                Path(cached.path).unlink(missing_ok=True)
                self._held -= cached.size

    def _files(self) -> list[_Cached]:
        """What is here, the half-written included."""
        found: list[_Cached] = []
        for folder, _, names in os.walk(self._path):
            for name in names:
                path = os.path.join(folder, name)  # noqa: PTH118  (a cache has very many files)
                try:
                    status = os.stat(path)  # noqa: PTH116
                except FileNotFoundError:  # another process dropped it just now
                    continue
                found.append(_Cached(status.st_mtime, status.st_size, path))
        return found


def _compact(batch: pa.RecordBatch) -> pa.RecordBatch:
    """*batch* with memory of its own, if it is a small part of a large one."""
    if batch.get_total_buffer_size() <= 2 * batch.nbytes:
        return batch
    return pa.ipc.open_file(_encode(batch)).get_batch(0)


def _encode(batch: pa.RecordBatch) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _mapped(path: Path) -> Mapped | None:
    """What is in the file at *path*, or None if that is not whole."""
    with pa.memory_map(str(path)) as source:
        content = source.read_buffer()
    batch = _decode(content)
    return None if batch is None else Mapped(content, batch)


def _decode(content: pa.Buffer) -> pa.RecordBatch | None:
    if content.size <= _DIGEST:
        return None
    body, digest = content.slice(0, content.size - _DIGEST), content.slice(content.size - _DIGEST)
    if _digest(body) != digest.to_pybytes():
        return None
    return pa.ipc.open_file(body).get_batch(0)


def _digest(content: pa.Buffer) -> bytes:
    return xxhash.xxh3_128_digest(memoryview(content))
