"""The layout of a storage namespace: names are built, taken apart, and in the order that listings rely on."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as some

from headwater import blob
from headwater.blob import namespace
from headwater.blob.names import check_name

MOMENTS = some.integers(0, (namespace.LAST_HOUR + 1) * namespace.HOUR - 1)
IDS = some.text(string.ascii_letters + string.digits, min_size=1, max_size=128)
HASHES = some.binary(min_size=16, max_size=64).map(bytes.hex)
ANYTHING = some.text() | some.lists(some.sampled_from(["data", "meta", "segments", "00", "workspaces", "a", ""])).map(
    "/".join
)


@given(MOMENTS, IDS)
def test_a_data_name_is_taken_apart_again(moment: int, id_: str) -> None:
    name = namespace.data_name(moment, id_)
    check_name(name)
    parts = namespace.parse_data_name(name)
    assert parts == namespace.DataName(namespace.slice_of(moment), id_)
    span = namespace.span(parts.slice)
    assert span.start <= moment < span.end == span.start + namespace.HOUR


@given(MOMENTS, MOMENTS)
def test_later_slices_sort_first(one: int, other: int) -> None:
    if one // namespace.HOUR < other // namespace.HOUR:
        assert namespace.slice_of(one) > namespace.slice_of(other)
    assert len(namespace.slice_of(one)) == 6


@given(MOMENTS, MOMENTS)
def test_a_listing_after_the_young_shows_just_the_slices_wholly_older(written: int, moment: int) -> None:
    part = namespace.slice_of(written)
    shown = f"{namespace.DATA}{part}/" > namespace.after_young(moment)
    assert shown == namespace.is_older(part, moment)
    assert not (shown and written >= moment)


@given(HASHES)
def test_segments_and_trees_are_named_by_their_hash(hash_: str) -> None:
    segment, tree = namespace.segment_name(hash_), namespace.tree_name(hash_)
    check_name(segment)
    assert re.fullmatch(rf"meta/segments/{hash_[:2]}/{hash_}\.parquet", segment)
    assert (namespace.parse_segment_name(segment), namespace.parse_tree_name(segment)) == (hash_, None)
    assert (namespace.parse_segment_name(tree), namespace.parse_tree_name(tree)) == (None, hash_)


@given(IDS, some.text(min_size=1))
def test_what_a_workspace_deletes_and_its_state_are_no_objects_of_it(id_: str, path: str) -> None:
    gone, state = namespace.workspace_gone_name(id_, path), namespace.workspace_state_name(id_)
    assert gone == namespace.workspace_gone_prefix(id_) + path
    for name in (gone, state):
        assert name.startswith(namespace.WORKSPACES)
        assert not name.startswith(namespace.workspace_prefix(id_))
        assert namespace.parse_workspace_name(name) is None


@given(IDS, some.text(min_size=1))
def test_a_workspace_holds_any_path(id_: str, path: str) -> None:
    name = namespace.workspace_name(id_, path)
    assert name.startswith(namespace.workspace_prefix(id_))
    assert namespace.parse_workspace_name(name) == namespace.WorkspaceName(id_, path)


@given(ANYTHING)
def test_what_is_parsed_is_what_would_be_built(name: str) -> None:
    if (data := namespace.parse_data_name(name)) is not None:
        assert namespace.data_name(namespace.span(data.slice).start, data.id) == name
    if (hash_ := namespace.parse_segment_name(name)) is not None:
        assert namespace.segment_name(hash_) == name
    if (workspace := namespace.parse_workspace_name(name)) is not None:
        assert namespace.workspace_name(workspace.id, workspace.path) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "data/fffffe",
        "data/fffffe/",
        "data/FFFFFE/a",
        "data/ffffffe/a",
        "data/fffffe/a/b",
        "lake/data/fffffe/a",
        "meta/segments/00/" + "ab" * 32 + ".parquet",
        "meta/segments/ab/" + "ab" * 32,
        "meta/segments/ab/AB" + "ab" * 31 + ".parquet",
        "workspaces/a",
        "workspaces/a/",
        "workspaces//a",
    ],
)
def test_foreign_names_are_told_from_ours(name: str) -> None:
    assert namespace.parse_data_name(name) is None
    assert namespace.parse_segment_name(name) is None
    assert namespace.parse_tree_name(name) is None
    assert namespace.parse_workspace_name(name) is None


def test_what_would_leave_its_place_is_refused() -> None:
    for id_ in ("", "a/b", "..", ".a", "é", "a b", "x" * 129):
        with pytest.raises(blob.BadName):
            namespace.data_name(0, id_)
        with pytest.raises(blob.BadName):
            namespace.workspace_prefix(id_)
    for hash_ in ("", "ab", "g" * 64, "AB" * 32, "../" + "ab" * 31):
        with pytest.raises(blob.BadName):
            namespace.segment_name(hash_)
    for moment in (-1, (namespace.LAST_HOUR + 1) * namespace.HOUR):
        with pytest.raises(blob.BadName):
            namespace.slice_of(moment)
    with pytest.raises(blob.BadName):
        namespace.span("fffff")


def test_the_layout_is_what_the_documentation_says() -> None:
    assert namespace.data_name(1_700_000_000_000, "0123") == "data/f8cb61/0123"
