"""A day in the life of a repository, on every database and object store there is: small, and the whole way through."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from uuid import uuid4

import msgspec
import pytest

from dev.servers import azurite, bigtable, cassandra, dynamodb, etcd, hbase, mariadb, postgresql, redis, versitygw
from headwater import blob, kv
from headwater.engine import branches, commit, compaction, conditional, diff, log, merge, read, reset, write
from headwater.engine.commit import Description
from headwater.engine.errors import MergeConflict, PreconditionFailed
from headwater.engine.lake import Lake
from headwater.engine.paths import path_of
from headwater.engine.repository import Repository
from headwater.index import Change, Entry, Strategy
from headwater.outside import real_outside
from headwater.staging.errors import NothingToCommit
from tests.conftest import Servers


class Place(msgspec.Struct, frozen=True):
    """Where records and objects are kept."""

    keys: str
    objects: str
    credentials: dict[str, str] = {}


def embedded(_: Servers, directory: Path) -> Place:
    return Place(f"lmdb://{directory}/kv", f"file://{directory}/objects")


def on_postgresql(servers: Servers, directory: Path) -> Place:
    server = servers.start("postgresql", postgresql.serve)
    return Place(f"{server.uri}?tenant=t{uuid4().hex}", f"file://{directory}/objects", server.credentials)


def on_mysql(servers: Servers, directory: Path) -> Place:
    server = servers.start("mariadb", mariadb.serve)
    return Place(f"{server.uri}?tenant=t{uuid4().hex}", f"file://{directory}/objects", server.credentials)


def on_redis(servers: Servers, directory: Path) -> Place:
    server = servers.start("redis", redis.serve)
    return Place(f"{server.uri}?tenant=t{uuid4().hex}", f"file://{directory}/objects", server.credentials)


def on_etcd(servers: Servers, directory: Path) -> Place:
    port = servers.start("etcd", etcd.serve)
    return Place(f"etcd://127.0.0.1:{port}?tenant=t{uuid4().hex}", f"file://{directory}/objects")


def on_dynamodb(servers: Servers, directory: Path) -> Place:
    endpoint = servers.start("dynamodb", dynamodb.serve)
    login = {"access_key_id": "tests", "secret_access_key": "tests"}
    uri = f"dynamodb://engine?region=eu-west-1&endpoint={endpoint}&tenant=t{uuid4().hex}"
    return Place(uri, f"file://{directory}/objects", login)


def on_bigtable(servers: Servers, directory: Path) -> Place:
    endpoint = servers.start("bigtable", bigtable.serve)
    uri = f"bigtable://tests/emulated/engine?endpoint={endpoint}&tenant=t{uuid4().hex}"
    return Place(uri, f"file://{directory}/objects")


def on_cassandra(servers: Servers, directory: Path) -> Place:
    server = servers.start("cassandra", cassandra.serve)
    return Place(f"{server.uri}&tenant=t{uuid4().hex}", f"file://{directory}/objects", server.credentials)


def on_hbase(servers: Servers, directory: Path) -> Place:
    port = servers.start("hbase", hbase.serve).port
    return Place(f"hbase://127.0.0.1:{port}/engine?tenant=t{uuid4().hex}", f"file://{directory}/objects")


def on_s3_alone(servers: Servers, _: Path) -> Place:
    server = servers.start("versitygw", versitygw.serve)
    server.make_bucket("engine")
    login = {"access_key_id": server.access_key_id, "secret_access_key": server.secret_access_key}
    place = f"region=us-east-1&endpoint={server.endpoint}"
    lake = uuid4().hex
    return Place(f"s3://engine/{lake}/kv?{place}", f"s3://engine/{lake}/objects?{place}", login)


def on_azure_alone(servers: Servers, _: Path) -> Place:
    server = servers.start("azurite", azurite.serve)
    container = f"engine{uuid4().hex}"
    server.make_container(container)
    place = f"account={server.account}&endpoint={server.endpoint}"
    login = {"account_key": server.account_key}
    return Place(f"az://{container}/kv?{place}", f"az://{container}/objects?{place}", login)


def in_a_directory_alone(_: Servers, directory: Path) -> Place:
    return Place(f"file://{directory}/kv", f"file://{directory}/objects")


PLACES = [
    embedded,
    in_a_directory_alone,
    on_postgresql,
    on_mysql,
    on_redis,
    on_etcd,
    on_dynamodb,
    on_bigtable,
    on_s3_alone,
    on_azure_alone,
]
SLOW = [on_cassandra, on_hbase]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(
    params=[*PLACES, *(pytest.param(place, marks=pytest.mark.slow) for place in SLOW)],
    ids=lambda place: place.__name__,
)
def place(request: pytest.FixtureRequest, servers: Servers, tmp_path: Path) -> Place:
    where: Callable[[Servers, Path], Place] = request.param
    return where(servers, tmp_path)


@pytest.fixture
async def lake(place: Place) -> AsyncIterator[Lake]:
    async def open_blobs(uri: str) -> blob.BlobStore:
        login = place.credentials if uri.startswith(("s3:", "az:")) else None
        return await blob.open(uri, credentials=login)

    lake = Lake(await kv.open(place.keys, credentials=place.credentials), open_blobs, real_outside())
    yield lake
    await lake.aclose()


def said(message: str) -> Description:
    return Description(message, "tests", 1_700_000_000_000)


async def paths(repository: Repository, ref: str) -> list[str]:
    return [path_of(entry.key) for entry in await read.list_entries(repository, ref) if isinstance(entry, Entry)]


async def content(repository: Repository, ref: str, path: str) -> bytes:
    reading = await read.get(repository, ref, path)
    return b"".join([chunk async for chunk in reading.chunks])


async def changes(repository: Repository, left: str, right: str) -> list[tuple[str, str]]:
    found = await diff.diff(repository, left, right)
    return [(path_of(change.key), change.type) for change in found if isinstance(change, Change)]


@pytest.mark.anyio
async def test_a_day_in_the_life_of_a_repository(lake: Lake, place: Place) -> None:
    repository = await lake.create("rivers", place.objects)

    await write.put(repository, "main", "raw/rhine.csv", b"1,Rhine\n")
    await write.put(repository, "main", "raw/danube.csv", b"2,Danube\n")
    assert await paths(repository, "main") == ["raw/danube.csv", "raw/rhine.csv"]
    first = await commit.commit(repository, "main", said("two rivers"))
    with pytest.raises(NothingToCommit):
        await commit.commit(repository, "main", said("nothing"))

    await branches.create_branch(repository, "dev", "main")
    await write.put(repository, "dev", "raw/rhine.csv", b"1,Rhine,1230 km\n")
    await write.delete(repository, "dev", ["raw/danube.csv"])
    await write.copy(repository, "dev", "clean/rhine.csv", "dev", "raw/rhine.csv")
    await compaction.compact(repository, "dev")
    await write.put(repository, "dev", "raw/elbe.csv", b"3,Elbe\n")
    assert await paths(repository, "dev") == ["clean/rhine.csv", "raw/elbe.csv", "raw/rhine.csv"]
    await commit.commit(repository, "dev", said("lengths"))
    expected = [("clean/rhine.csv", "added"), ("raw/danube.csv", "removed"), ("raw/elbe.csv", "added")]
    assert await changes(repository, "main", "dev") == [*expected, ("raw/rhine.csv", "changed")]

    await write.put(repository, "main", "raw/rhine.csv", b"1,Rhine,1233 km\n")
    await commit.commit(repository, "main", said("another length"))
    with pytest.raises(MergeConflict):
        await merge.merge(repository, "dev", "main", said("merge"))
    merged = await merge.merge(repository, "dev", "main", said("merge"), strategy=Strategy.SOURCE_WINS)
    assert len(merged.parents) == 2
    assert await content(repository, "main", "clean/rhine.csv") == b"1,Rhine,1230 km\n"
    assert await content(repository, first.id, "raw/danube.csv") == b"2,Danube\n"
    assert await content(repository, "main~1", "raw/rhine.csv") == b"1,Rhine,1233 km\n"

    await merge.revert(repository, "main", "main", said("undo"), parent=1)
    assert await changes(repository, "main~2", "main") == []
    await branches.create_tag(repository, "v1", "main~1", message="with lengths")
    assert await paths(repository, "v1") == await paths(repository, merged.id)

    await write.put(repository, "main", "oops", b"")
    await reset.reset(repository, "main")
    assert "oops" not in await paths(repository, "main")
    await reset.hard_reset(repository, "main", first.id)
    assert await changes(repository, first.id, "main") == []

    page = await log.log(repository, "v1", paths=["raw/"])
    assert [found.message for found in page.commits] == ["merge", "another length", "two rivers"]


@pytest.mark.anyio
async def test_committers_at_once_lose_nothing(lake: Lake, place: Place) -> None:
    """Three engines over one store, as three processes would be: no lane is shared between them."""
    await lake.create("shared", place.objects)
    engines = [await lake.open("shared") for _ in range(3)]

    async def work(number: int, repository: Repository) -> list[str]:
        landed = []
        for step in range(4):
            await write.put(repository, "main", f"{number}/{step}", b"x")
            try:
                landed.append((await commit.commit(repository, "main", said(f"{number} {step}"))).id)
            except NothingToCommit:  # another one took it along
                continue
        return landed

    landed = await asyncio.gather(*(work(number, engine) for number, engine in enumerate(engines)))
    head = (await engines[0].branches.fresh("main")).branch
    assert set(await paths(engines[0], head.commit)) == {f"{number}/{step}" for number in range(3) for step in range(4)}
    history = [found.id for found in (await log.log(engines[0], "main")).commits]
    assert {identity for one in landed for identity in one} == set(history[:-1])


@pytest.mark.anyio
async def test_of_puts_that_expect_nothing_there_one_succeeds(lake: Lake, place: Place) -> None:
    repository = await lake.create("conditional", place.objects)
    absent = conditional.IfAbsent()
    outcomes = await asyncio.gather(
        *(write.put(repository, "main", "only/one", b"%d" % number, condition=absent) for number in range(6)),
        return_exceptions=True,
    )
    (winner,) = [number for number, outcome in enumerate(outcomes) if isinstance(outcome, Entry)]
    assert sum(isinstance(outcome, PreconditionFailed) for outcome in outcomes) == 5
    assert await content(repository, "main", "only/one") == b"%d" % winner
