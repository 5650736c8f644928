"""The SDK on stores that truly wait: PostgreSQL and S3, through their real servers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pandas as pd
import pytest

import headwater
from dev.servers import postgresql, versitygw
from headwater import aio, blob
from headwater.sdk.sync import Lake
from tests.conftest import Servers

LARGE = bytes(range(251)) * 80_000


@pytest.fixture
def bucket(servers: Servers) -> versitygw.S3:
    server = servers.start("versitygw", versitygw.serve)
    server.make_bucket("sdk")
    return server


@pytest.fixture
def login(bucket: versitygw.S3) -> dict[str, str]:
    return {"access_key_id": bucket.access_key_id, "secret_access_key": bucket.secret_access_key}


@pytest.fixture
def storage(bucket: versitygw.S3) -> str:
    return f"s3://sdk/{uuid4().hex}?region=us-east-1&endpoint={bucket.endpoint}"


@pytest.fixture(params=["postgresql", "lmdb"])
def lake(
    request: pytest.FixtureRequest, servers: Servers, tmp_path: Path, storage: str, login: dict[str, str]
) -> Iterator[Lake]:
    if request.param == "postgresql":
        server = servers.start("postgresql", postgresql.serve)
        kv, kv_login = f"{server.uri}?tenant=t{uuid4().hex}", server.credentials
    else:
        kv, kv_login = f"lmdb://{tmp_path}/kv?durability=os", None
    with headwater.open(kv=kv, storage=storage, kv_credentials=kv_login, storage_credentials=login) as opened:
        yield opened


def test_a_day_in_a_repository(lake: Lake) -> None:
    repo = lake.create_repo("sales")
    main = repo.branch("main")
    main.put("a", b"1")
    main.commit("first")
    dev = repo.create_branch("dev", source="main")
    with dev.open("large", "wb") as file:
        for start in range(0, len(LARGE), 1_000_000):
            file.write(LARGE[start : start + 1_000_000])
    with dev.open("large") as read:
        dev.put("again", read)
        assert read.read() == b""
    with pytest.raises(ZeroDivisionError), dev.open("large", "wb") as file:
        file.write(bytes(len(LARGE) // 0 if file.write(LARGE) else 0))
    assert [(change.path, change.type) for change in dev.diff()] == [("again", "added"), ("large", "added")]
    dev.commit("second")
    dev.merge_into("main")
    assert main.get("again") == LARGE
    assert main.as_arrow().column("path").to_pylist() == ["a", "again", "large"]
    assert [commit.message for commit in main.log(paths=["large"])] == ["Merge 'dev'"]
    assert repo.check().sound


def test_a_notebook_can_use_it(lake: Lake) -> None:
    async def notebook() -> bytes:
        main = lake.create_repo("sales").branch("main")
        main.put("a", iter([b"1", b"2"]))
        return main.get("a")

    assert asyncio.run(notebook()) == b"12"


def test_how_the_storage_is_reached_is_not_recorded(lake: Lake) -> None:
    assert "endpoint" not in lake.create_repo("sales").namespace


def test_an_object_of_the_same_kind_is_reached_like_the_storage(
    lake: Lake, storage: str, login: dict[str, str]
) -> None:
    async def put_outside() -> None:
        async with await blob.open(storage, credentials=login) as store:
            await store.put("outside/a", b"from outside")

    asyncio.run(put_outside())
    main = lake.create_repo("sales").branch("main")
    address = f"{storage.partition('?')[0]}/outside/"
    main.link("linked", f"{address}a", size=12)
    main.import_prefix(address, "in/")
    assert main.get("linked") == main.get("in/a") == b"from outside"


def test_an_object_elsewhere_is_not_shown_the_credentials(lake: Lake, bucket: versitygw.S3) -> None:
    """The same server under another name: it is reached, but by nobody that it knows."""
    elsewhere = bucket.endpoint.replace("127.0.0.1", "localhost")
    assert elsewhere != bucket.endpoint
    repo = lake.create_repo("sales", namespace=f"s3://sdk/other?region=us-east-1&endpoint={elsewhere}")
    with pytest.raises(headwater.HeadwaterError):
        repo.branch("main").put("a", b"1")


def test_files_are_read_and_written_by_name(lake: Lake) -> None:
    lake.create_repo("sales")
    frame = pd.DataFrame({"id": [1, 2]})
    frame.to_parquet("hw://sales/main/a.parquet", storage_options={"lake": lake})
    assert pd.read_parquet("hw://sales/main/a.parquet", storage_options={"lake": lake}).equals(frame)


@pytest.mark.anyio
async def test_the_face_that_awaits(servers: Servers, storage: str, login: dict[str, str]) -> None:
    server = servers.start("postgresql", postgresql.serve)
    kv = f"{server.uri}?tenant=t{uuid4().hex}"
    opening = aio.open(kv=kv, storage=storage, kv_credentials=server.credentials, storage_credentials=login)
    async with await opening as lake:
        main = (await lake.create_repo("sales")).branch("main")
        await asyncio.gather(*(main.put(f"{number}", LARGE[:1000]) for number in range(20)))
        await main.commit("first")
        assert len([entry async for entry in main.list()]) == 20
