"""What every driver of a database across a network must say when the network breaks, as tests to subclass."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from uuid import uuid4

import pytest

from headwater import kv
from headwater.kv import ABSENT, Delete, Operation, Set, SetIf, Store
from headwater.testing.kv_suite import P, scanned, value_of
from tests.kv.proxies import Fault, Proxy

LOST = [Fault.LOSE_ANSWER, Fault.RESET_INSTEAD_OF_ANSWER, Fault.LOSE_REQUEST]


def writes(store: Store) -> list[Callable[[], Awaitable[object]]]:
    """Every way to write a key that is not there."""
    return [
        lambda: store.set(P, b"key", b""),
        lambda: store.set_if(P, b"key", b"", ABSENT),
        lambda: store.delete(P, b"key"),
        lambda: store.set_many(P, {b"key": b""}),
        lambda: store.delete_many(P, [b"key"]),
        lambda: store.pipeline([Delete(P, b"key")]),
    ]


async def value_once_up(store: Store, key: bytes) -> bytes | None:
    async with asyncio.timeout(60):
        while True:
            with suppress(kv.StoreUnavailable):
                return await value_of(store, key)


async def write_once_up(store: Store, key: bytes, value: bytes) -> None:
    """For a store with little patience, which the machine may try when it has much to do."""
    async with asyncio.timeout(60):
        while await value_once_up(store, key) != value:
            with suppress(kv.StoreUnavailable, kv.UnknownOutcome):
                await store.set(P, key, value)


async def meeting(proxy: Proxy, fault: Fault, store: Store, write: Callable[[], Awaitable[object]]) -> None:
    """Have *write* meet *fault*: its outcome is unknown.

    A client that speaks between its requests, as gRPC does, may meet it before: then nothing was sent, and it says so.
    """
    async with asyncio.timeout(60):
        while True:
            await value_once_up(store, b"key")
            proxy.fault = fault
            try:
                await write()
            except kv.UnknownOutcome:
                break
            except kv.StoreUnavailable:
                continue
            finally:
                proxy.fault = Fault.NONE
            raise AssertionError("it met no fault")


async def once_noticed(write: Callable[[], Awaitable[object]]) -> None:
    """*write* to a server that is gone until that is noticed: whatever is sent before has an unknown outcome."""
    async with asyncio.timeout(60):
        while True:
            with pytest.raises((kv.StoreUnavailable, kv.UnknownOutcome)) as failed:
                await write()
            if isinstance(failed.value, kv.StoreUnavailable):
                return


class BrokenConnections(ABC):
    """Subclass it with a fixture `port`, and say how a store is opened through a port."""

    @abstractmethod
    async def opened(self, port: int, tenant: str, *, patience: float, connections: int) -> Store:
        """A store that is reached through *port* and waits *patience* seconds for an answer."""

    @pytest.fixture
    def port(self) -> int:
        """Where the server listens."""
        raise NotImplementedError

    @pytest.fixture
    def tenant(self) -> str:
        return f"t{uuid4().hex}"

    @pytest.fixture
    async def direct(self, port: int, tenant: str) -> AsyncIterator[Store]:
        """A store that no proxy disturbs."""
        async with await self.opened(port, tenant, patience=30, connections=2) as store:
            yield store

    @pytest.fixture
    async def proxy(self, port: int) -> AsyncIterator[Proxy]:
        async with Proxy(port) as proxy:
            yield proxy

    @pytest.fixture
    async def proxied(self, proxy: Proxy, tenant: str, direct: Store) -> AsyncIterator[Store]:  # noqa: ARG002  (made first)
        """The same store through the proxy, where every statement has been used before."""
        async with await self.opened(proxy.port, tenant, patience=30, connections=1) as store:
            for write in writes(store):
                await write()
                await store.delete(P, b"key")
            await store.set_if(P, b"key", b"", await store.set_if(P, b"key", b"", ABSENT))
            await store.get_many(P, [b"key"])
            await store.delete(P, b"key")
            assert await scanned(store) == {}
            yield store

    @pytest.mark.parametrize("fault", LOST)
    async def test_a_write_whose_answer_is_lost_has_an_unknown_outcome(
        self, proxied: Store, direct: Store, proxy: Proxy, fault: Fault
    ) -> None:
        held = await direct.set_if(P, b"key", b"old", ABSENT)
        await meeting(proxy, fault, proxied, lambda: proxied.set_if(P, b"key", b"new", held))
        assert await value_once_up(proxied, b"key") == (b"old" if fault is Fault.LOSE_REQUEST else b"new")

    @pytest.mark.parametrize("fault", LOST)
    async def test_every_kind_of_write_tells_that_its_outcome_is_unknown(
        self, proxied: Store, proxy: Proxy, fault: Fault
    ) -> None:
        for write in writes(proxied):
            await meeting(proxy, fault, proxied, write)

    @pytest.mark.parametrize("fault", LOST)
    async def test_a_read_whose_answer_is_lost_finds_the_store_unavailable_and_a_later_one_works(
        self, proxied: Store, proxy: Proxy, fault: Fault
    ) -> None:
        reads: list[Callable[[], Awaitable[object]]] = [
            lambda: proxied.get(P, b"key"),
            lambda: proxied.get_many(P, [b"key"]),
            lambda: scanned(proxied),
        ]
        for read in reads:
            proxy.fault = fault
            with pytest.raises(kv.StoreUnavailable):
                await read()
            proxy.fault = Fault.NONE
            assert await value_once_up(proxied, b"key") is None

    async def test_a_silent_server_is_not_waited_for_beyond_the_timeout(
        self, proxy: Proxy, tenant: str, direct: Store
    ) -> None:
        async with await self.opened(proxy.port, tenant, patience=1, connections=1) as store:
            await write_once_up(store, b"key", b"old")
            proxy.fault = Fault.SILENCE
            with pytest.raises(kv.UnknownOutcome):
                await store.set(P, b"key", b"new")
            with pytest.raises(kv.StoreUnavailable):
                await store.get(P, b"key")
            proxy.fault = Fault.NONE
            assert await value_once_up(store, b"key") == await value_of(direct, b"key")

    async def test_a_server_that_is_not_there_has_certainly_written_nothing(
        self, proxied: Store, proxy: Proxy, tenant: str
    ) -> None:
        """Once a client has noticed: a write sent before it did is in nobody's hands, and its outcome unknown."""
        await proxy.go_down()
        with pytest.raises(kv.StoreUnavailable):
            await proxied.get(P, b"key")
        for write in writes(proxied):
            await once_noticed(write)
        with pytest.raises(kv.StoreUnavailable):
            await self.opened(proxy.port, tenant, patience=1, connections=1)

    async def test_a_cancelled_write_disturbs_nobody(self, proxied: Store, proxy: Proxy) -> None:
        """It may have been applied, but what comes after it gets its own answers."""
        for _ in range(3):
            proxy.heard.clear()
            write = asyncio.create_task(proxied.set(P, b"cancelled", b""))
            await proxy.heard.wait()
            write.cancel()
            with suppress(asyncio.CancelledError):
                await write
            await proxied.set(P, b"key", b"value")
            assert await value_of(proxied, b"key") == b"value"


