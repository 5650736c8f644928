"""Ingesting: a directory of a branch is what a place is, and each time the difference is one commit."""

from __future__ import annotations

from random import Random

import pytest

from headwater import blob, kv
from headwater.engine import ingesting, read, write
from headwater.engine.commit import commit
from headwater.engine.errors import BadRequest
from headwater.engine.ingesting import Source, ingest, plan_ingest
from headwater.engine.lake import Lake
from headwater.engine.repository import Repository
from headwater.index import Entry
from headwater.outside import real_outside
from headwater.staging.errors import NothingToCommit
from tests.engine.lakes import description

pytestmark = pytest.mark.anyio


class World:
    """A place that somebody fills, and a repository that follows it."""

    def __init__(self, place: blob.BlobStore, repository: Repository) -> None:
        self.place = place
        self.repository = repository
        self.source = Source("mem://place/kafka", "events")

    async def there(self) -> dict[str, int]:
        found: dict[str, int] = {}
        after = ""
        while page := await read.list_entries(self.repository, "main@", prefix="events/", after=after):
            found |= {each.key.removeprefix("f/events/"): each.size for each in page if isinstance(each, Entry)}
            after = page[-1].key.removeprefix("f/")
        return found


@pytest.fixture
async def world() -> World:
    stores = {name: await blob.open("mem://") for name in ("place", "own")}

    async def open_blobs(uri: str) -> blob.BlobStore:
        return stores["place" if uri.startswith("mem://place") else "own"]

    repository = await Lake(await kv.open("mem://"), open_blobs, real_outside()).create("events", "mem://own")
    return World(stores["place"], repository)


@pytest.mark.parametrize("step", [1 << 20, 100])
async def test_whatever_happens_there_is_one_commit_and_nothing_is_none(
    world: World, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingesting, "IMPORT_STEP", step)
    random = Random(step)  # noqa: S311  (nothing is secret here)
    expected: dict[str, int] = {}
    await write.put(world.repository, "main", "events-beside", b"not below")
    await commit(world.repository, "main", description())
    for _ in range(5):
        new = {f"{random.randrange(40):02d}/{random.randrange(100)}": random.randrange(1, 50) for _ in range(250)}
        gone = random.sample(sorted(expected), len(expected) // 4)
        await world.place.delete_many(gone)
        for path, size in new.items():
            await world.place.put(path, bytes(size))
        before = dict(expected)
        expected = {path: size for path, size in expected.items() if path not in gone} | new
        plan = await plan_ingest(world.repository, "main", world.source)
        assert (plan.listed, plan.added) == (len(expected), len(expected.keys() - before.keys()))
        assert plan.removed == len(before.keys() - expected.keys())
        told = [change.key for change in plan.changes()]
        assert told == sorted(told)
        assert len(told) == plan.added + plan.changed + plan.removed
        made = await ingest(world.repository, "main", world.source, description())
        assert await world.there() == expected
        with pytest.raises(NothingToCommit):
            await ingest(world.repository, "main", world.source, description())
        assert (await world.repository.branches.fresh("main")).branch.commit == made.id
    assert (await read.stat(world.repository, "main", "events-beside")).size == 9


async def test_an_object_that_is_never_rewritten_is_not_compared(world: World) -> None:
    await world.place.put("a", b"1")
    await ingest(world.repository, "main", world.source, description())
    await world.place.put("a", b"1")  # in memory each write has an etag of its own
    assert (await plan_ingest(world.repository, "main", world.source)).changed == 1
    immutable = Source(world.source.uri, world.source.directory, immutable=True)
    assert (await plan_ingest(world.repository, "main", immutable)).changed == 0


async def test_a_source_is_a_uri_without_options(world: World) -> None:
    for uri in ("kafka/", "s3://bucket/kafka?region=x"):
        with pytest.raises(BadRequest, match="source"):
            await plan_ingest(world.repository, "main", Source(uri, "events"))
