"""The conformance suite of key-value stores: what `docs/kv.md` promises, as tests that a driver's author subclasses.

    class TestMyStore(KVStoreSuite):
        @pytest.fixture
        def uri(self) -> str:
            return "mystore://127.0.0.1:4711/test"

Every test works in a tenant of its own, so one server serves them all. The class attributes say where a database is
tighter than the contract, or what it cannot be asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import ClassVar
from uuid import uuid4

import pytest

from headwater import kv
from headwater.kv import ABSENT, Delete, Predicate, Set, SetIf, Store
from headwater.kv.limits import MAX_BULK, MAX_KEY, MAX_PAGE, MAX_PARTITION, MAX_TENANT, MAX_VALUE
from headwater.testing.kv_increment import increment, increment_in_processes
from headwater.testing.kv_model import check_against_model

P = b"partition"


@pytest.mark.anyio
class KVStoreSuite:
    """Subclass it, give it a `uri`, and pytest runs everything here against your database."""

    max_key: ClassVar[int] = MAX_KEY
    """Bytes that a key may have here, if the database allows fewer than the contract."""

    max_value: ClassVar[int] = MAX_VALUE
    """Bytes that a value may have here (under the longest key), if the database allows fewer than the contract."""

    survives_reopening: ClassVar[bool] = True
    """Whether what was written is there when the URI is opened anew."""

    shared_between_processes: ClassVar[bool] = True
    """Whether another process can open the same URI."""

    many: ClassVar[int] = 20_000
    """Keys in the test of a long scan. Fewer only where each costs a request."""

    examples: ClassVar[int] = 60
    """Runs of the model test, each of up to 30 operations."""

    @pytest.fixture
    def uri(self) -> str:
        """Where the database under test is. Tests add a tenant of their own."""
        raise NotImplementedError("give your suite a fixture `uri`")

    @pytest.fixture
    def credentials(self) -> dict[str, str]:
        """What the database wants beside its URI."""
        return {}

    @pytest.fixture
    def anyio_backend(self) -> str:
        return "asyncio"

    @pytest.fixture
    def tenant_uri(self, uri: str) -> str:
        return with_tenant(uri, f"t{uuid4().hex}")

    @pytest.fixture
    async def store(self, tenant_uri: str, credentials: dict[str, str]) -> AsyncIterator[Store]:
        async with await kv.open(tenant_uri, credentials=credentials) as store:
            yield store

    # One key

    async def test_an_absent_key_reads_as_none(self, store: Store) -> None:
        assert await store.get(P, b"nobody") is None

    async def test_what_was_set_is_read(self, store: Store) -> None:
        await store.set(P, b"key", b"value")
        assert await value_of(store, b"key") == b"value"

    async def test_the_last_of_two_sets_is_read(self, store: Store) -> None:
        await store.set(P, b"key", b"first")
        await store.set(P, b"key", b"second")
        assert await value_of(store, b"key") == b"second"

    async def test_an_empty_value_is_a_value(self, store: Store) -> None:
        await store.set(P, b"key", b"")
        assert await value_of(store, b"key") == b""
        assert await scanned(store) == {b"key": b""}

    async def test_a_deleted_key_reads_as_none(self, store: Store) -> None:
        await store.set(P, b"key", b"value")
        await store.delete(P, b"key")
        assert await store.get(P, b"key") is None
        assert await scanned(store) == {}

    async def test_a_delete_of_an_absent_key_is_no_change(self, store: Store) -> None:
        await store.set(P, b"key", b"value")
        await store.delete(P, b"other")
        assert await scanned(store) == {b"key": b"value"}

    @pytest.mark.parametrize("value", [bytes(range(256)), b"\0", b"\xff" * 1000, "größe".encode()])
    async def test_a_value_is_any_bytes(self, store: Store, value: bytes) -> None:
        await store.set(P, b"key", value)
        assert await value_of(store, b"key") == value

    # Compare and swap

    async def test_absent_holds_while_there_is_no_key(self, store: Store) -> None:
        await store.set_if(P, b"key", b"mine", ABSENT)
        with pytest.raises(kv.PredicateFailed) as refused:
            await store.set_if(P, b"key", b"theirs", ABSENT)
        assert (refused.value.partition, refused.value.key) == (P, b"key")
        assert await value_of(store, b"key") == b"mine"

    async def test_a_predicate_holds_until_the_key_is_written(self, store: Store) -> None:
        await store.set(P, b"key", b"one")
        predicate = await predicate_of(store, b"key")
        await store.set_if(P, b"key", b"two", predicate)
        with pytest.raises(kv.PredicateFailed):
            await store.set_if(P, b"key", b"three", predicate)
        assert await value_of(store, b"key") == b"two"

    async def test_a_predicate_of_one_read_holds_for_another_reader(self, store: Store) -> None:
        await store.set(P, b"key", b"one")
        assert await predicate_of(store, b"key") == await predicate_of(store, b"key")

    async def test_a_swap_answers_the_predicate_of_what_it_wrote(self, store: Store) -> None:
        predicate = await store.set_if(P, b"key", b"0", ABSENT)
        for number in range(1, 5):
            assert await predicate_of(store, b"key") == predicate
            predicate = await store.set_if(P, b"key", b"%d" % number, predicate)
        assert await value_of(store, b"key") == b"4"

    async def test_writing_the_same_value_again_ends_a_predicate(self, store: Store) -> None:
        await store.set(P, b"key", b"same")
        predicate = await predicate_of(store, b"key")
        await store.set(P, b"key", b"same")
        with pytest.raises(kv.PredicateFailed):
            await store.set_if(P, b"key", b"new", predicate)

    async def test_swapping_in_the_same_value_ends_a_predicate(self, store: Store) -> None:
        first = await store.set_if(P, b"key", b"same", ABSENT)
        await store.set_if(P, b"key", b"same", first)
        with pytest.raises(kv.PredicateFailed):
            await store.set_if(P, b"key", b"new", first)

    async def test_a_predicate_fails_after_a_delete(self, store: Store) -> None:
        predicate = await store.set_if(P, b"key", b"value", ABSENT)
        await store.delete(P, b"key")
        with pytest.raises(kv.PredicateFailed):
            await store.set_if(P, b"key", b"new", predicate)
        assert await store.get(P, b"key") is None

    @pytest.mark.parametrize("rounds", [1, 5])
    async def test_a_predicate_fails_after_deletes_and_recreations_of_the_same_value(
        self, store: Store, rounds: int
    ) -> None:
        old = await store.set_if(P, b"key", b"value", ABSENT)
        for _ in range(rounds):
            await store.delete(P, b"key")
            await store.set_if(P, b"key", b"value", ABSENT)
        with pytest.raises(kv.PredicateFailed):
            await store.set_if(P, b"key", b"new", old)
        assert await value_of(store, b"key") == b"value"

    async def test_a_predicate_of_one_key_says_nothing_of_another(self, store: Store) -> None:
        await store.set(P, b"other", b"value")
        predicate = await store.set_if(P, b"key", b"value", ABSENT)
        with pytest.raises(kv.PredicateFailed):
            await store.set_if(P, b"third", b"value", predicate)

    async def test_of_racing_swaps_with_one_predicate_one_wins(self, store: Store) -> None:
        predicate: Predicate = ABSENT
        for _ in range(5):
            outcomes = await asyncio.gather(
                *(store.set_if(P, b"key", b"%d" % racer, predicate) for racer in range(16)), return_exceptions=True
            )
            won = [(racer, outcome) for racer, outcome in enumerate(outcomes) if not isinstance(outcome, Exception)]
            assert len(won) == 1
            assert sum(isinstance(outcome, kv.PredicateFailed) for outcome in outcomes) == 15
            assert await value_of(store, b"key") == b"%d" % won[0][0]
            predicate = await predicate_of(store, b"key")

    async def test_no_increment_is_lost_among_tasks(self, store: Store) -> None:
        await asyncio.gather(*(increment(store, P, b"counter", times=10) for _ in range(8)))
        assert await value_of(store, b"counter") == b"80"

    async def test_no_increment_is_lost_among_processes(
        self, tenant_uri: str, credentials: dict[str, str], store: Store
    ) -> None:
        if not self.shared_between_processes:
            pytest.skip("this store lives in one process")
        await increment_in_processes(tenant_uri, credentials, P, b"counter", processes=8, times=10)
        assert await value_of(store, b"counter") == b"80"

    # Order

    async def test_a_scan_runs_in_byte_order_for_any_bytes(self, store: Store) -> None:
        singles = [bytes([byte]) for byte in range(256)]
        framed = [b"a" + single + b"z" for single in singles]
        nested = [b"\xff" * length for length in range(1, 6)] + [b"\0" * length for length in range(1, 6)]
        written = {key: key[:1] for key in [*singles, *framed, *nested]}
        await store.set_many(P, written)
        found = await scanned(store)
        assert list(found) == sorted(written)
        assert found == written

    async def test_long_keys_keep_their_order_among_short_ones(self, store: Store) -> None:
        stem = bytes(range(33, 127)) * (self.max_key // 94 + 1)
        lengths = sorted({1, 2, 200, 239, 240, 241, 254, 255, 256, 500, 510, 511, 512, self.max_key - 1, self.max_key})
        keys = [stem[:length] for length in lengths if length <= self.max_key]
        keys += [key[:-1] + bytes([key[-1] + 1]) for key in keys]
        written = {key: b"%d" % len(key) for key in keys}
        await store.set_many(P, written)
        assert list((await scanned(store)).items()) == sorted(written.items())
        for key in keys:
            assert await value_of(store, key) == written[key]
            rest = [entry.key async for page in store.scan(P, key, page=3) for entry in page]
            assert rest == [other for other in sorted(written) if other >= key]

    async def test_long_keys_can_be_swapped_and_deleted(self, store: Store) -> None:
        key = b"k" * self.max_key
        predicate = await store.set_if(P, key, b"one", ABSENT)
        await store.set_if(P, key, b"two", predicate)
        with pytest.raises(kv.PredicateFailed):
            await store.set_if(P, key, b"three", predicate)
        await store.set(P, key[:-1], b"neighbour")
        await store.delete(P, key)
        assert await scanned(store) == {key[:-1]: b"neighbour"}

    @pytest.mark.parametrize(
        ("start", "first"),
        [(b"", b"b"), (b"a", b"b"), (b"b", b"b"), (b"b\0", b"bb"), (b"bb", b"bb"), (b"c", b"d"), (b"d\0", None)],
    )
    async def test_a_scan_starts_at_its_start_or_after(self, store: Store, start: bytes, first: bytes | None) -> None:
        await store.set_many(P, {b"b": b"", b"bb": b"", b"d": b""})
        keys = [entry.key async for page in store.scan(P, start) for entry in page]
        assert (keys[0] if keys else None) == first

    async def test_a_scan_of_an_empty_partition_has_no_page(self, store: Store) -> None:
        assert [page async for page in store.scan(b"nothing here")] == []

    @pytest.mark.parametrize("page", [1, 2, 3, 7, 10, 11])
    async def test_pages_hold_at_least_one_and_at_most_as_many_as_asked(self, store: Store, page: int) -> None:
        written = {b"%02d" % number: b"x" for number in range(10)}
        await store.set_many(P, written)
        pages = [list(entries) async for entries in store.scan(P, page=page)]
        assert all(1 <= len(entries) <= page for entries in pages)
        assert [entry.key for entries in pages for entry in entries] == sorted(written)

    async def test_a_long_scan_shows_each_old_entry_once_while_others_are_written(self, store: Store) -> None:
        old = {b"old/%06d" % number: b"%d" % number for number in range(self.many)}
        for first in range(0, self.many, MAX_BULK):
            await store.set_many(P, dict(list(old.items())[first : first + MAX_BULK]))
        seen: list[bytes] = []
        async for page in store.scan(P):
            assert len(page) <= 1000
            seen += [entry.key for entry in page]
            if page[0].key in old:  # or the scan would chase what it writes for ever
                await store.set(P, page[0].key + b"/new", b"behind the scan")
                await store.set(P, page[-1].key + b"/new", b"just ahead of it")
                await store.set(P, b"older", b"far ahead")
        assert seen == sorted(seen)
        assert len(seen) == len(set(seen))
        assert [key for key in seen if key in old] == list(old)

    async def test_what_is_deleted_during_a_scan_disturbs_nothing_else(self, store: Store) -> None:
        keys = [b"%03d" % number for number in range(60)]
        await store.set_many(P, dict.fromkeys(keys, b""))
        seen: list[bytes] = []
        async for page in store.scan(P, page=7):
            seen += [entry.key for entry in page]
            await store.delete_many(P, [entry.key for entry in page])
        assert seen == keys
        assert await scanned(store) == {}

    async def test_a_scan_may_be_dropped_half_way(self, store: Store) -> None:
        await store.set_many(P, {b"%03d" % number: b"" for number in range(30)})
        for _ in range(50):
            pages = store.scan(P, page=5)
            assert len(await anext(pages)) == 5
        await store.set(P, b"after", b"works")
        assert await value_of(store, b"after") == b"works"

    # Partitions and tenants

    async def test_a_key_in_one_partition_is_not_in_another(self, store: Store) -> None:
        names = [b"a", b"aa", b"a\0", b"\0", b"\xff", b"b", b"/", b"a/b", "größe".encode(), b"p" * MAX_PARTITION]
        for name in names:
            await store.set(name, b"key", name)
            await store.set(name, b"own" + name[:20], b"")
        for name in names:
            assert await scanned(store, name) == {b"key": name, b"own" + name[:20]: b""}
        await store.delete(b"a", b"key")
        assert (await store.get(b"aa", b"key")) is not None

    async def test_tenants_see_nothing_of_each_other(self, uri: str, credentials: dict[str, str]) -> None:
        name = f"t{uuid4().hex}"
        async with (
            await kv.open(with_tenant(uri, name), credentials=credentials) as one,
            await kv.open(with_tenant(uri, name + "x"), credentials=credentials) as other,
            await kv.open(uri, credentials=credentials) as nameless,
        ):
            await one.set(P, b"key", b"mine")
            for stranger in (other, nameless):
                assert await stranger.get(P, b"key") is None
                assert await stranger.get(b"x" + P, b"key") is None
                assert await stranger.get(bytes([len(name)]) + name.encode() + P, b"key") is None
            await other.set(P, b"key", b"theirs")
            await other.delete(P, b"key")
            assert await value_of(one, b"key") == b"mine"

    async def test_a_refused_swap_speaks_of_the_callers_partition(self, store: Store) -> None:
        await store.set(P, b"key", b"value")
        for attempt in (
            store.set_if(P, b"key", b"", ABSENT),
            store.pipeline([SetIf(P, b"key", b"", ABSENT)]),
        ):
            with pytest.raises(kv.PredicateFailed) as refused:
                await attempt
            assert refused.value.partition == P

    async def test_a_tenant_has_a_plain_name(self, uri: str, credentials: dict[str, str]) -> None:
        for name in ["a%2Fb", "-x", "%00", "a%20b", "x" * (MAX_TENANT + 1)]:
            with pytest.raises(kv.CannotOpen, match="tenant"):
                await kv.open(with_tenant(uri, name), credentials=credentials)

    async def test_an_unknown_option_is_refused_by_name(self, uri: str, credentials: dict[str, str]) -> None:
        with pytest.raises(kv.CannotOpen, match="colour"):
            await kv.open(f"{uri}{'&' if '?' in uri else '?'}colour=blue", credentials=credentials)

    # Bulk

    async def test_get_many_answers_in_the_order_of_its_keys(self, store: Store) -> None:
        await store.set_many(P, {b"a": b"1", b"b": b"2", b"c": b"3"})
        found = await store.get_many(P, [b"c", b"nobody", b"a", b"c"])
        assert [None if versioned is None else versioned.value for versioned in found] == [b"3", None, b"1", b"3"]

    async def test_a_predicate_of_get_many_is_as_good_as_one_of_get(self, store: Store) -> None:
        await store.set(P, b"key", b"1")
        (found,) = await store.get_many(P, [b"key"])
        assert found is not None
        await store.set_if(P, b"key", b"2", found.predicate)
        with pytest.raises(kv.PredicateFailed):
            await store.set_if(P, b"key", b"3", found.predicate)

    async def test_set_many_replaces_and_ends_predicates(self, store: Store) -> None:
        predicate = await store.set_if(P, b"key", b"same", ABSENT)
        await store.set_many(P, {b"key": b"same", b"other": b""})
        with pytest.raises(kv.PredicateFailed):
            await store.set_if(P, b"key", b"new", predicate)

    async def test_bulk_calls_of_thousands(self, store: Store) -> None:
        count = min(self.many, 3_000)
        written = {b"%05d" % number: b"%d" % number for number in range(count)}
        await store.set_many(P, written)
        found = await store.get_many(P, list(reversed(written)))
        assert [versioned.value for versioned in found if versioned] == list(reversed(written.values()))
        await store.delete_many(P, [key for key in written if key != b"00007"] + [b"nobody"])
        assert await scanned(store) == {b"00007": b"7"}

    async def test_empty_bulk_calls_do_nothing(self, store: Store) -> None:
        assert await store.get_many(P, []) == []
        await store.set_many(P, {})
        await store.delete_many(P, [])
        await store.pipeline([])
        assert await scanned(store) == {}

    async def test_delete_many_takes_a_key_twice_and_an_absent_one(self, store: Store) -> None:
        await store.set_many(P, {b"a": b"", b"b": b""})
        await store.delete_many(P, [b"a", b"a", b"nobody"])
        assert await scanned(store) == {b"b": b""}

    async def test_racing_bulk_writes_over_the_same_keys_all_succeed(self, store: Store) -> None:
        keys = [b"%02d" % number for number in range(40)]
        orders = [keys, keys[::-1], keys[20:] + keys[:20], keys[::2] + keys[1::2]]
        await asyncio.gather(
            *(store.set_many(P, dict.fromkeys(order, b"%d" % writer)) for writer, order in enumerate(orders * 3))
        )
        assert list(await scanned(store)) == keys

    # Pipelines

    async def test_a_pipeline_runs_in_order(self, store: Store) -> None:
        await store.pipeline(
            [
                Set(P, b"key", b"1"),
                Set(b"other partition", b"key", b"elsewhere"),
                Delete(P, b"key"),
                SetIf(P, b"key", b"2", ABSENT),
                Set(P, b"last", b"3"),
            ]
        )
        assert await scanned(store) == {b"key": b"2", b"last": b"3"}
        assert await scanned(store, b"other partition") == {b"key": b"elsewhere"}

    async def test_a_pipeline_stops_at_the_first_failure_and_keeps_what_ran(self, store: Store) -> None:
        await store.set(P, b"taken", b"old")
        with pytest.raises(kv.PredicateFailed) as refused:
            await store.pipeline(
                [
                    Set(P, b"before", b""),
                    SetIf(P, b"taken", b"new", ABSENT),
                    Set(P, b"after", b""),
                    Delete(P, b"before"),
                ]
            )
        assert refused.value.key == b"taken"
        assert await scanned(store) == {b"before": b"", b"taken": b"old"}

    async def test_a_pipeline_checks_predicates_against_its_own_writes(self, store: Store) -> None:
        predicate = await store.set_if(P, b"key", b"1", ABSENT)
        with pytest.raises(kv.PredicateFailed):
            await store.pipeline([Set(P, b"key", b"2"), SetIf(P, b"key", b"3", predicate)])
        assert await value_of(store, b"key") == b"2"

    async def test_a_pipeline_swaps_by_predicate(self, store: Store) -> None:
        head = await store.set_if(P, b"head", b"0", ABSENT)
        await store.pipeline([Set(P, b"commit", b"1"), SetIf(P, b"head", b"1", head)])
        with pytest.raises(kv.PredicateFailed):
            await store.pipeline([Set(P, b"commit 2", b"2"), SetIf(P, b"head", b"2", head)])
        assert await value_of(store, b"head") == b"1"

    async def test_of_racing_pipelines_with_one_predicate_one_wins(self, store: Store) -> None:
        head = await store.set_if(P, b"head", b"start", ABSENT)
        outcomes = await asyncio.gather(
            *(
                store.pipeline([Set(P, b"commit %d" % racer, b""), SetIf(P, b"head", b"%d" % racer, head)])
                for racer in range(12)
            ),
            return_exceptions=True,
        )
        (winner,) = [racer for racer, outcome in enumerate(outcomes) if outcome is None]
        assert await value_of(store, b"head") == b"%d" % winner
        assert all(isinstance(outcome, kv.PredicateFailed) for outcome in outcomes if outcome is not None)

    # Limits

    async def test_the_largest_key_and_value_fit(self, store: Store) -> None:
        key, value = b"\x7f" * self.max_key, bytes(range(256)) * (self.max_value // 256)
        await store.set(b"p" * MAX_PARTITION, key, value)
        found = await store.get(b"p" * MAX_PARTITION, key)
        assert found is not None
        assert found.value == value
        await store.set_if(b"p" * MAX_PARTITION, key, value[::-1], found.predicate)
        assert await scanned(store, b"p" * MAX_PARTITION) == {key: value[::-1]}

    async def test_a_key_beyond_the_databases_own_limit_is_refused_not_cut(self, store: Store) -> None:
        if self.max_key == MAX_KEY:
            pytest.skip("this database takes every key of the contract")
        with pytest.raises(kv.LimitExceeded):
            await store.set(P, b"\x7f" * MAX_KEY, b"")
        assert await scanned(store) == {}

    async def test_a_value_beyond_the_databases_own_limit_is_refused_not_cut(self, store: Store) -> None:
        if self.max_value == MAX_VALUE:
            pytest.skip("this database takes every value of the contract")
        with pytest.raises(kv.LimitExceeded):
            await store.set(P, b"k" * self.max_key, b"x" * MAX_VALUE)
        assert await scanned(store) == {}

    async def test_what_is_beyond_the_contract_is_refused_and_changes_nothing(self, store: Store) -> None:
        long_key, long_value = b"k" * (MAX_KEY + 1), b"x" * (MAX_VALUE + 1)
        refused: list[Callable[[], Awaitable[object]]] = [
            lambda: store.set(P, long_key, b""),
            lambda: store.set(P, b"", b""),
            lambda: store.set(b"", b"key", b""),
            lambda: store.set(b"p" * (MAX_PARTITION + 1), b"key", b""),
            lambda: store.set(P, b"key", long_value),
            lambda: store.set_if(P, b"key", long_value, ABSENT),
            lambda: store.set_many(P, {b"key": b"", b"other": long_value}),
            lambda: store.set_many(P, dict.fromkeys((b"%d" % number for number in range(MAX_BULK + 1)), b"")),
            lambda: store.pipeline([Set(P, b"key", b""), Set(P, b"other", long_value)]),
            lambda: store.pipeline([Set(P, b"key", b""), Delete(P, long_key)]),
            lambda: store.get(P, long_key),
            lambda: store.get_many(P, [b"key", long_key]),
            lambda: store.delete(P, long_key),
            lambda: store.delete_many(P, [b"key", long_key]),
            lambda: anext(store.scan(P, long_key)),
            lambda: anext(store.scan(P, page=0)),
            lambda: anext(store.scan(P, page=MAX_PAGE + 1)),
        ]
        for call in refused:
            with pytest.raises(kv.LimitExceeded):
                await call()
        assert await scanned(store) == {}

    # Opening and closing

    async def test_what_was_written_is_there_when_opened_anew(
        self, tenant_uri: str, credentials: dict[str, str], store: Store
    ) -> None:
        if not self.survives_reopening:
            pytest.skip("this store ends with its last holder")
        await store.set(P, b"key", b"value")
        await store.aclose()
        async with await kv.open(tenant_uri, credentials=credentials) as again:
            assert await value_of(again, b"key") == b"value"

    async def test_one_opening_sees_at_once_what_another_wrote(
        self, tenant_uri: str, credentials: dict[str, str], store: Store
    ) -> None:
        if not self.survives_reopening:
            pytest.skip("each opening of this store is a store of its own")
        async with await kv.open(tenant_uri, credentials=credentials) as other:
            for number in range(20):
                await store.set(P, b"key", b"%d" % number)
                assert await value_of(other, b"key") == b"%d" % number

    async def test_closing_twice_is_fine_and_using_a_closed_store_is_an_error(self, store: Store) -> None:
        await store.aclose()
        await store.aclose()
        with pytest.raises(kv.StoreUnavailable, match="closed"):
            await store.get(P, b"key")

    # Everything together

    def test_it_behaves_like_a_dict(self, tenant_uri: str, credentials: dict[str, str]) -> None:
        check_against_model(tenant_uri, credentials, max_key=self.max_key, examples=self.examples)


def with_tenant(uri: str, tenant: str) -> str:
    return f"{uri}{'&' if '?' in uri else '?'}tenant={tenant}"


async def value_of(store: Store, key: bytes) -> bytes | None:
    found = await store.get(P, key)
    return None if found is None else found.value


async def predicate_of(store: Store, key: bytes) -> Predicate:
    found = await store.get(P, key)
    assert found is not None
    return found.predicate


async def scanned(store: Store, partition: bytes = P) -> dict[bytes, bytes]:
    """A whole partition, in the order of its scan."""
    return {entry.key: entry.value async for page in store.scan(partition) for entry in page}
