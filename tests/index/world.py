"""What the tests of the index share: entries from a small world, a plain dict as the model, and a store that counts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from itertools import count
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
from hypothesis import settings

from headwater import blob
from headwater.blob import ANY, Blob, BlobStore, Body, Condition, Fetched, Listed, Method, Stat, Stored
from headwater.blob.limits import PAGE
from headwater.drive import drive
from headwater.index import (
    TOMBSTONE,
    Block,
    Cutting,
    Edit,
    Entry,
    Index,
    IndexRecord,
    IndexStore,
    Kind,
    SegmentCache,
    apply,
    same_content,
)
from headwater.index.rewriting import rewrite
from headwater.index.schema import batch_of_edits
from headwater.index.tree import NO_TREE

Model = Mapping[str, Entry]

PATIENTLY = settings(deadline=None, max_examples=50)
"""For properties of whole indexes: how long one takes is for the machine to say."""

SMALL = Cutting(min_rows=4, bits=3, max_rows=24, max_weight=4_000)
"""So that a few dozen entries are several segments, of every way to end."""

_numbers = count()


def new_blobs() -> BlobStore:
    return drive(blob.open(f"mem://index-{next(_numbers)}"))


def new_store(
    blobs: BlobStore | None = None, cutting: Cutting = SMALL, cache: SegmentCache | None = None
) -> IndexStore:
    return IndexStore(blobs or new_blobs(), cache, cutting)


names = st.text(st.sampled_from("ab/é\ud7ff\U0010ffff"), min_size=1, max_size=5)
"""Keys that share prefixes, have delimiters anywhere, and sort differently as UTF-16."""

short = st.text(max_size=3)
blocks = st.builds(Block, st.sampled_from(["x", "y"]), st.integers(0, 1), st.integers(0, 2))


@st.composite
def entries(draw: st.DrawFn, key: str) -> Entry:
    return Entry(
        key,
        draw(st.sampled_from(Kind)),
        tuple(draw(st.lists(blocks, max_size=2))),
        draw(st.integers(0, 2)),
        draw(st.sampled_from([None, "c1", "c2"])),
        draw(st.integers(0, 2**40)),
        draw(st.none() | short),
        draw(st.dictionaries(short, short, max_size=2)),
        draw(st.sampled_from([None, bytes(16), bytes(range(16))])),
        draw(st.none() | st.binary(max_size=3)),
    )


@st.composite
def some_edits(draw: st.DrawFn, keys: st.SearchStrategy[str] = names, most: int = 12) -> dict[str, Edit]:
    chosen = draw(st.lists(keys, max_size=most, unique=True))
    return {key: draw(st.just(TOMBSTONE) | entries(key)) for key in chosen}


numbered = st.integers(0, 150).map(lambda number: f"{number // 10:02d}/{number:03d}")
"""Enough keys for several segments."""


@st.composite
def many_edits(draw: st.DrawFn) -> dict[str, Edit]:
    """Edits by the hundred, of which Hypothesis need only draw a few numbers."""
    keys = draw(st.sets(numbered, max_size=8))
    first, last, step = draw(st.integers(0, 150)), draw(st.integers(0, 150)), draw(st.integers(1, 3))
    size = draw(st.integers(0, 3))
    bulk: dict[str, Edit] = {}
    for number in range(first, last, step):
        key = f"{number // 10:02d}/{number:03d}"
        bulk[key] = plain(key, size + number % 2) if size < 3 else TOMBSTONE
    return bulk | {key: plain(key, draw(st.integers(0, 2))) if draw(st.booleans()) else TOMBSTONE for key in keys}


def plain(key: str, size: int = 0) -> Entry:
    return Entry(key, size=size, checksum=f"{size:032x}", blocks=(Block(f"data/{key}", 0, size),))


def after(model: Model, edits: Mapping[str, Edit]) -> dict[str, Entry]:
    """The model of applying *edits*: what is the same content stays as it was."""
    result = dict(model)
    for key, edit in edits.items():
        if not isinstance(edit, Entry):
            result.pop(key, None)
        elif not same_content(result.get(key), edit):
            result[key] = edit
    return dict(sorted(result.items()))


def kept(edits: Mapping[str, Edit]) -> list[Entry]:
    """The entries among *edits*, in their order."""
    return [edit for _, edit in sorted(edits.items()) if isinstance(edit, Entry)]


def bulk(edits: Mapping[str, Edit]) -> pa.RecordBatch:
    return batch_of_edits(dict(sorted(edits.items())))


def grown(store: IndexStore, steps: Iterable[Mapping[str, Edit]]) -> tuple[Index, dict[str, Entry]]:
    """An index that came to be step by step, and its model."""
    index, model = Index(store), dict[str, Entry]()
    for edits in steps:
        index, model = drive(apply(index, edits)), after(model, edits)
    return index, model


async def written(store: IndexStore, model: Model) -> Index:
    """The index of *model*, all of it in a tree."""
    return Index(store, IndexRecord((await rewrite(store, NO_TREE, bulk(model))).tree.name))


async def everything(index: Index) -> dict[str, Entry]:
    """All entries, page by page."""
    found: dict[str, Entry] = {}
    last = ""
    while page := await index.entries(after=last, amount=7):
        found |= {entry.key: entry for entry in page}
        last = page[-1].key
    return found


class CountingBlobs(BlobStore):
    """Hands every call on, and notes what was read and written."""

    def __init__(self, inner: BlobStore) -> None:
        self._inner = inner
        self.read_names: list[str] = []
        self.put_names: list[str] = []

    @property
    def requests(self) -> int:
        return len(self.read_names) + len(self.put_names)

    def forget(self) -> None:
        self.read_names.clear()
        self.put_names.clear()

    async def put(self, name: str, body: Body, *, condition: Condition = ANY, **keywords: Any) -> Stored:
        self.put_names.append(name)
        return await self._inner.put(name, body, condition=condition, **keywords)

    async def get(self, name: str, *, start: int = 0, end: int | None = None) -> Blob:
        self.read_names.append(name)
        return await self._inner.get(name, start=start, end=end)

    async def fetch(self, name: str, *, start: int = 0, end: int | None = None) -> Fetched:
        self.read_names.append(name)
        return await self._inner.fetch(name, start=start, end=end)

    async def stat(self, name: str) -> Stat | None:
        return await self._inner.stat(name)

    async def list(
        self, prefix: str = "", *, start_after: str = "", delimiter: bool = False, page: int = PAGE
    ) -> AsyncIterator[Sequence[Listed]]:
        async for listed in self._inner.list(prefix, start_after=start_after, delimiter=delimiter, page=page):
            yield listed

    async def delete(self, name: str) -> None:
        await self._inner.delete(name)

    async def delete_many(self, names: Iterable[str]) -> None:
        await self._inner.delete_many(names)

    async def copy(self, source: str, target: str) -> None:
        await self._inner.copy(source, target)

    async def presign(self, name: str, method: Method, seconds: int) -> str:
        return await self._inner.presign(name, method, seconds)
