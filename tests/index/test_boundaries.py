"""Where segments end: said by the rows themselves, so that equal data makes equal segments, however it was written."""

from __future__ import annotations

import pyarrow as pa
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from headwater.drive import drive
from headwater.index import Cutting, Edit, Entry, IndexStore
from headwater.index.boundaries import SEED
from headwater.index.limits import BLOCK_WEIGHT
from headwater.index.rewriting import rewrite
from headwater.index.schema import SCHEMA
from headwater.index.tree import NO_TREE, Tree
from tests.index.world import PATIENTLY, SMALL, bulk, many_edits, new_store, plain, some_edits


def naive_ends(entries: list[Entry], cutting: Cutting) -> list[int]:
    """What `docs/formats.md` says, row by row."""
    ends, rows, weight = [], 0, 0
    for number, entry in enumerate(entries, 1):
        rows += 1
        single = len(entry.blocks) == 1 and entry.blocks[0].offset == 0 and entry.blocks[0].length == entry.size
        weight += len(entry.payload or b"") + BLOCK_WEIGHT * (0 if single else len(entry.blocks))
        marked = xxhash.xxh64_intdigest(entry.key.encode(), SEED) % 2**cutting.bits == 0
        if (rows >= cutting.min_rows and marked) or rows == cutting.max_rows or weight >= cutting.max_weight:
            ends.append(number)
            rows = weight = 0
    return ends


def model_after(*steps: dict[str, Edit]) -> dict[str, Edit]:
    model: dict[str, Edit] = {}
    for edits in steps:
        model |= edits
    return {key: edit for key, edit in sorted(model.items()) if isinstance(edit, Entry)}


def tree_of(store: IndexStore, *steps: dict[str, Edit]) -> Tree:
    tree = NO_TREE
    for edits in steps:
        tree = drive(rewrite(store, tree, bulk(edits))).tree
    return tree


@PATIENTLY
@given(some_edits(most=40), many_edits(), st.integers(1, 4), st.integers(0, 3), st.sampled_from([1, 100, 10**6]))
def test_cuts_are_where_the_format_says(
    few: dict[str, Edit], many: dict[str, Edit], least: int, bits: int, weight: int
) -> None:
    cutting = Cutting(least, bits, least * 3, weight)
    model = model_after(few, many)
    rows = bulk(model).select(SCHEMA.names)
    ends = naive_ends([edit for edit in model.values() if isinstance(edit, Entry)], cutting)
    assert cutting.ends(rows, final=False) == ends
    assert cutting.ends(rows, final=True) == ends + ([len(rows)] if len(rows) > (ends or [0])[-1] else [])
    assert cutting.ends(rows.slice(0, 0), final=True) == []


@PATIENTLY
@given(st.lists(many_edits() | some_edits(), max_size=5))
def test_equal_data_makes_the_same_tree_however_it_was_written(steps: list[dict[str, Edit]]) -> None:
    store = new_store()
    grown, at_once = tree_of(store, *steps), tree_of(store, model_after(*steps))
    assert grown.id == at_once.id
    assert grown.rows.equals(at_once.rows)


def test_an_edit_rewrites_one_segment_of_many() -> None:
    store = new_store(cutting=Cutting(8, 3, 64, 10**6))
    model: dict[str, Edit] = {f"{number:05d}": plain(f"{number:05d}") for number in range(3_000)}
    before = tree_of(store, model)
    assert len(before) > 150
    for key in ("00000", "01500", "02999"):
        changed = drive(rewrite(store, before, bulk({key: plain(key, 9)}))).tree
        assert len(set(changed.segments) - set(before.segments)) == 1
        assert len(changed) == len(before)


def test_the_hash_is_the_one_that_spark_computes() -> None:
    """`spark.sql("select xxhash64('Spark')")`, from its documentation, has the one argument hashed from seed 42."""
    assert SEED == 42
    assert xxhash.xxh64_intdigest(b"Spark", SEED) - 2**64 == -4294468057691064905


def test_segments_of_heavy_rows_are_short() -> None:
    heavy = {f"{number}": Entry(f"{number}", payload=bytes(1_000)) for number in range(9)}
    rows = bulk(heavy).select(SCHEMA.names)
    assert SMALL.ends(rows, final=True)[0] <= 4
    assert Cutting(100, 60, 200, 3_000).ends(rows, final=True) == [3, 6, 9]


@pytest.mark.parametrize("offset", [0, 5])
def test_a_slice_is_cut_like_a_copy(offset: int) -> None:
    rows = bulk({f"{number:03d}": Entry(f"{number:03d}", payload=b"x") for number in range(99)}).select(SCHEMA.names)
    sliced = rows.slice(offset)
    copied = pa.RecordBatch.from_pylist(sliced.to_pylist(), schema=SCHEMA)
    assert SMALL.ends(sliced, final=True) == SMALL.ends(copied, final=True)
