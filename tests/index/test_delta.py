"""The delta of a commit: two parts, each sorted, prefix-compressed and self-checking."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.index import TOMBSTONE, Corrupt, Edit, Edits
from headwater.index.delta import decode_inherited, decode_own, encode_inherited, encode_own
from tests.index.world import PATIENTLY, names, plain, some_edits

PART = encode_own({"f/a": plain("f/a", 1), "f/ab": plain("f/ab", 2), "f/b": TOMBSTONE})


@PATIENTLY
@given(some_edits())
def test_both_parts_come_back_as_they_were(edits: dict[str, Edit]) -> None:
    assert decode_own(encode_own(edits)) == Edits(edits)
    assert decode_inherited(encode_inherited(edits)) == Edits(edits)


@PATIENTLY
@given(some_edits())
def test_the_bytes_do_not_depend_on_the_order_of_the_edits(edits: dict[str, Edit]) -> None:
    assert encode_own(dict(reversed(edits.items()))) == encode_own(edits)


def test_nothing_is_no_bytes() -> None:
    assert encode_own({}) == encode_inherited({}) == b""
    assert decode_own(b"") == Edits()


def test_the_parts_are_not_taken_for_each_other() -> None:
    with pytest.raises(Corrupt, match="ADD is out of place"):
        decode_inherited(PART)


@pytest.mark.parametrize("position", range(len(PART)))
def test_a_changed_byte_is_detected_and_the_delta_named(position: int) -> None:
    broken = bytearray(PART)
    broken[position] ^= 0x41
    with pytest.raises(Corrupt, match="the delta of commit 12"):
        decode_own(bytes(broken), of="the delta of commit 12")


@pytest.mark.parametrize("length", range(1, len(PART)))
def test_a_truncated_delta_is_detected(length: int) -> None:
    with pytest.raises(Corrupt):
        decode_own(PART[:length])


def test_long_common_prefixes_cost_nothing() -> None:
    deep = {f"f/{'directory/' * 20}{number}": TOMBSTONE for number in range(100)}
    assert len(encode_own(deep)) < 230 + 100 * 9


@PATIENTLY
@given(some_edits(), some_edits(), names, st.integers(1, 5))
def test_edits_are_a_sorted_layer(below: dict[str, Edit], above: dict[str, Edit], start: str, amount: int) -> None:
    edits = Edits(above).over(Edits(below))
    model = sorted((below | above).items())
    assert list(edits.items()) == model
    assert edits.slice(start, amount) == [(key, edit) for key, edit in model if key >= start][:amount]
    assert list(edits.without(above)) == [key for key in sorted(below) if key not in above]
