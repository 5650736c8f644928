"""Entries: what makes the same content, and the compact form that staging keeps."""

from __future__ import annotations

import pytest
from hypothesis import given
from msgspec.structs import replace

from headwater.index import (
    TOMBSTONE,
    Block,
    Corrupt,
    Edit,
    Entry,
    Kind,
    LimitExceeded,
    check_key,
    decode_edit,
    encode_edit,
    same_content,
)
from headwater.index.schema import batch_of_stored, edits_of
from headwater.index.stored import decode_stored
from tests.index.world import PATIENTLY, plain, some_edits

FILE = Entry("f/a", size=3, checksum="aa", blocks=(Block("data/1", 0, 3),))


def test_the_same_bytes_elsewhere_and_later_are_the_same_content() -> None:
    assert same_content(FILE, replace(FILE, blocks=(Block("data/2", 0, 3),), modified=5))


def test_without_a_checksum_it_matters_where_the_bytes_are() -> None:
    unknown = replace(FILE, checksum=None)
    assert not same_content(unknown, replace(unknown, blocks=(Block("data/2", 0, 3),)))
    assert same_content(unknown, replace(unknown, modified=5))


@pytest.mark.parametrize(
    "other",
    [
        replace(FILE, kind=Kind.APPEND),
        replace(FILE, size=4),
        replace(FILE, checksum="bb"),
        replace(FILE, checksum=None),
        replace(FILE, content_type="text/csv"),
        replace(FILE, metadata={"a": "b"}),
        replace(FILE, content_id=bytes(16)),
        replace(FILE, payload=b""),
        None,
    ],
)
def test_any_other_difference_is_other_content(other: Entry | None) -> None:
    assert not same_content(FILE, other)
    assert not same_content(other, FILE)


@PATIENTLY
@given(some_edits())
def test_a_staged_edit_comes_back_as_it_was(edits: dict[str, Edit]) -> None:
    for key, edit in edits.items():
        assert decode_edit(key, encode_edit(key, edit)) == edit


@PATIENTLY
@given(some_edits())
def test_staged_edits_become_rows_in_bulk(edits: dict[str, Edit]) -> None:
    values = [encode_edit(key, edit) for key, edit in edits.items()]
    assert edits_of(batch_of_stored(list(edits), decode_stored(values))) == edits


def test_a_staged_entry_is_small() -> None:
    assert len(encode_edit("f/a", FILE)) < 40
    assert len(encode_edit("f/a", TOMBSTONE)) == 1


def test_a_staged_entry_that_is_none_is_told_by_its_key() -> None:
    with pytest.raises(Corrupt, match="f/a"):
        decode_edit("f/a", b"\x93\x01\x02\x03")


def test_an_entry_is_kept_under_its_own_key() -> None:
    with pytest.raises(ValueError, match="f/b"):
        encode_edit("f/b", FILE)


def test_what_no_store_could_hold_is_refused_at_the_door() -> None:
    with pytest.raises(LimitExceeded, match="409600"):
        encode_edit("f/a", replace(FILE, payload=bytes(409_600)))
    with pytest.raises(LimitExceeded, match="16 bytes"):
        encode_edit("f/a", replace(FILE, content_id=b"short"))


@pytest.mark.parametrize("key", ["", "é" * 513, "\ud800"])
def test_a_key_has_1_to_1024_bytes_of_text(key: str) -> None:
    with pytest.raises(LimitExceeded):
        check_key(key)
    with pytest.raises(LimitExceeded):
        encode_edit(key, plain(key))


def test_the_longest_key_is_fine() -> None:
    check_key("é" * 512)
