"""What growing files cost in round trips and requests, at any length of the file and of the history."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from headwater import blob, kv
from headwater.engine import read, write
from headwater.engine.commit import commit
from headwater.engine.lake import Lake
from headwater.engine.repository import Repository
from headwater.files.append import append
from headwater.files.history import path_history
from headwater.files.ranges import read_file
from headwater.outside import real_outside
from headwater.testing.counting import CountingStore, Trips
from headwater.testing.counting_blobs import CountingBlobs, Requests
from tests.files.worlds import description

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


class World:
    """A file that was appended to so many times, a commit each, over stores that count."""

    def __init__(self, keys: CountingStore, blobs: CountingBlobs, repository: Repository, commits: list[str]) -> None:
        self.keys = keys
        self.blobs = blobs
        self.repository = repository
        self.commits = commits

    async def cost(self, call: Callable[[], Awaitable[object]]) -> tuple[Trips, Requests]:
        with self.keys.counted() as trips, self.blobs.counted() as requests:
            await call()
        return trips, requests


@pytest.fixture(scope="module", params=[3, 400])
async def world(request: pytest.FixtureRequest, anyio_backend: str) -> World:  # noqa: ARG001  (the loop it runs in)
    keys = CountingStore(await kv.open("mem://"))
    blobs = CountingBlobs(await blob.open("mem://"))

    async def open_blobs(_: str) -> blob.BlobStore:
        return blobs

    repository = await Lake(keys, open_blobs, real_outside()).create("budgets", "mem://", mode="append")
    commits = []
    for number in range(request.param):
        await append(repository, "main", "log", b"%04d" % number)
        if number % 100 == 0:
            await append(repository, "main", "seldom", b"x")
        commits.append((await commit(repository, "main", description())).id)
    return World(keys, blobs, repository, commits)


async def test_an_append_is_the_same_as_a_put_one_upsert_and_the_file_is_not_read(world: World) -> None:
    await append(world.repository, "main", "log", b"the first after the commit")
    for write_one in (
        lambda: append(world.repository, "main", "log", b"appended"),
        lambda: write.put(world.repository, "main", "other", b"put"),
    ):
        assert await world.cost(write_one) == (Trips(set=1, get=1), Requests(put=1))


async def test_a_look_at_a_branch_with_appends_is_one_scan_of_staging(world: World) -> None:
    await append(world.repository, "main", "log", b"x")
    trips, requests = await world.cost(lambda: read.stat(world.repository, "main", "log"))
    assert (trips, requests) == (Trips(get=1, scan=1), Requests())


async def test_a_commit_of_appends_is_four_trips(world: World) -> None:
    for _ in range(3):
        await append(world.repository, "main", "log", b"x")
    await append(world.repository, "main", "another", b"x")
    trips, requests = await world.cost(lambda: commit(world.repository, "main", description()))
    assert trips == Trips(get=1, set_if=1, scan=1, pipeline=1)
    assert requests.put <= 2  # a list of blocks now and then
    assert requests == Requests(put=requests.put)


async def test_a_range_is_found_without_a_scan_and_only_its_blocks_are_read(world: World) -> None:
    repository, last = world.repository, world.commits[-1]

    async def two_blocks() -> None:
        reading = await read_file(repository, "log", since=world.commits[-3], until=last)
        assert len([chunk async for chunk in reading.chunks]) == 2

    trips, requests = await world.cost(two_blocks)
    assert trips.scan == 0
    assert trips.total <= 5  # the commits and what they inherit
    assert requests == Requests(get=requests.get)
    assert requests.get <= 2 + 3  # two blocks, and a list of each level that is not at hand


async def test_a_byte_range_reads_the_blocks_that_it_needs(world: World) -> None:
    async def four_bytes() -> None:
        reading = await read.get(world.repository, world.commits[-1], "log", start=6, end=9)
        assert b"".join([chunk async for chunk in reading.chunks]) == b"010"

    await four_bytes()
    _, requests = await world.cost(four_bytes)
    assert requests == Requests(get=2)


async def test_the_history_of_a_path_costs_its_touches(world: World) -> None:
    page = await path_history(world.repository, world.commits[-1], "seldom")
    assert [each.id for each in page.commits] == list(reversed(world.commits[::100]))
    trips, requests = await world.cost(lambda: path_history(world.repository, world.commits[-1], "seldom"))
    assert trips.scan <= 4  # two for the incarnation; on a store in memory each ends with a page of one
    assert (trips.total, requests) == (trips.scan + trips.get + trips.get_many, Requests())
    assert trips.get_many <= 1
