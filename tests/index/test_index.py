"""An index next to a dict: applying, looking up, listing, with layers on top, and what is a change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from headwater.drive import drive
from headwater.index import (
    TOMBSTONE,
    CommonPrefix,
    Cutting,
    Edit,
    Edits,
    Entry,
    Index,
    IndexRecord,
    LimitExceeded,
    OutOfOrder,
    apply,
)
from headwater.index.limits import BULK, MAX_DELTA
from headwater.index.schema import SCHEMA, batch_of_edits, entries_of
from tests.index.world import (
    PATIENTLY,
    after,
    bulk,
    everything,
    grown,
    kept,
    many_edits,
    names,
    new_store,
    plain,
    some_edits,
    written,
)

steps = st.lists(some_edits() | many_edits(), max_size=4)


@PATIENTLY
@given(steps)
def test_an_index_holds_what_was_applied_to_it(steps: list[dict[str, Edit]]) -> None:
    index, model = grown(new_store(), steps)
    assert drive(everything(index)) == model
    asked = sorted({key for edits in steps for key in edits} | {"nowhere", "\U0010ffff" * 4})
    assert drive(index.get_many(asked)) == [model.get(key) for key in asked]
    assert [drive(index.get(key)) for key in asked] == [model.get(key) for key in asked]


@PATIENTLY
@given(steps, some_edits() | many_edits())
def test_only_what_changes_something_is_a_change(steps: list[dict[str, Edit]], last: dict[str, Edit]) -> None:
    index, model = grown(new_store(), steps)
    child, expected = drive(apply(index, last)), after(model, last)
    assert child.own is not None
    assert set(child.own) == {key for key in last if model.get(key) != expected.get(key)}
    assert child.record.own_count == len(child.own)


def test_a_delete_of_an_absent_key_is_no_change() -> None:
    index, _ = grown(new_store(), [{"f/a": plain("f/a")}, {"f/b": TOMBSTONE}])
    assert index.record.own_count == 0


def test_writing_the_committed_content_again_is_no_change() -> None:
    first = plain("f/a", 1)
    index, _ = grown(new_store(), [{"f/a": first}, {"f/a": replace(first, modified=99)}])
    assert index.record.own_count == 0
    assert drive(index.get("f/a")) == first


@PATIENTLY
@given(steps, many_edits(), st.integers(0, 2**20))
def test_a_bulk_of_edits_does_what_few_do(steps: list[dict[str, Edit]], last: dict[str, Edit], salt: int) -> None:
    store = new_store(cutting=Cutting(200, 7, 1_000, 10**6))
    index, model = grown(store, steps)
    filling = {
        f"fill/{number * salt % 9_973:05d}": plain(f"fill/{number * salt % 9_973:05d}") for number in range(4_000)
    }
    edits = filling | {f"none/{number:05d}": TOMBSTONE for number in range(BULK)} | last
    child = drive(apply(index, bulk(edits)))
    expected = after(model, edits)
    assert drive(_all_batches(child)) == list(expected.values())
    assert child.record.own_count == sum(model.get(key) != expected.get(key) for key in edits)
    again = drive(apply(child, bulk(edits)))
    assert again.record.own_count == 0
    assert again.record.tree == child.record.tree


async def _all_batches(index: Index, prefix: str = "") -> list[Entry]:
    return [entry async for batch in index.batches(prefix) for entry in entries_of(batch)]


@PATIENTLY
@given(steps, some_edits(), st.text("ab0/1", max_size=3))
def test_all_under_a_prefix_comes_in_batches(steps: list[dict[str, Edit]], last: dict[str, Edit], prefix: str) -> None:
    store = new_store()
    _, model = grown(store, steps)
    index = drive(apply(drive(written(store, model)), last))
    expected = [entry for key, entry in after(model, last).items() if key.startswith(prefix)]
    assert drive(_all_batches(index, prefix)) == expected


def test_a_delta_beyond_its_cap_is_spilled_into_a_tree() -> None:
    store = new_store()
    index, before = Index(store), 0
    for number in range(1_000):
        index = drive(apply(index, {f"f/{number:04d}": plain(f"f/{number:04d}")}))
        size = len(index.record.own or b"") + len(index.record.inherited)
        assert size <= MAX_DELTA
        if size < before:
            assert index.record.own_in_tree
            assert list(index.own or ()) == [f"f/{number:04d}"]
            break
        before = size
    else:
        pytest.fail("1,000 entries of 60 bytes fit into a delta")
    assert len(drive(everything(index))) == number + 1
    child = drive(apply(index, {}))
    assert child.record == IndexRecord(index.record.tree)


def test_own_changes_that_are_too_many_are_left_to_a_diff() -> None:
    index, _ = grown(new_store(), [{f"{number:04d}": plain(f"{number:04d}", 1) for number in range(1_000)}])
    assert index.own is None
    assert index.record.own_count == 1_000
    assert index.record.inherited == b""


def test_deleting_everything_leaves_the_tree_of_nothing() -> None:
    keys = [f"{number:04d}" for number in range(6_000)]
    index, _ = grown(new_store(), [{key: plain(key) for key in keys}, dict.fromkeys(keys, TOMBSTONE)])
    assert index.record.tree is None
    assert drive(everything(index)) == {}


def test_bulk_edits_are_checked_before_anything_is_written() -> None:
    index = Index(new_store())
    with pytest.raises(OutOfOrder, match="sorted and distinct"):
        drive(apply(index, batch_of_edits({"b": plain("b"), "a": TOMBSTONE})))
    with pytest.raises(OutOfOrder, match="removed"):
        drive(apply(index, bulk({"b": plain("b")}).select(SCHEMA.names)))
    for key in ("", "k" * 1_025):
        with pytest.raises(LimitExceeded, match="1024"):
            drive(apply(index, bulk({key: plain(key)})))


# Listing.


def listed(model: dict[str, Entry], prefix: str, delimiter: str, last: str) -> list[Entry | CommonPrefix]:
    found: dict[str, Entry | CommonPrefix] = {}
    for key, entry in sorted(model.items()):
        if key.startswith(prefix):
            end = key.find(delimiter, len(prefix)) if delimiter else -1
            shown = key if end < 0 else key[: end + len(delimiter)]
            found.setdefault(shown, entry if end < 0 else CommonPrefix(shown))
    return [item for item in found.values() if item.key > last]


places = names | st.sampled_from(["", "0", "0/", "05/", "05/0", "05/055", "\ud7ff", "\U0010ffff"])


@PATIENTLY
@given(steps, st.lists(some_edits() | many_edits(), max_size=2), places, st.sampled_from(["", "/", "0", "/0"]), places)
def test_a_page_is_what_a_listing_of_the_model_has_there(
    steps: list[dict[str, Edit]], overlays: list[dict[str, Edit]], prefix: str, delimiter: str, last: str
) -> None:
    store = new_store()
    _, model = grown(store, steps)
    index = drive(apply(drive(written(store, model)), steps[-1] if steps else {}))
    for overlay in reversed(overlays):
        model = {key: model[key] for key in model.keys() - overlay.keys()} | {e.key: e for e in kept(overlay)}
    layers = [Edits(overlay) for overlay in overlays]
    expected = listed(model, prefix, delimiter, last)
    for amount in (1, 3, 1_000):
        page = drive(index.list(prefix=prefix, delimiter=delimiter, after=last, amount=amount, overlays=layers))
        assert page == expected[:amount]
    pieces = drive(index.listing(prefix=prefix, delimiter=delimiter, after=last, overlays=layers))
    for amount in range(len(expected) + 2):
        some = pieces.up_to(amount)
        assert some.items() == expected[:amount]
        assert len(some) == len(expected[:amount])
        assert not some or some.last == expected[:amount][-1].key


def test_a_page_has_a_limit() -> None:
    for amount in (0, 10_001):
        with pytest.raises(LimitExceeded, match=str(amount)):
            drive(Index(new_store()).entries(amount=amount))


@PATIENTLY
@given(steps, names, st.integers(1, 9))
def test_an_index_is_a_layer(steps: list[dict[str, Edit]], start: str, amount: int) -> None:
    index, model = grown(new_store(), steps)
    expected = [(key, entry) for key, entry in model.items() if key >= start]
    assert list(drive(index.read(start, amount)))[:amount] == expected[:amount]
