"""Keys as names of objects: the order, the way back, and what file systems and object stores put up with."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from headwater.kv.drivers.objects.names import directory_of, key_of, name_of

keys = st.binary(min_size=1, max_size=12) | st.binary(min_size=150, max_size=600)


@given(st.lists(keys, min_size=2, max_size=8))
@example([bytes([byte]) for byte in range(256)])
@example([b"a" * 200, b"a" * 201, b"a" * 199 + b"b", b"a" * 200 + b"\0", b"a" * 200 + b"\xff", b"b"])
def test_names_sort_as_their_keys_do(some: list[bytes]) -> None:
    names = [name_of(b"partition", key) for key in some]
    assert sorted(names) == [name_of(b"partition", key) for key in sorted(some)]


@given(st.binary(min_size=1, max_size=80), keys)
def test_a_name_gives_its_key_back(partition: bytes, key: bytes) -> None:
    assert key_of(name_of(partition, key), partition) == key


@given(st.binary(min_size=1, max_size=8), st.binary(min_size=1, max_size=8), keys)
def test_partitions_share_no_name(one: bytes, other: bytes, key: bytes) -> None:
    assert (name_of(one, key).startswith(directory_of(other))) == (one == other)


@given(st.binary(min_size=1, max_size=330), keys)
def test_a_name_is_plain_and_no_segment_of_it_is_too_long(partition: bytes, key: bytes) -> None:
    segments = name_of(partition, key).split("/")
    assert all(0 < len(segment) <= 255 for segment in segments)
    assert not {".", ".."} & set(segments)
    assert set("".join(segments)) <= set("!-._=~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


@given(st.lists(keys, min_size=2, max_size=6, unique=True))
def test_no_name_is_the_directory_of_another(some: list[bytes]) -> None:
    names = [name_of(b"p", key) for key in some]
    assert not any(other.startswith(name + "/") for name in names for other in names)
