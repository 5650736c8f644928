"""Three-way merges, next to the rule written out for one key."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from headwater.drive import drive
from headwater.index import (
    TOMBSTONE,
    Behaviour,
    Cutting,
    Edit,
    Entry,
    Index,
    Strategy,
    apply,
    merge,
    same_content,
)
from headwater.index.limits import MAX_CONFLICTS
from tests.index.world import PATIENTLY, after, everything, grown, many_edits, new_store, plain, some_edits, written

steps = st.lists(some_edits() | many_edits(), max_size=2)
prefixes = st.dictionaries(st.sampled_from(["", "0", "05", "05/", "a", "b"]), st.sampled_from(Behaviour), max_size=3)

Model = dict[str, Entry]


def naive_merge(
    base: Model, source: Model, destination: Model, strategy: Strategy, prefixes: dict[str, Behaviour]
) -> tuple[Model, list[tuple[object, ...]]]:
    result = dict(destination)
    conflicts: list[tuple[object, ...]] = []
    for key in sorted(base.keys() | source.keys() | destination.keys()):
        was, theirs, ours = base.get(key), source.get(key), destination.get(key)
        fitting = [prefix for prefix in prefixes if key.startswith(prefix)]
        behaviour = prefixes[max(fitting, key=len)] if fitting else Behaviour.NORMAL
        if behaviour == Behaviour.DROP or same_content(was, theirs) or same_content(ours, theirs):
            continue
        if same_content(was, ours) or behaviour == Behaviour.FORCE or strategy == Strategy.SOURCE_WINS:
            result.pop(key, None)
            result |= {key: theirs} if theirs else {}
        elif strategy == Strategy.REPORT:
            conflicts.append((key, was, theirs, ours))
    return dict(sorted(result.items())), conflicts


@PATIENTLY
@given(steps, steps, steps, st.sampled_from(Strategy), prefixes, st.booleans())
def test_a_merge_brings_what_the_source_changed(  # noqa: PLR0917  (drawn)
    before: list[dict[str, Edit]],
    theirs: list[dict[str, Edit]],
    ours: list[dict[str, Edit]],
    strategy: Strategy,
    prefixes: dict[str, Behaviour],
    spilled: bool,  # noqa: FBT001  (drawn)
) -> None:
    store = new_store()
    base, base_model = grown(store, before)
    sides: list[tuple[Index, Model]] = []
    for steps in (theirs, ours):
        index, model = base, base_model
        for edits in steps:
            index, model = drive(apply(index, edits)), after(model, edits)
        sides.append((drive(written(store, model)) if spilled else index, model))
    (source, source_model), (destination, destination_model) = sides

    merged = drive(merge(base, source, destination, strategy=strategy, prefixes=prefixes))

    expected, conflicts = naive_merge(base_model, source_model, destination_model, strategy, prefixes)
    assert [astuple(conflict) for conflict in merged.conflicts] == conflicts
    assert merged.conflict_count == len(conflicts)
    assert drive(everything(drive(apply(destination, merged.edits)))) == expected


def test_the_same_change_on_both_sides_is_no_conflict() -> None:
    base, _ = grown(new_store(), [{"a": plain("a", 1), "b": plain("b", 1)}])
    edits: dict[str, Edit] = {"a": plain("a", 2), "b": TOMBSTONE}
    merged = drive(merge(base, drive(apply(base, edits)), drive(apply(base, edits))))
    assert merged.conflict_count == 0
    assert len(merged.edits) == 0


def test_a_merge_of_very_many_changes_sees_the_delta_of_its_destination() -> None:
    keys = [f"{number:05d}" for number in range(3_000)]
    store = new_store(cutting=Cutting(200, 7, 1_000, 10**6))
    base, base_model = grown(store, [{key: plain(key, 0) for key in keys}])
    theirs: dict[str, Edit] = {key: plain(key, 1) for key in [*keys[:2_500], "new"]}
    ours: dict[str, Edit] = {
        keys[5]: TOMBSTONE,
        keys[6]: plain(keys[6], 1),
        keys[7]: plain(keys[7], 2),
        "ours": plain("ours"),
    }
    source, destination = drive(apply(base, theirs)), drive(apply(base, ours))
    assert destination.own is not None

    merged = drive(merge(base, source, destination))

    models = base_model, after(base_model, theirs), after(base_model, ours)
    expected, conflicts = naive_merge(*models, Strategy.REPORT, {})
    assert [astuple(conflict) for conflict in merged.conflicts] == conflicts
    assert drive(everything(drive(apply(destination, merged.edits)))) == expected


def test_of_very_many_conflicts_the_first_are_told_and_all_counted() -> None:
    keys = [f"{number:05d}" for number in range(MAX_CONFLICTS + 500)]
    base, _ = grown(new_store(), [{key: plain(key, 0) for key in keys}])
    source, destination = (drive(apply(base, {key: plain(key, size) for key in keys})) for size in (1, 2))
    merged = drive(merge(base, source, destination))
    assert merged.conflict_count == len(keys)
    assert [conflict.key for conflict in merged.conflicts] == keys[:MAX_CONFLICTS]
