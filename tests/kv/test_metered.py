"""Stores whose calls are timed: they do what the store behind them does, and tell each call."""

from __future__ import annotations

import inspect

import pytest

from headwater import blob, kv
from headwater.blob import NotFound
from headwater.blob.metered import MeteredBlobs
from headwater.blob.store import BlobStore
from headwater.kv import ABSENT, PredicateFailed, Set, Store
from headwater.kv.metered import MeteredStore
from headwater.metrics import Counts

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("metered", "store"), [(MeteredStore, Store), (MeteredBlobs, BlobStore)])
def test_no_call_is_done_by_the_plain_fallback_in_place_of_the_stores_own(metered: type, store: type) -> None:
    public = {name for name, _ in inspect.getmembers(store) if not name.startswith("_")} - {"immediate"}
    assert not [name for name in public if getattr(metered, name) is getattr(store, name)]


async def test_each_call_of_a_store_is_told_whether_it_goes_well_or_not() -> None:
    counts = Counts()
    store = MeteredStore(await kv.open("mem://"), counts, "mem")
    assert store.immediate
    await store.set(b"p", b"a", b"1")
    await store.pipeline([Set(b"p", b"b", b"2")])
    with pytest.raises(PredicateFailed):
        await store.set_if(b"p", b"a", b"3", ABSENT)
    assert [entry.key async for page in store.scan(b"p", page=1) for entry in page] == [b"a", b"b"]
    found = await store.get_many(b"p", [b"a", b"c"])
    assert [None if each is None else each.value for each in found] == [b"1", None]
    await store.delete_many(b"p", [b"a", b"b"])
    assert await store.get(b"p", b"a") is None
    name = "kv_request_duration_seconds"
    for operation in ("set", "pipeline", "set_if", "get_many", "delete_many", "get"):
        assert counts.total(name, operation=operation, type="mem") == 1, operation
    assert counts.total(name, operation="scan", type="mem") >= 2
    await store.aclose()


async def test_each_call_of_an_object_store_is_told_with_its_outcome() -> None:
    counts = Counts()
    store = MeteredBlobs(await blob.open("mem://metered"), counts, "mem")
    await store.put("a/1", b"one")
    await store.put("a/2", b"two")
    with pytest.raises(NotFound):
        await store.read("a/3")
    assert await store.read("a/1") == b"one"
    assert [each.name async for page in store.list("a/", page=1) for each in page] == ["a/1", "a/2"]
    await store.delete_many(["a/1", "a/2"])
    name = "mem_operation_duration_seconds"
    assert counts.total(name, operation="put", error="false") == 2
    assert counts.total(name, operation="get", error="false") == 1
    assert counts.total(name, operation="get", error="true") == 1
    assert counts.total(name, operation="list") >= 2
    assert counts.total(name, operation="delete", error="false") == 1
    await store.aclose()
