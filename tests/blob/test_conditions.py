"""A store that breaks its word on conditional puts is found out, in whichever way it does."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator

import pytest

from headwater import blob
from headwater.blob.conditions import conditions_hold
from headwater.drive import drive
from tests.blob.pretender import Pretender, pretending

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Iterator[Pretender]:
    with pretending() as server:
        yield server


@pytest.fixture
async def store(server: Pretender) -> AsyncIterator[blob.BlobStore]:
    login = {"access_key_id": "id", "secret_access_key": "secret"}
    async with await blob.open(server.uri, credentials=login) as store:
        yield store


async def test_an_honest_endpoint_passes(server: Pretender, store: blob.BlobStore) -> None:
    await conditions_hold(store, "probe")
    assert server.objects == {}


@pytest.mark.parametrize("ignored", ["If-Match", "If-None-Match"])
async def test_an_endpoint_that_ignores_a_condition_is_refused(
    server: Pretender, store: blob.BlobStore, ignored: str
) -> None:
    server.heeds.discard(ignored)
    with pytest.raises(blob.CannotOpen, match=ignored):
        await conditions_hold(store, "probe")
    assert server.objects == {}


async def test_an_endpoint_that_heeds_conditions_except_in_a_race_is_refused(
    server: Pretender, store: blob.BlobStore
) -> None:
    server.meeting = threading.Barrier(2)
    with pytest.raises(blob.CannotOpen, match="racing"):
        await conditions_hold(store, "probe")
    assert server.objects == {}


async def test_an_endpoint_without_conditions_is_refused(server: Pretender, store: blob.BlobStore) -> None:
    server.trouble = "not implemented"
    with pytest.raises(blob.CannotOpen, match="conditional"):
        await conditions_hold(store, "probe")


async def test_an_endpoint_that_is_down_is_not_taken_for_a_liar(server: Pretender, store: blob.BlobStore) -> None:
    server.trouble = "slow down"
    with pytest.raises(blob.SlowDown):
        await conditions_hold(store, "probe")


def test_without_an_event_loop_conditions_are_tried_one_by_one() -> None:
    async def probe() -> None:
        async with await blob.open("mem://") as store:
            await conditions_hold(store, "probe")
            assert await store.stat("probe") is None

    drive(probe())
