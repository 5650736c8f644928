"""What things cost in requests to the object store, at any size."""

from __future__ import annotations

import pytest

from headwater.drive import drive
from headwater.index import Edits, Index, IndexRecord, SegmentCache, apply, diff, merge
from headwater.index.rewriting import rewrite
from headwater.index.tree import NO_TREE
from tests.index.world import CountingBlobs, bulk, new_blobs, new_store, plain

SIZES = pytest.mark.parametrize("size", [1, 300, 5_000])


def warm(size: int) -> tuple[CountingBlobs, Index, list[str]]:
    blobs = CountingBlobs(new_blobs())
    store = new_store(blobs, cache=SegmentCache())
    keys = [f"f/{number % 10}/{number:05d}" for number in range(size)]
    tree = drive(rewrite(store, NO_TREE, bulk({key: plain(key) for key in keys}))).tree
    index = Index(store, IndexRecord(tree.name))
    drive(index.get_many(keys))
    blobs.forget()
    return blobs, index, keys


@SIZES
def test_a_warm_lookup_and_a_listing_take_no_request(size: int) -> None:
    blobs, index, keys = warm(size)
    drive(index.get(keys[size // 2]))
    drive(index.get("f/nowhere"))
    drive(index.list(prefix="f/", delimiter="/", overlays=[Edits({"f/0": plain("f/0")})]))
    assert blobs.requests == 0


@SIZES
def test_a_small_commit_a_diff_and_a_merge_of_equal_trees_take_no_request(size: int) -> None:
    blobs, index, keys = warm(size)
    edits = {key: plain(key, 7) for key in keys[:100]}
    child = drive(apply(index, edits))
    other = drive(apply(index, {"f/other": plain("f/other")}))
    assert len(drive(diff(index, child))) == len(edits)
    assert len(drive(merge(index, child, other)).edits) == len(edits)
    assert blobs.requests == 0


@SIZES
def test_comparing_equal_trees_reads_none_of_them(size: int) -> None:
    blobs, index, _ = warm(size)
    cold = Index(new_store(blobs), index.record)
    assert drive(diff(cold, Index(cold.store, index.record))) == []
    assert [name for name in blobs.read_names if "segments" in name] == []


def test_a_diff_of_trees_reads_only_the_segments_that_differ() -> None:
    blobs, index, keys = warm(5_000)
    tree = drive(index.tree())
    changed = drive(rewrite(index.store, tree, bulk({keys[0]: plain(keys[0], 7), keys[9]: plain(keys[9], 7)}))).tree
    cold = new_store(blobs)
    blobs.forget()
    assert len(drive(diff(Index(cold, index.record), Index(cold, IndexRecord(changed.name))))) == 2
    assert len([name for name in blobs.read_names if "segments" in name]) <= 4


def test_a_listing_seeks_past_what_it_rolls_up() -> None:
    blobs, index, _ = warm(5_000)
    cold = Index(new_store(blobs), index.record)
    assert len(drive(cold.list(prefix="f/", delimiter="/"))) == 10
    segments = [name for name in blobs.read_names if "segments" in name]
    assert len(segments) <= 20 < len(drive(cold.tree())) // 5


def test_a_spill_writes_only_the_segments_it_touches() -> None:
    blobs, index, keys = warm(5_000)
    drive(rewrite(index.store, drive(index.tree()), bulk({keys[0]: plain(keys[0], 7)})))
    assert blobs.read_names == []
    assert len(blobs.put_names) == 2
