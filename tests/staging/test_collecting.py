"""Collecting what is staged: of each key the newest, in order, whether under one token or many, few or very many."""

from __future__ import annotations

import pyarrow as pa
import pytest

from headwater import kv
from headwater.index import TOMBSTONE, Edit, Entry, encode_edit
from headwater.index.limits import ASIDE
from headwater.index.schema import edits_of
from headwater.kv import Store
from headwater.kv.limits import MAX_BULK
from headwater.staging.staged import collect
from headwater.staging.tokens import partition_of


async def stage(store: Store, token: str, edits: dict[str, Edit]) -> None:
    values = [(key.encode(), encode_edit(key, edit)) for key, edit in edits.items()]
    for first in range(0, len(values), MAX_BULK):
        await store.set_many(partition_of(token), dict(values[first : first + MAX_BULK]))


async def collected(store: Store, *tokens: str) -> dict[str, Edit]:
    edits = await collect(store, tokens)
    return edits_of(edits) if isinstance(edits, pa.RecordBatch) else dict(edits)


@pytest.mark.anyio
async def test_the_newest_of_each_key_is_collected_in_the_order_of_keys() -> None:
    store = await kv.open("mem://")
    await stage(store, "oldest", {"f/a": Entry("f/a", checksum="1"), "f/b": Entry("f/b", checksum="1")})
    await stage(store, "empty", {})
    await stage(store, "middle", {"f/b": TOMBSTONE, "f/é": Entry("f/é", checksum="2"), "f/z": TOMBSTONE})
    await stage(store, "newest", {"f/c": Entry("f/c", checksum="3"), "f/é": Entry("f/é", checksum="3")})
    found = await collected(store, "oldest", "empty", "middle", "newest")
    assert list(found.items()) == [
        ("f/a", Entry("f/a", checksum="1")),
        ("f/b", TOMBSTONE),
        ("f/c", Entry("f/c", checksum="3")),
        ("f/z", TOMBSTONE),
        ("f/é", Entry("f/é", checksum="3")),
    ]


@pytest.mark.anyio
async def test_nothing_staged_is_no_edits() -> None:
    assert await collected(await kv.open("mem://"), "one", "other") == {}


@pytest.mark.anyio
async def test_what_is_collected_in_pieces_is_whole() -> None:
    store = await kv.open("mem://")
    keys = [f"f/{number:06}" for number in range(2 * ASIDE + 5_000)]
    await stage(store, "older", {key: Entry(key, checksum="old") for key in keys})
    assert list(await collected(store, "older")) == keys
    await stage(store, "newer", {key: Entry(key, checksum="new") for key in keys[::3]})
    found = await collected(store, "older", "newer")
    assert list(found) == keys
    assert [key for key, edit in found.items() if isinstance(edit, Entry) and edit.checksum == "new"] == keys[::3]