class BrokenConversations(BrokenConnections):
    """For clients that wait for each answer before they ask again, so that it can be counted how often they spoke."""

    async def test_a_swap_that_is_refused_leaves_its_connection_fit_for_the_next(
        self, proxied: Store, proxy: Proxy
    ) -> None:
        await proxied.set(P, b"key", b"value")
        spoken = proxy.requests
        for _ in range(10):
            with pytest.raises(kv.PredicateFailed):
                await proxied.set_if(P, b"key", b"", ABSENT)
        assert proxy.requests - spoken == 10

    async def test_every_call_is_one_round_trip(self, proxied: Store, proxy: Proxy) -> None:
        async def cost_of(call: Awaitable[object]) -> int:
            before = proxy.requests
            await call
            return proxy.requests - before

        few = {b"%d" % number: b"" for number in range(50)}
        assert await cost_of(proxied.set(P, b"a", b"1")) == 1
        assert await cost_of(proxied.set_if(P, b"b", b"1", ABSENT)) == 1
        assert await cost_of(proxied.get(P, b"a")) == 1
        assert await cost_of(proxied.delete(P, b"a")) == 1
        assert await cost_of(proxied.set_many(P, few)) == 1
        assert await cost_of(proxied.get_many(P, list(few))) == 1
        assert await cost_of(proxied.delete_many(P, list(few))) == 1
        pipeline: list[Operation] = [Set(P, b"c", b""), SetIf(P, b"d", b"", ABSENT), Delete(b"other", b"c")]
        assert await cost_of(proxied.pipeline(pipeline)) == 1
        assert await cost_of(scanned(proxied)) == 1
