"""A worker cleans up behind the commits that were made through it, beside its work."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from headwater import blob, kv
from headwater.engine import write
from headwater.engine.commit import Description, commit
from headwater.engine.lake import Lake
from headwater.kv import Store, StoreUnavailable
from headwater.outside import real_outside
from headwater.server.logs import Log
from headwater.server.services import Repositories
from headwater.server.tidying import Upkeep
from headwater.staging.limits import TIDY_AFTER
from headwater.testing.counting import CountingStore


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Unreliable(CountingStore):
    """Is away when somebody begins to clean up, once."""

    failed = False

    def scan(self, partition: bytes, *arguments: object, **options: object) -> object:  # type: ignore[override]
        if not self.failed and arguments == (b"leaving/",):
            self.failed = True
            raise StoreUnavailable("it is away")
        return super().scan(partition, *arguments, **options)  # type: ignore[arg-type]


async def entries_under(store: Store, partition: bytes) -> int:
    return sum([len(page) async for page in store.scan(partition)])


@pytest.mark.anyio
async def test_what_was_committed_is_cleared_away_although_the_store_fails_now_and_then() -> None:
    now = [1_700_000_000_000]
    outside = msgspec.structs.replace(real_outside(), now=lambda: now[0])
    store = Unreliable(await kv.open("mem://"))
    lake = Lake(store, blob.open, outside)
    await lake.create("sales", "mem://")
    repositories = Repositories(lake, outside, immediate=True)
    repository = await repositories.get("sales")
    await write.put(repository, "main", "a", b"1")
    partition = b"stage/" + (await repository.branches.fresh("main")).branch.token.encode()
    await commit(repository, "main", Description("all", "ann", now[0]))
    assert await entries_under(store, partition) == 1
    upkeep = Upkeep(repositories, Log(), every=0)
    upkeep.start()
    async with asyncio.timeout(30):
        while await entries_under(store, partition):
            now[0] += int(TIDY_AFTER * 1000)
            await asyncio.sleep(0)
    await upkeep.aclose()
    assert store.failed
