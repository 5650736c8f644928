"""`mem://`, the store that needs nothing."""

from __future__ import annotations

import pytest

from headwater import blob
from headwater.drive import drive
from headwater.testing.blob_suite import BlobStoreSuite


class TestMemory(BlobStoreSuite):
    signs = False
    holds_streams = True

    @pytest.fixture
    def uri(self) -> str:
        return "mem://suite"


def test_without_an_event_loop_everything_runs_in_place() -> None:
    async def use() -> bytes:
        async with await blob.open("mem://") as store:
            await store.put("object", b"hello")
            return await store.read("object")

    assert drive(use()) == b"hello"
