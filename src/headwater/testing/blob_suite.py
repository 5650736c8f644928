"""The conformance suite of object stores: what `docs/blob.md` promises, as tests to subclass.

    class TestMyServer(BlobStoreSuite):
        @pytest.fixture
        def uri(self) -> str:
            return "s3://bucket/prefix?endpoint=http://127.0.0.1:9000"

Every test works under a prefix of its own, so one bucket serves them all. The class attributes say what a store lacks.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import urllib.request
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

import pytest

from headwater import blob
from headwater.blob import IF_ABSENT, BlobStore, Condition, IfMatch, Listed, Prefix, Stat
from headwater.blob.conditions import conditions_hold
from headwater.blob.limits import INLINE_READ, MAX_CONDITIONAL, MAX_METADATA, MAX_NAME, MAX_PAGE, PART

MIB = 1024 * 1024

BAD_NAMES = [
    "",
    "/",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "a/../b",
    "a/./b",
    ".headwater",
    "a/.headwater/b",
    "a\0b",
    "a\nb",
    "a\x7fb",
    "a\x85b",
    "a\ud800b",
    "a\uffffb",
]


@pytest.mark.anyio
class BlobStoreSuite:
    """Subclass it, give it a `uri`, and pytest runs everything here against your store."""

    etag_tells_every_write: ClassVar[bool] = True
    """Whether the etag changes when the same bytes are put again. On S3 it is made of the bytes."""

    keeps_metadata: ClassVar[bool] = True
    """Whether content type and user metadata come back."""

    signs: ClassVar[bool] = True
    """Whether there are presigned URLs."""

    signs_any_name: ClassVar[bool] = True
    """Whether names with characters that a URL escapes can be signed."""

    holds_streams: ClassVar[bool] = False
    """Whether a stream ends up in this process's memory anyway."""

    orders_all_of_unicode: ClassVar[bool] = True
    """Whether names beyond the basic plane sort by their bytes. Where not, such a listing must be an error."""

    many: ClassVar[int] = 3_000
    """Objects in the test of a long listing: more than S3 answers at a time."""

    rounds: ClassVar[int] = 5
    """Races for one condition, of 16 each."""

    @pytest.fixture
    def uri(self) -> str:
        """Where the store under test is. Tests add a prefix of their own."""
        raise NotImplementedError("give your suite a fixture `uri`")

    @pytest.fixture
    def credentials(self) -> dict[str, str]:
        """What the store wants beside its URI."""
        return {}

    @pytest.fixture
    def anyio_backend(self) -> str:
        return "asyncio"

    @pytest.fixture
    def own_uri(self, uri: str) -> str:
        return below(uri, f"t{uuid4().hex}")

    @pytest.fixture
    async def store(self, own_uri: str, credentials: dict[str, str]) -> AsyncIterator[BlobStore]:
        async with await blob.open(own_uri, credentials=credentials) as store:
            yield store

    # One object

    @pytest.mark.parametrize("size", [0, 1, 1000, INLINE_READ + 1, PART, 2 * PART + 1])
    async def test_what_was_put_is_read(self, store: BlobStore, size: int) -> None:
        body = os.urandom(size)
        await store.put("object", body)
        assert await store.read("object") == body

    @pytest.mark.parametrize("size", [0, 1, PART, PART + 1, 2 * PART + 4711])
    async def test_a_stream_is_read_as_one_object(self, store: BlobStore, size: int) -> None:
        body = os.urandom(size)
        stored = await store.put("object", streamed(body, 1_000_003))
        assert await store.read("object") == body
        assert (stored.size, stored.md5) == (size, hashlib.md5(body, usedforsecurity=False).hexdigest())

    async def test_empty_chunks_in_a_stream_are_nothing(self, store: BlobStore) -> None:
        await store.put("object", chunks(b"", b"ab", b"", b"c", b""))
        assert await store.read("object") == b"abc"

    async def test_a_put_answers_size_md5_and_the_etag_that_stat_has(self, store: BlobStore) -> None:
        stored = await store.put("object", b"hello")
        assert (stored.size, stored.md5) == (5, "5d41402abc4b2a76b9719d911017c592")
        stat = await store.stat("object")
        assert stat is not None
        assert (stat.name, stat.size, stat.etag) == ("object", 5, stored.etag)
        assert stat.modified > 1_600_000_000_000

    async def test_a_fetch_is_body_and_stat_at_once(self, store: BlobStore) -> None:
        await store.put("object", b"hello")
        fetched = await store.fetch("object")
        assert (fetched.body, fetched.stat) == (b"hello", await store.stat("object"))

    async def test_a_put_replaces_what_was_there(self, store: BlobStore) -> None:
        await store.put("object", b"a long first version")
        await store.put("object", b"short")
        assert await store.read("object") == b"short"

    @pytest.mark.parametrize("size", [0, 1024, 3_000_000])
    async def test_what_is_put_under_a_name_of_its_own_is_read(self, store: BlobStore, size: int) -> None:
        body = os.urandom(size)
        stored = await store.put_unseen("a/new/object", body)
        fetched = await store.fetch("a/new/object")
        assert (fetched.body, fetched.stat.etag) == (body, stored.etag)
        assert (stored.size, stored.md5) == (size, hashlib.md5(body, usedforsecurity=False).hexdigest())
        assert await names(store) == ["a/new/object"]

    async def test_an_absent_object_is_none_to_stat_and_not_found_to_readers(self, store: BlobStore) -> None:
        assert await store.stat("nobody") is None
        for reading in (store.read("nobody"), store.fetch("nobody", start=1, end=2), store.get("nobody")):
            with pytest.raises(blob.NotFound, match="nobody"):
                await reading

    async def test_what_is_only_a_prefix_of_names_is_absent(self, store: BlobStore) -> None:
        await store.put("a/b", b"")
        assert await store.stat("a") is None
        with pytest.raises(blob.NotFound):
            await store.read("a")
        await store.delete("a")
        assert await names(store) == ["a/b"]

    async def test_reading_goes_on_with_the_version_it_began(self, store: BlobStore) -> None:
        first = os.urandom(300_000)
        await store.put("object", first)
        async with await store.get("object") as reading:
            await store.put("object", b"another")
            assert b"".join([chunk async for chunk in reading]) == first

    async def test_metadata_and_content_type_come_back(self, store: BlobStore) -> None:
        if not self.keeps_metadata:
            pytest.skip("this store keeps no metadata")
        await store.put("object", b"", content_type="text/csv", metadata={"owner": "me", "note": "a: b, c"})
        stat = await store.stat("object")
        assert stat is not None
        assert (stat.content_type, stat.metadata) == ("text/csv", {"owner": "me", "note": "a: b, c"})
        assert (await store.fetch("object")).stat == stat

    async def test_metadata_that_headers_cannot_carry_is_refused(self, store: BlobStore) -> None:
        for metadata in ({"a": "x" * MAX_METADATA}, {"a": "é"}, {"a": "b\nc"}, {"A": "b"}, {"a-b": "c"}, {"": "c"}):
            with pytest.raises(blob.LimitExceeded):
                await store.put("object", b"", metadata=metadata)
        assert await store.stat("object") is None

    # Ranges

    @pytest.mark.parametrize(
        ("start", "end", "expected"),
        [
            (0, None, b"0123456789"),
            (0, 3, b"012"),
            (3, 6, b"345"),
            (9, None, b"9"),
            (8, 99, b"89"),
            (0, 99, b"0123456789"),
        ],
    )
    async def test_a_range_ends_before_its_end_and_with_the_object(
        self, store: BlobStore, start: int, end: int | None, expected: bytes
    ) -> None:
        await store.put("object", b"0123456789")
        assert await store.read("object", start=start, end=end) == expected
        async with await store.get("object", start=start, end=end) as reading:
            assert (reading.start, reading.end, reading.stat.size) == (start, start + len(expected), 10)
            assert b"".join([chunk async for chunk in reading]) == expected

    @pytest.mark.parametrize(("start", "end"), [(10, None), (10, 12), (4711, None), (-1, None), (3, 3), (3, 2)])
    async def test_a_range_of_nothing_is_refused(self, store: BlobStore, start: int, end: int | None) -> None:
        await store.put("object", b"0123456789")
        with pytest.raises(blob.RangeNotSatisfiable, match="object"):
            await store.read("object", start=start, end=end)
        with pytest.raises(blob.RangeNotSatisfiable, match="object"):
            await store.get("object", start=start, end=end)

    async def test_an_empty_object_can_be_read_from_its_start(self, store: BlobStore) -> None:
        await store.put("object", b"")
        assert await store.read("object", start=0, end=10) == b""
        with pytest.raises(blob.RangeNotSatisfiable):
            await store.read("object", start=1)

    # Conditions

    async def test_a_put_if_absent_succeeds_once(self, store: BlobStore) -> None:
        await store.put("object", b"first", condition=IF_ABSENT)
        with pytest.raises(blob.ConditionFailed, match="object"):
            await store.put("object", b"second", condition=IF_ABSENT)
        assert await store.read("object") == b"first"
        await store.delete("object")
        await store.put("object", b"third", condition=IF_ABSENT)

    async def test_a_put_if_match_wants_the_etag_of_what_is_there(self, store: BlobStore) -> None:
        first = await store.put("object", b"first")
        second = await store.put("object", b"second", condition=IfMatch(first.etag))
        with pytest.raises(blob.ConditionFailed, match="object"):
            await store.put("object", b"third", condition=IfMatch(first.etag))
        assert await store.read("object") == b"second"
        read = (await store.fetch("object")).stat.etag
        assert read == second.etag
        await store.put("object", b"fourth", condition=IfMatch(read))

    async def test_a_put_if_match_of_an_absent_object_fails(self, store: BlobStore) -> None:
        stored = await store.put("d/object", b"")
        await store.delete("d/object")
        with pytest.raises(blob.ConditionFailed):
            await store.put("d/object", b"", condition=IfMatch(stored.etag))
        assert await store.stat("d/object") is None

    async def test_the_same_bytes_put_again_have_another_etag(self, store: BlobStore) -> None:
        etags = [(await store.put("object", b"same")).etag for _ in range(20)]
        if not self.etag_tells_every_write:
            assert len(set(etags)) == 1
            pytest.skip("this store makes the etag of the bytes")
        assert len(set(etags)) == 20

    async def test_an_etag_from_before_a_delete_fails(self, store: BlobStore) -> None:
        if not self.etag_tells_every_write:
            pytest.skip("this store makes the etag of the bytes")
        stored = await store.put("object", b"same")
        await store.delete("object")
        await store.put("object", b"same")
        with pytest.raises(blob.ConditionFailed):
            await store.put("object", b"other", condition=IfMatch(stored.etag))

    async def test_of_racing_conditional_puts_exactly_one_succeeds(
        self, store: BlobStore, own_uri: str, credentials: dict[str, str]
    ) -> None:
        async with await blob.open(own_uri, credentials=credentials) as another:
            condition: Condition = IF_ABSENT
            for number in range(self.rounds):
                racers = [(store, another)[racer % 2] for racer in range(16)]
                etags = await asyncio.gather(
                    *(put_if(racer, b"%d %d" % (number, place), condition) for place, racer in enumerate(racers))
                )
                winners = [place for place, etag in enumerate(etags) if etag is not None]
                assert len(winners) == 1, f"round {number}"
                assert await store.read("object") == b"%d %d" % (number, winners[0])
                condition = IfMatch(etags[winners[0]] or "")

    async def test_the_probe_finds_that_conditions_hold_and_leaves_nothing(self, store: BlobStore) -> None:
        await conditions_hold(store, "probe")
        assert await names(store) == []

    async def test_a_body_under_a_condition_fits_one_request(self, store: BlobStore) -> None:
        with pytest.raises(blob.LimitExceeded, match="object"):
            await store.put("object", zeros(MAX_CONDITIONAL + 1), condition=IF_ABSENT)
        assert await store.stat("object") is None
        stored = await store.put("object", chunks(b"in ", b"pieces"), condition=IF_ABSENT)
        assert await store.read("object") == b"in pieces"
        await store.put("object", bytes(2 * PART), condition=IfMatch(stored.etag))
        assert (await store.stat("object") or never()).size == 2 * PART

    # Streams

    @pytest.mark.parametrize("before", [0, 1, 3 * PART])
    async def test_a_stream_that_fails_leaves_nothing(self, store: BlobStore, before: int) -> None:
        async def failing() -> AsyncIterator[bytes]:
            async for chunk in zeros(before):
                yield chunk
            raise ConnectionResetError("the client went away")

        with pytest.raises(ConnectionResetError, match="the client went away"):
            await store.put("object", failing())
        assert await names(store) == []

    async def test_a_stream_that_fails_leaves_the_former_object(self, store: BlobStore) -> None:
        async def failing() -> AsyncIterator[bytes]:
            yield b"second"
            raise FileNotFoundError("no such thing")

        await store.put("object", b"first")
        with pytest.raises(FileNotFoundError, match="no such thing"):
            await store.put("object", failing())
        assert await store.read("object") == b"first"

    async def test_a_put_that_is_cancelled_leaves_nothing(
        self, store: BlobStore, own_uri: str, credentials: dict[str, str]
    ) -> None:
        begun = asyncio.Event()

        async def endless() -> AsyncIterator[bytes]:
            async for chunk in zeros(2 * PART):
                yield chunk
            begun.set()
            await asyncio.Event().wait()

        async with await blob.open(own_uri, credentials=credentials) as another:
            putting = asyncio.create_task(another.put("object", endless()))
            await asyncio.wait_for(begun.wait(), 30)
            putting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await putting
        assert await names(store) == []

    async def test_a_long_stream_takes_little_memory(self, store: BlobStore) -> None:
        if self.holds_streams:
            pytest.skip("this store keeps its objects in this process")
        size = 64 * MIB
        before = resident()
        peak = 0

        async def watched() -> AsyncIterator[bytes]:
            nonlocal peak
            async for chunk in zeros(size):
                peak = max(peak, resident())
                yield chunk

        stored = await store.put("object", watched())
        assert stored.size == size
        assert peak - before < 56 * MIB, "a put holds more than its parts in flight"
        before = peak = resident()
        read = 0
        async with await store.get("object") as reading:
            async for chunk in reading:
                read += len(chunk)
                peak = max(peak, resident())
        assert read == size
        assert peak - before < 32 * MIB, "a get holds more than a few chunks"

    async def test_streams_fed_by_reads_of_the_same_store_get_along(self, store: BlobStore) -> None:
        body = os.urandom(3 * MIB)
        await store.put("source", body)

        async def relay(target: str) -> None:
            async with await store.get("source") as reading:
                await store.put(target, reading)

        targets = [f"target/{number:02}" for number in range(40)]
        await asyncio.gather(*(relay(target) for target in targets))
        assert await store.read(targets[-1]) == body
        assert await names(store, "target/") == targets

    # Delete and copy

    async def test_a_delete_of_an_absent_object_is_no_change(self, store: BlobStore) -> None:
        await store.put("a/b", b"")
        for absent in ("nobody", "a/nobody", "no/such/directory", "a/b/c"):
            await store.delete(absent)
        assert await names(store) == ["a/b"]

    async def test_a_deleted_object_is_gone(self, store: BlobStore) -> None:
        await store.put("a/b/c", b"")
        await store.delete("a/b/c")
        assert await store.stat("a/b/c") is None
        assert await listed(store, delimiter=True) == []
        await store.put("a", b"where a directory was")
        assert await names(store) == ["a"]

    async def test_many_are_deleted_at_once_absent_ones_among_them(self, store: BlobStore) -> None:
        await fill(store, [f"d/{number}" for number in range(30)])
        await store.put("keep", b"")
        await store.delete_many([*(f"d/{number}" for number in range(-5, 35)), "d/3"])
        assert await names(store) == ["keep"]
        await store.delete_many([])

    async def test_a_copy_is_an_object_of_its_own(self, store: BlobStore) -> None:
        metadata = {"a": "b"} if self.keeps_metadata else {}
        await store.put("source", b"body", metadata=metadata)
        await store.put("there/already", b"old")
        for target in ("a/copy", "there/already"):
            await store.copy("source", target)
            copied = await store.fetch(target)
            assert copied.body == b"body"
            assert copied.stat.metadata == metadata
        await store.delete("source")
        assert await store.read("a/copy") == b"body"
        with pytest.raises(blob.NotFound, match="source"):
            await store.copy("source", "a/copy")
        assert await store.read("a/copy") == b"body"

    # Listing

    async def test_a_listing_is_in_byte_order_directories_or_not(self, store: BlobStore) -> None:
        expected = ["A", "a", "a!", "a-b", "a.txt", "b/a", "b/b/c", "b/b0", "b0", "c.d/e", "c/d", "c0/d", "z"]
        await fill(store, [name for name in expected if name != "a"])
        expected.remove("a")
        assert await names(store) == sorted(expected, key=str.encode) == await names(store)
        assert await names(store, page=1) == sorted(expected, key=str.encode)

    async def test_a_listing_of_unicode_names_is_in_byte_order(self, store: BlobStore) -> None:
        expected = sorted(["é", "e", "z", "ß/ü", "日本/東京", "日本", "👍"], key=str.encode)
        expected.remove("日本")
        await fill(store, expected)
        assert await names(store) == expected
        await fill(store, ["\uffee"])
        if self.orders_all_of_unicode:
            assert await names(store) == [*expected[:-1], "\uffee", "👍"]
        else:
            with pytest.raises(blob.BlobError, match="order"):
                await names(store)

    async def test_a_name_comes_back_as_it_was_whatever_its_characters(self, store: BlobStore) -> None:
        given = [r"""d/ !"#$&'()*+,-.:;<=>?@[]^_`{|}~""", "d/%", "d/%2F", "d/%25", "d/a b", "d/a+b", "d/..a", "d/a=b&c"]
        for name in given:
            await store.put(name, name.encode())
        assert await names(store) == sorted(given, key=str.encode)
        for name in given:
            assert await store.read(name) == name.encode()
            assert (await store.stat(name) or never()).name == name

    async def test_a_prefix_may_end_anywhere_in_a_name(self, store: BlobStore) -> None:
        await fill(store, ["ab/c", "ab/cd/e", "ab/ce", "abc", "ac", "b"])
        for prefix in ("", "a", "ab", "ab/", "ab/c", "ab/cd", "ab/cd/", "abc", "b", "c", "ab/cd/e", "ab/cd/ex"):
            everything = ["ab/c", "ab/cd/e", "ab/ce", "abc", "ac", "b"]
            assert await names(store, prefix) == [name for name in everything if name.startswith(prefix)], prefix

    async def test_a_listing_starts_after_a_name(self, store: BlobStore) -> None:
        everything = ["a.txt", "a/b", "a/c", "a0", "b"]
        await fill(store, everything)
        for after in ("", "a", "a.txt", "a/", "a/a", "a/b", "a/b0", "a0", "b", "c", "a/b/c"):
            assert await names(store, start_after=after) == [name for name in everything if name > after], after
        assert await names(store, "a/", start_after="a/b") == ["a/c"]
        assert await names(store, "a/", start_after="b") == []
        assert await names(store, "b", start_after="a/b") == ["b"]

    async def test_a_delimiter_rolls_up_what_lies_beneath(self, store: BlobStore) -> None:
        await fill(store, ["a.txt", "a/b", "a/c/d", "a/c/e", "a0", "z/y/x"])
        assert await listed(store, delimiter=True) == ["a.txt", "a/", "a0", "z/"]
        assert await listed(store, "a/", delimiter=True) == ["a/b", "a/c/"]
        assert await listed(store, "a/c", delimiter=True) == ["a/c/"]
        assert await listed(store, "a", delimiter=True) == ["a.txt", "a/", "a0"]
        assert await listed(store, "z/y/", delimiter=True) == ["z/y/x"]
        assert await listed(store, delimiter=True, start_after="a.txt") == ["a/", "a0", "z/"]
        assert await listed(store, delimiter=True, start_after="a/") == ["a0", "z/"]
        assert await listed(store, delimiter=True, page=1) == ["a.txt", "a/", "a0", "z/"]

    async def test_what_a_listing_says_of_an_object_is_so(self, store: BlobStore) -> None:
        stored = await store.put("object", b"hello")
        [[entry]] = [page async for page in store.list()]
        assert isinstance(entry, Stat)
        assert (entry.name, entry.size, entry.etag) == ("object", 5, stored.etag)
        assert abs(entry.modified - (await store.stat("object") or never()).modified) < 1000

    async def test_a_long_listing_comes_in_full_order_and_bounded_pages(self, store: BlobStore) -> None:
        expected = [f"d/{number % 7}/{number:05}" for number in range(self.many)]
        await fill(store, expected)
        expected.sort()
        pages = [page async for page in store.list(page=700)]
        assert [entry.name for page in pages for entry in page] == expected
        assert all(1 <= len(page) <= 700 for page in pages)
        assert await names(store, start_after=expected[-10]) == expected[-9:]
        assert await listed(store, "d/", delimiter=True) == [f"d/{number}/" for number in range(7)]
        await store.delete_many(expected)
        assert [page async for page in store.list()] == []

    async def test_a_listing_may_be_dropped_in_the_middle(self, store: BlobStore) -> None:
        await fill(store, ["a", "b", "c"])
        async for page in store.list(page=1):
            assert page[0].name == "a"
            break
        assert await names(store) == ["a", "b", "c"]

    async def test_a_page_has_a_limit(self, store: BlobStore) -> None:
        for page in (0, MAX_PAGE + 1):
            with pytest.raises(blob.LimitExceeded, match="page"):
                await names(store, page=page)

    # Names

    @pytest.mark.parametrize("name", BAD_NAMES)
    async def test_a_name_that_not_every_store_can_hold_is_refused(self, store: BlobStore, name: str) -> None:
        with pytest.raises(blob.BadName):
            await store.put(name, b"")
        with pytest.raises(blob.BadName):
            await store.stat(name)
        with pytest.raises(blob.BadName):
            await store.delete_many(["fine", name])

    async def test_a_long_name_has_its_limits(self, store: BlobStore) -> None:
        longest = "/".join(["s" * 255, "é" * 127, "x" * 200])
        await store.put(longest, b"")
        assert await names(store) == [longest]
        for name in ("x" * 256, "é" * 128, "/".join(["x" * 200] * 6), "x/" * (MAX_NAME // 2) + "x"):
            with pytest.raises(blob.LimitExceeded):
                await store.put(name, b"")

    async def test_stores_of_different_prefixes_do_not_see_each_other(
        self, own_uri: str, credentials: dict[str, str]
    ) -> None:
        async with (
            await blob.open(below(own_uri, "one"), credentials=credentials) as one,
            await blob.open(below(own_uri, "one-more"), credentials=credentials) as other,
            await blob.open(below(own_uri, "one/deeper"), credentials=credentials) as deeper,
        ):
            await one.put("a/b", b"one")
            await other.put("a/b", b"other")
            await deeper.put("a", b"deeper")
            assert await names(one) == ["a/b", "deeper/a"]
            assert await names(other) == ["a/b"]
            assert await names(deeper) == ["a"]
            await other.delete("a/b")
            assert (await one.read("a/b"), await one.read("deeper/a")) == (b"one", b"deeper")

    # Presigned URLs

    async def test_a_presigned_url_reads_and_writes_without_credentials(self, store: BlobStore) -> None:
        if not self.signs:
            with pytest.raises(blob.NotSupported):
                await store.presign("object", "GET", 60)
            return
        await store.put("d/object-1.txt", b"hello")
        url = await store.presign("d/object-1.txt", "GET", 60)
        assert await asyncio.to_thread(requested, url) == b"hello"
        url = await store.presign("d/new", "PUT", 60)
        await asyncio.to_thread(requested, url, b"uploaded")
        assert await store.read("d/new") == b"uploaded"

    async def test_a_presigned_url_of_any_name_works_or_is_refused(self, store: BlobStore) -> None:
        await store.put("d/a b%é", b"hello")
        if not (self.signs and self.signs_any_name):
            with pytest.raises(blob.NotSupported):
                await store.presign("d/a b%é", "GET", 60)
            return
        assert await asyncio.to_thread(requested, await store.presign("d/a b%é", "GET", 60)) == b"hello"

    async def test_a_presigned_url_lasts_a_bounded_time(self, store: BlobStore) -> None:
        for seconds in (0, 8 * 24 * 3600):
            with pytest.raises(blob.LimitExceeded):
                await store.presign("object", "GET", seconds)

    # The end

    async def test_a_closed_store_says_so(self, own_uri: str, credentials: dict[str, str]) -> None:
        store = await blob.open(own_uri, credentials=credentials)
        await store.aclose()
        await store.aclose()
        with pytest.raises(blob.BlobUnavailable, match="closed"):
            await store.stat("object")
        with pytest.raises(blob.BlobUnavailable, match="closed"):
            store.list()

    async def test_a_store_shows_no_credentials(
        self, store: BlobStore, own_uri: str, credentials: dict[str, str]
    ) -> None:
        assert not [name for name, secret in credentials.items() if "secret" in name and secret in repr(store)]
        assert own_uri.partition("?")[0].partition("://")[2].strip("/") in repr(store)


def below(uri: str, segment: str) -> str:
    """The URI of the prefix *segment* within *uri*."""
    place, mark, options = uri.partition("?")
    return f"{place.rstrip('/')}/{segment}{mark}{options}"


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def streamed(body: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        await asyncio.sleep(0)
        yield body[start : start + size]


async def zeros(size: int) -> AsyncIterator[bytes]:
    while size > 0:
        yield bytes(min(size, MIB))
        size -= MIB


async def fill(store: BlobStore, given: Sequence[str]) -> None:
    for first in range(0, len(given), 100):
        await asyncio.gather(*(store.put(name, b"x") for name in given[first : first + 100]))


async def put_if(store: BlobStore, body: bytes, condition: Condition) -> str | None:
    """The new etag, or None when the condition failed."""
    try:
        return (await store.put("object", body, condition=condition)).etag
    except blob.ConditionFailed:
        return None


async def listed(
    store: BlobStore, prefix: str = "", *, start_after: str = "", delimiter: bool = False, page: int = 1000
) -> list[str]:
    entries: list[Listed] = []
    async for some in store.list(prefix, start_after=start_after, delimiter=delimiter, page=page):
        assert 1 <= len(some) <= page
        entries += some
    assert all(isinstance(entry, Prefix) == entry.name.endswith("/") for entry in entries)
    return [entry.name for entry in entries]


async def names(store: BlobStore, prefix: str = "", *, start_after: str = "", page: int = 1000) -> list[str]:
    return await listed(store, prefix, start_after=start_after, page=page)


def requested(url: str, body: bytes | None = None) -> bytes:
    """What a stranger gets who has only the URL."""
    headers = {} if body is None else {"x-ms-blob-type": "BlockBlob", "Content-Type": "application/octet-stream"}
    request = urllib.request.Request(url, data=body, method="GET" if body is None else "PUT", headers=headers)  # noqa: S310  (a signed URL)
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310  (see above)
        content: bytes = answer.read()
        return content


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def never() -> Stat:
    raise AssertionError("there is no such object")
