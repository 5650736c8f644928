"""Commits: their bytes, their ids, what they may hold, and that a damaged one is found out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.history import Commit, CorruptRecord, InvalidRecord, LimitExceeded, UnknownFormat
from headwater.history.commit import canonical, decode, encode
from headwater.history.limits import (
    MAX_INHERITED,
    MAX_MESSAGE,
    MAX_METADATA,
    MAX_METADATA_BYTES,
    MAX_OWN,
    MAX_PARENTS,
    MAX_PERSON,
    MAX_TIME,
)
from headwater.kv.limits import MAX_VALUE

A = b"AAAAAAAA"
TREE = "7e" * 32
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def first(message: str = "first") -> Commit:
    return Commit.create([], A, message=message, committer="ann", time=1)


GOLDEN_CANONICAL = bytes.fromhex(
    "9c"  # an array of 12
    "a6 636f6d6d6974"  # "commit"
    "01"  # format
    "91 c420 7bffaefcaae641884cffb99a2bd239b031fbb3f69ebf781b0ab18a566e696b1c"  # parents: SHA-256 of the first one
    "c420" + TREE + "c403 6f776e"  # own: b"own"
    "c420 46b2e93c2f9ac23612d7f8e87acd2fef4cdc242f7c95679cba787415362f8a2c"  # inherited: SHA-256 of b"inherited"
    "a6 7365636f6e64"  # "second"
    "a3 626f62"  # "bob"
    "cd03e8"  # 1000
    "92 92 a161 a131 92 a162 a132"  # a=1, b=2
    "02"  # generation
    "92 91 92 c408 4141414141414141 01 00"  # clock
)


def second() -> Commit:
    return Commit.create(
        [first()],
        A,
        message="second",
        committer="bob",
        time=1000,
        metadata={"b": "2", "a": "1"},
        tree=TREE,
        own=b"own",
        inherited=b"inherited",
    )


def test_a_commit_has_the_documented_bytes_and_their_hash_for_an_id() -> None:
    assert canonical(second()).hex(" ") == GOLDEN_CANONICAL.hex(" ")
    assert second().id == hashlib.sha256(GOLDEN_CANONICAL).hexdigest()


def test_the_stored_value_is_the_canonical_bytes_and_what_stands_beside_them() -> None:
    assert encode(second()) == b"\x92\xc4\x9e" + GOLDEN_CANONICAL + b"\xc0"
    assert decode(second().id, encode(second())) == second()


@given(
    st.builds(
        lambda message, committer, time, metadata, own, inherited: Commit.create(
            [first()],
            A,
            message=message,
            committer=committer,
            time=time,
            metadata=metadata,
            own=own,
            inherited=inherited,
        ),
        TEXT,
        TEXT,
        st.integers(0, MAX_TIME),
        st.dictionaries(TEXT, TEXT, max_size=5),
        st.none() | st.binary(max_size=50),
        st.none() | st.binary(max_size=50),
    )
)
def test_a_commit_is_read_as_it_was_written(commit: Commit) -> None:
    assert decode(commit.id, encode(commit)) == commit


def test_the_same_commit_made_twice_is_one() -> None:
    assert second() == second()
    assert list(second().metadata) == ["a", "b"]


@pytest.mark.parametrize("change", ["message", "committer", "time", "metadata", "tree", "own", "inherited"])
def test_whatever_differs_makes_another_commit(change: str) -> None:
    base = {
        "message": "m",
        "committer": "c",
        "time": 1,
        "metadata": {"k": "v"},
        "tree": TREE,
        "own": b"",
        "inherited": b"",
    }
    other = {"message": "n", "committer": "d", "time": 2, "metadata": {}, "tree": "", "own": None, "inherited": None}
    make: Callable[..., Commit] = Commit.create
    assert make([], A, **base).id != make([], A, **(base | {change: other[change]})).id


def test_a_commit_that_says_nothing_of_its_changes_is_not_one_without_changes() -> None:
    spilled = Commit.create([], A, message="", committer="", time=0, own=None)
    nothing = Commit.create([], A, message="", committer="", time=0, own=b"")
    assert spilled.id != nothing.id
    assert decode(spilled.id, encode(spilled)).own is None


def test_the_generation_is_above_that_of_every_parent() -> None:
    one = first()
    two = Commit.create([one], A, message="", committer="", time=0)
    other = Commit.create([one], b"BBBBBBBB", message="", committer="", time=0)
    three = Commit.create([two], A, message="", committer="", time=0)
    merge = Commit.create([other, three], b"BBBBBBBB", message="", committer="", time=0)
    assert [commit.generation for commit in (one, two, three, other, merge)] == [1, 2, 3, 2, 4]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"message": "x" * (MAX_MESSAGE + 1)}, f"message has {MAX_MESSAGE + 1} bytes, {MAX_MESSAGE} at most"),
        ({"message": "é" * (MAX_MESSAGE // 2 + 1)}, "message has"),
        ({"committer": "x" * (MAX_PERSON + 1)}, "committer has 1025 bytes"),
        ({"time": -1}, "time -1"),
        ({"time": MAX_TIME + 1}, "before the year 10000"),
        ({"metadata": {str(n): "" for n in range(MAX_METADATA + 1)}}, "1001 pairs, 1000 at most"),
        ({"metadata": {"k": "x" * MAX_METADATA_BYTES}}, "metadata has 65537 bytes"),
        ({"own": bytes(MAX_OWN + 1)}, "spill them into a tree"),
        ({"inherited": bytes(MAX_INHERITED + 1)}, "spill them into a tree"),
    ],
)
def test_what_is_beyond_a_limit_is_refused_by_name(arguments: dict[str, object], named: str) -> None:
    make: Callable[..., Commit] = Commit.create
    with pytest.raises(LimitExceeded, match=named):
        make([], A, **{"message": "", "committer": "", "time": 0, **arguments})


def test_a_commit_with_everything_at_its_limit_fits_a_value() -> None:
    parents = [first(f"{n}") for n in range(MAX_PARENTS)]
    commit = Commit.create(
        parents,
        A,
        message="x" * MAX_MESSAGE,
        committer="x" * MAX_PERSON,
        time=MAX_TIME,
        metadata={f"{n:03}": "x" * 61 for n in range(MAX_METADATA)},
        tree=TREE,
        own=bytes(MAX_OWN),
        inherited=bytes(MAX_INHERITED),
    )
    assert len(encode(commit)) <= MAX_VALUE


def test_too_many_parents_are_refused() -> None:
    parents = [first(f"{n}") for n in range(MAX_PARENTS + 1)]
    with pytest.raises(LimitExceeded, match="9 parents, 8 at most"):
        Commit.create(parents, A, message="", committer="", time=0)


def test_one_parent_twice_is_refused() -> None:
    with pytest.raises(InvalidRecord, match="distinct"):
        Commit.create([first(), first()], A, message="", committer="", time=0)


def test_text_that_is_not_unicode_is_refused() -> None:
    with pytest.raises(InvalidRecord, match="the message cannot be stored"):
        first("\ud800")


def test_a_tree_that_is_no_id_is_refused() -> None:
    with pytest.raises(InvalidRecord, match="tree 'abc'"):
        Commit.create([], A, message="", committer="", time=0, tree="abc")


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_damaged_record_is_named_and_never_served(place: int, flip: int) -> None:
    commit = second()
    value = bytearray(encode(commit))
    value[place % (len(value) - 1)] ^= flip  # the last byte is the signature: none
    with pytest.raises(CorruptRecord, match=commit.id):
        decode(commit.id, bytes(value))


@given(st.integers(0, 200))
def test_a_truncated_record_is_named_and_never_served(length: int) -> None:
    commit = second()
    with pytest.raises(CorruptRecord, match=commit.id):
        decode(commit.id, encode(commit)[: min(length, len(encode(commit)) - 1)])


def test_a_record_of_a_later_format_is_told_from_a_damaged_one() -> None:
    later = msgspec.msgpack.encode(["commit", 2, "whatever", {"comes": "then"}])
    identity = hashlib.sha256(later).hexdigest()
    with pytest.raises(UnknownFormat, match="format 2"):
        decode(identity, msgspec.msgpack.encode([later, None]))


def test_a_tag_is_not_served_as_a_commit() -> None:
    tag = msgspec.msgpack.encode(["tag", 1])
    with pytest.raises(CorruptRecord, match="something else"):
        decode(hashlib.sha256(tag).hexdigest(), msgspec.msgpack.encode([tag, None]))


def test_a_commit_that_was_tampered_with_in_memory_cannot_be_stored() -> None:
    with pytest.raises(InvalidRecord, match=r"made by Commit\.create"):
        encode(msgspec.structs.replace(second(), message="another"))
