"""Clocks: what they say about ancestry, and how they are kept in order."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.drive import drive
from headwater.history import InvalidRecord
from headwater.history.clock import Clock, Component, behind, clock_key, is_ancestor, next_clock, parse_clock_key
from headwater.history.limits import MAX_COMPONENTS
from tests.history.world import ACTIONS, PATIENTLY, World

A, B, C = b"AAAAAAAA", b"BBBBBBBB", b"CCCCCCCC"
COMPONENTS = st.builds(Component, st.binary(min_size=8, max_size=8), st.integers(0, 2**64 - 1))


def clock(*components: tuple[bytes, int], dropped: int = 0) -> Clock:
    return Clock(tuple(Component(*component) for component in components), dropped)


def test_a_commit_on_its_branch_is_the_next_of_its_incarnation() -> None:
    first = next_clock(None, A)
    assert first == clock((A, 0))
    assert next_clock(next_clock(first, A), A) == clock((A, 2))


def test_the_first_commit_on_another_branch_opens_a_component() -> None:
    assert next_clock(clock((A, 7)), B) == clock((A, 7), (B, 0))


def test_a_branch_that_was_moved_cannot_go_on_with_its_old_incarnation() -> None:
    with pytest.raises(InvalidRecord, match="4141414141414141 has ended"):
        next_clock(clock((A, 7), (B, 0)), A)


def test_an_incarnation_of_another_length_is_refused() -> None:
    with pytest.raises(InvalidRecord, match="must have 8"):
        next_clock(None, b"short")


def test_a_full_clock_lets_go_of_its_oldest_component() -> None:
    full = None
    for number in range(MAX_COMPONENTS):
        full = next_clock(full, b"%08d" % number)
    assert full is not None
    later = next_clock(full, A)
    assert (len(later.components), later.dropped) == (MAX_COMPONENTS, 1)
    assert later.components[:-1] == full.components[1:]
    assert next_clock(later, A).dropped == 1


def test_what_a_clock_let_go_of_it_does_not_deny() -> None:
    assert is_ancestor(clock((A, 3)), clock((B, 1), (C, 0), dropped=1)) is None
    assert is_ancestor(clock((A, 3), (B, 1)), clock((B, 1), (C, 0), dropped=1)) is True
    assert is_ancestor(clock((A, 3), (B, 2)), clock((B, 1), (C, 0), dropped=1)) is False


def test_a_commit_is_its_own_ancestor_and_its_successor_is_not() -> None:
    assert is_ancestor(clock((A, 3)), clock((A, 3)))
    assert not is_ancestor(clock((A, 4)), clock((A, 3)))
    assert not is_ancestor(clock((A, 3), (B, 0)), clock((A, 3)))
    assert not is_ancestor(clock((A, 3), (B, 0)), clock((A, 3), (C, 0)))


def test_what_lies_behind_a_commit_is_told_across_incarnations() -> None:
    spans = behind(clock((A, 7), (B, 0), (C, 2)), 5)
    assert [(span.incarnation, span.newest, span.oldest) for span in spans] == [(C, 1, 0), (B, 0, 0), (A, 7, 6)]


@PATIENTLY
@given(ACTIONS, st.sampled_from([0, 5, 70]), st.integers(0, 99), st.integers(0, 99))
def test_a_clock_tells_first_parent_ancestry_or_that_it_cannot(
    actions: list[tuple[str, int, int]], nested: int, one: int, other: int
) -> None:
    world = drive(World.after(actions, nested))
    older, newer = world.any(one), world.any(other)
    told = is_ancestor(older.clock, newer.clock)
    assert told is None or told == (older in world.first_parents(newer))
    assert told is not None or newer.clock.dropped > 0


@PATIENTLY
@given(ACTIONS)
def test_no_two_landed_commits_have_one_last_component(actions: list[tuple[str, int, int]]) -> None:
    landed = drive(World.after(actions)).landed.values()
    assert len({commit.clock.last for commit in landed}) == len(landed)


@PATIENTLY
@given(st.lists(COMPONENTS, max_size=20))
def test_keys_are_in_the_order_of_incarnations_and_the_newest_is_first(components: list[Component]) -> None:
    by_key = sorted(components, key=clock_key)
    assert by_key == sorted(components, key=lambda component: (component.incarnation, -component.n))
    assert [parse_clock_key(clock_key(component)) for component in components] == components


def test_the_key_has_the_documented_bytes() -> None:
    assert clock_key(Component(A, 0)) == b"clock/AAAAAAAA\xff\xff\xff\xff\xff\xff\xff\xff"
    assert clock_key(Component(A, 258)) == b"clock/AAAAAAAA\xff\xff\xff\xff\xff\xff\xfe\xfd"


def test_the_clock_has_the_documented_bytes() -> None:
    encoded = msgspec.msgpack.encode(clock((A, 7), (B, 300), dropped=2))
    assert encoded == b"\x92\x92\x92\xc4\x08AAAAAAAA\x07\x92\xc4\x08BBBBBBBB\xcd\x01\x2c\x02"
