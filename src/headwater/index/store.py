"""Segments and trees in the storage namespace of a repository: written once, read through a cache."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import pyarrow as pa

from headwater.blob.errors import NotFound
from headwater.blob.namespace import segment_name, tree_name
from headwater.blob.store import BlobStore
from headwater.drive import together
from headwater.index.aside import aside
from headwater.index.boundaries import Cutting
from headwater.index.cache import SegmentCache
from headwater.index.errors import Missing
from headwater.index.flights import Flights
from headwater.index.limits import OPEN_TREES, TOGETHER
from headwater.index.rows import Rows
from headwater.index.segment import Segment, make_segment, read_segment
from headwater.index.tree import NO_TREE, Stripe, Tree, read_tree


class IndexStore:
    """Where the segments and trees of one repository are. What it gives has been checked against its name."""

    def __init__(self, blobs: BlobStore, cache: SegmentCache | None = None, cutting: Cutting | None = None) -> None:
        self.cutting = cutting or Cutting()
        self._blobs = blobs
        self._cache = cache or SegmentCache()
        self._segments: Flights[Rows] = Flights()
        self._fetching: Flights[Tree] = Flights()
        self._lock = threading.Lock()
        self._trees: OrderedDict[str, Tree] = OrderedDict()

    async def tree(self, name: str | None) -> Tree:
        """The tree of that name; that of nothing for None. Raises `Missing` or `Corrupt`."""
        if name is None:
            return NO_TREE
        with self._lock:
            if name in self._trees:
                self._trees.move_to_end(name)
                return self._trees[name]
        return await self._fetching.fetch(name, partial(self._fetch_tree, name))

    async def rows(self, segment: str) -> Rows:
        """The rows of that segment. Raises `Missing` or `Corrupt`."""
        return self._cache.get(segment) or await self._segments.fetch(segment, partial(self._fetch_rows, segment))

    async def many_rows(self, segments: Sequence[str]) -> list[Rows]:
        """Those of several segments: what is not at hand is fetched, some of it at a time."""
        rows = {name: cached for name in segments if (cached := self._cache.get(name)) is not None}
        missing = [name for name in segments if name not in rows]
        for start in range(0, len(missing), TOGETHER):
            some = missing[start : start + TOGETHER]
            rows.update(zip(some, await together([partial(self.rows, name) for name in some]), strict=True))
        return [rows[name] for name in segments]

    async def put_segments(self, batches: Sequence[pa.RecordBatch], *, keep: bool) -> list[Stripe]:
        """Write each of *batches* as a segment, durably, and return what a tree says of them.

        *keep* tells to have them in the cache right away.
        """
        stripes: list[Stripe] = []
        for start in range(0, len(batches), TOGETHER):
            some = batches[start : start + TOGETHER]
            quarters = [some[first : first + TOGETHER // 4] for first in range(0, len(some), TOGETHER // 4)]
            for written in await together([partial(self._put_some, quarter, keep=keep) for quarter in quarters]):
                stripes += written
        return stripes

    async def put_tree(self, tree: Tree) -> None:
        """Write *tree*, durably; that of nothing needs no writing."""
        if tree.name is None:
            return
        await self._blobs.put(tree_name(tree.id), tree.encode())
        self._remember(tree)

    async def _put_some(self, batches: Sequence[pa.RecordBatch], *, keep: bool) -> list[Stripe]:
        segments = await aside(sum(map(len, batches)), partial(_make_segments, batches))
        await together([partial(self._blobs.put, segment_name(each.id), each.file) for each in segments])
        if keep:
            for each in segments:
                self._cache.put(each.id, each.rows)
        return [Stripe(each.id, each.first, each.last, len(each.rows), len(each.file)) for each in segments]

    async def _fetch_rows(self, name: str) -> Rows:
        cached = self._cache.get(name)
        if cached is not None:
            return cached
        file = await _read(f"segment {name}", lambda: self._blobs.read(segment_name(name)))
        return self._cache.put(name, read_segment(name, file))

    async def _fetch_tree(self, name: str) -> Tree:
        file = await _read(f"tree {name}", lambda: self._blobs.read(tree_name(name)))
        return self._remember(read_tree(name, file))

    def _remember(self, tree: Tree) -> Tree:
        with self._lock:
            self._trees[tree.id] = tree
            if len(self._trees) > OPEN_TREES:
                self._trees.popitem(last=False)
        return tree


def _make_segments(batches: Sequence[pa.RecordBatch]) -> list[Segment]:
    return [make_segment(batch) for batch in batches]


async def _read(what: str, read: Callable[[], Awaitable[bytes]]) -> bytes:
    try:
        return await read()
    except NotFound:
        raise Missing(what) from None
