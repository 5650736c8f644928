"""The names of repositories: taken once, given up, and taken again, whatever comes late and whoever crashes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from headwater import blob, kv
from headwater.drive import drive
from headwater.engine import read, write
from headwater.engine.errors import BadRequest, RepositoryExists, RepositoryNotFound
from headwater.engine.lake import REPOSITORIES, Lake
from headwater.engine.limits import MAX_METADATA
from headwater.kv import StoreError
from headwater.kv.drivers.memory import MemoryStore
from headwater.outside import Outside
from headwater.testing.faulty import FaultyStore
from headwater.testing.sim import Simulation, explore
from headwater.testing.toxics import ApplyLate, Delay, FailAfter, FailBefore
from tests.engine.lakes import lake_over, put

TOXICS = (Delay(0.3, 0.5), FailBefore(0.05), FailAfter(0.1), ApplyLate(0.1, 30.0))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def until_done(call: Callable[[], Awaitable[object]]) -> None:
    """Make *call* until it succeeds, or says that it was done before, by a try whose outcome was unknown."""
    tried = False
    while True:
        try:
            await call()
        except (RepositoryExists, RepositoryNotFound):
            assert tried, "said to be done already, at the first try"
        except StoreError:
            tried = True
            await asyncio.sleep(0.1)
            continue
        return


def coming_and_going(sim: Simulation) -> None:
    """A repository is made and deleted, again and again, and made once more; all requests have landed in the end."""
    memory = MemoryStore()
    faulty = FaultyStore(memory, sim.random, TOXICS, note=sim.note)
    outside = Outside(
        now=lambda: 1_700_000_000_000 + int(sim.time * 1000),
        elapsed=lambda: sim.time,
        random=sim.random.randbytes,
        sleep=asyncio.sleep,
    )
    lake = Lake(faulty, blob.open, outside)

    async def client() -> None:
        for _ in range(4):
            await until_done(lambda: lake.create("sales", "mem://"))
            await until_done(lambda: lake.delete("sales"))
        await until_done(lambda: lake.create("sales", "mem://"))

    sim.spawn("client", client())
    sim.run()
    found = sim.spawn("who looks", Lake(memory, blob.open, outside).open("sales"))
    sim.run()
    assert drive(found.result().branches.fresh("main")).branch.commit


def test_no_belated_deletion_hits_the_repository_that_took_the_name() -> None:
    explore(coming_and_going, range(150))


@pytest.mark.anyio
async def test_a_name_that_was_given_up_is_free_and_leads_to_another_repository() -> None:
    lake = lake_over(await kv.open("mem://"))
    before = await lake.create("sales", "mem://")
    await put(before, a="1")
    await lake.delete("sales")
    with pytest.raises(RepositoryNotFound):
        await lake.open("sales")
    with pytest.raises(RepositoryNotFound):
        await lake.delete("sales")
    with pytest.raises(RepositoryNotFound):
        await lake.set_metadata("sales", {"k": "v"})
    assert await lake.list() == []
    after = await lake.create("sales", "mem://")
    assert [record.name for record in await lake.list()] == ["sales"]
    assert after.record.id != before.record.id
    assert await read.list_entries(after, "main") == []


@pytest.mark.anyio
async def test_who_takes_a_name_clears_away_what_a_deleter_that_crashed_has_left() -> None:
    store = await kv.open("mem://")
    lake = lake_over(store)
    repository = await lake.create("sales", "mem://")
    await write.put(repository, "main", "a", b"1")
    token = (await repository.branches.fresh("main")).branch.token

    class CrashesAfterTheSwap(kv.Store):
        """Lets nothing through once the name is given up."""

        get, set, scan = store.get, store.set, store.scan

        async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: kv.Predicate) -> kv.Predicate:
            assert partition == REPOSITORIES
            await store.set_if(partition, key, value, predicate)
            raise KeyboardInterrupt

        async def delete(self, partition: bytes, key: bytes) -> None:
            raise AssertionError((partition, key))

    with pytest.raises(KeyboardInterrupt):
        await lake_over(CrashesAfterTheSwap()).delete("sales")
    assert [page async for page in store.scan(b"stage/" + token.encode())]
    await lake.create("sales", "mem://")
    assert [page async for page in store.scan(b"stage/" + token.encode())] == []
    assert [page async for page in store.scan(repository.partition)] == []


@pytest.mark.anyio
async def test_metadata_that_is_too_large_is_refused_from_the_beginning() -> None:
    lake = lake_over(await kv.open("mem://"))
    large = {"k": "v" * MAX_METADATA}
    with pytest.raises(BadRequest, match=str(MAX_METADATA)):
        await lake.create("sales", "mem://", metadata=large)
    assert await lake.list() == []
    await lake.create("sales", "mem://")
    with pytest.raises(BadRequest, match=str(MAX_METADATA)):
        await lake.set_metadata("sales", large)
