"""Diffs of two indexes, next to the diff of two dicts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headwater.drive import drive
from headwater.index import (
    TOMBSTONE,
    Change,
    CommonPrefix,
    Edit,
    Edits,
    Entry,
    Index,
    apply,
    diff,
    diff_batches,
    diff_overlays,
    same_content,
)
from headwater.index.schema import entries_at
from tests.index.test_index import listed
from tests.index.world import PATIENTLY, after, grown, many_edits, names, new_store, plain, some_edits, written

steps = st.lists(some_edits() | many_edits(), max_size=3)


def changes_between(left: dict[str, Entry], right: dict[str, Entry]) -> list[Change]:
    keys = sorted(left.keys() | right.keys())
    return [
        Change(key, left.get(key), right.get(key)) for key in keys if not same_content(left.get(key), right.get(key))
    ]


async def paged(
    left: Index, right: Index, amount: int, prefix: str = "", delimiter: str = ""
) -> list[Change | CommonPrefix]:
    found: list[Change | CommonPrefix] = []
    last = ""
    while page := await diff(left, right, prefix=prefix, delimiter=delimiter, after=last, amount=amount):
        assert len(page) <= amount
        found += page
        last = page[-1].key
    return found


async def in_batches(left: Index, right: Index) -> list[Change]:
    found: list[Change] = []
    async for batch in diff_batches(left, right):
        sides = zip(batch.keys.to_pylist(), entries_at(batch.left), entries_at(batch.right), strict=True)
        found += [Change(*side) for side in sides]
    return sorted(found, key=lambda change: change.key)


@PATIENTLY
@given(steps, steps, steps, st.booleans(), st.integers(1, 20))
def test_a_diff_is_what_differs(
    base: list[dict[str, Edit]],
    ours: list[dict[str, Edit]],
    theirs: list[dict[str, Edit]],
    spilled: bool,  # noqa: FBT001  (drawn)
    amount: int,
) -> None:
    store = new_store()
    start, start_model = grown(store, base)
    if spilled:
        start = drive(written(store, start_model))
    sides = []
    for steps in (ours, theirs):
        index, model = start, start_model
        for edits in steps:
            index, model = drive(apply(index, edits)), after(model, edits)
        sides.append((index, model))
    (left, left_model), (right, right_model) = sides
    renewed = drive(written(store, right_model))
    expected = changes_between(left_model, right_model)
    for other in (right, renewed):
        assert drive(paged(left, other, amount)) == expected
        assert drive(in_batches(left, other)) == expected
    assert drive(paged(right, renewed, amount)) == []
    assert drive(paged(drive(written(store, left_model)), renewed, amount)) == expected


@PATIENTLY
@given(steps, steps, st.sampled_from(["", "0", "05/", "a"]), st.sampled_from(["", "/", "0"]), st.integers(1, 5))
def test_a_diff_is_rolled_up_and_paged_like_a_listing(
    ours: list[dict[str, Edit]], theirs: list[dict[str, Edit]], prefix: str, delimiter: str, amount: int
) -> None:
    store = new_store()
    (_, left), (_, right) = grown(store, ours), grown(store, theirs)
    changes = {change.key: change for change in changes_between(left, right)}
    expected = listed(changes, prefix, delimiter, "")  # type: ignore[arg-type]  # it only looks at keys
    found = paged(drive(written(store, left)), drive(written(store, right)), amount, prefix, delimiter)
    assert drive(found) == expected


@PATIENTLY
@given(steps, st.lists(some_edits() | many_edits(), max_size=3), names, st.integers(1, 5))
def test_what_layers_change_is_a_diff_too(
    steps: list[dict[str, Edit]], overlays: list[dict[str, Edit]], prefix: str, amount: int
) -> None:
    index, model = grown(new_store(), steps)
    changed = model
    for overlay in reversed(overlays):
        changed = after(changed, overlay)
    expected = [change for change in changes_between(model, changed) if change.key.startswith(prefix[:1])]
    page = drive(diff_overlays(index, [Edits(each) for each in overlays], prefix=prefix[:1], amount=amount))
    assert [(change.key) for change in page] == [change.key for change in expected][:amount]


def test_a_change_says_what_happened() -> None:
    left, _ = grown(new_store(), [{"a": plain("a", 1), "b": plain("b", 1)}])
    right = drive(apply(left, {"a": plain("a", 2), "b": TOMBSTONE, "c": plain("c")}))
    changes = drive(diff(left, right))
    assert [(change.key, change.type) for change in changes if isinstance(change, Change)] == [
        ("a", "changed"),
        ("b", "removed"),
        ("c", "added"),
    ]
