"""`mem://`, the store that everything else is compared with."""

from __future__ import annotations

import pytest

from headwater import kv
from headwater.testing.kv_suite import KVStoreSuite


class TestMemory(KVStoreSuite):
    survives_reopening = False
    shared_between_processes = False

    @pytest.fixture
    def uri(self) -> str:
        return "mem://"


class TestNamedMemory(KVStoreSuite):
    shared_between_processes = False

    @pytest.fixture
    def uri(self) -> str:
        return "mem://shared"


@pytest.mark.anyio
async def test_a_named_memory_is_one_store_for_all_who_hold_it() -> None:
    async with await kv.open("mem://lake") as one, await kv.open("mem://lake") as other:
        await one.set(b"partition", b"key", b"value")
        assert await other.get(b"partition", b"key") == await one.get(b"partition", b"key") is not None
    async with await kv.open("mem://another") as stranger:
        assert await stranger.get(b"partition", b"key") is None
