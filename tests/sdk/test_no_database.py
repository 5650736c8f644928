"""A lake with no database at all: records and objects in one directory, or in one bucket, of which all are equals."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

import boto3  # type: ignore[import-untyped]  # it has no types
import msgspec
import pytest

import headwater
from dev.servers import versitygw
from headwater.sdk.sync import Lake
from tests.conftest import Servers

COMMITTER = """
import contextlib, sys, msgspec, headwater
told = msgspec.json.decode(sys.argv[1])
with headwater.open(**told["lake"]) as lake:
    main = lake.repo("sales").branch("main")
    for number in range(told["commits"]):
        path = f"{told['name']}/{number}"
        if number % 2:
            main.put(path, path.encode())
            with contextlib.suppress(headwater.NothingToCommit):  # a commit that began later took it along
                main.commit(path)
        else:
            workspace = headwater.Workspace(main)
            workspace.put(path, path.encode())
            workspace.all().commit(path, retry=True)
"""


class Place(msgspec.Struct, frozen=True):
    """Where a lake is, as `headwater.open` is told."""

    arguments: Mapping[str, object]

    def open(self) -> Lake:
        return headwater.open(**self.arguments)  # type: ignore[arg-type]  # as they are told


@pytest.fixture
def directory(tmp_path: Path) -> Place:
    return Place({"kv": f"file://{tmp_path}/kv?durability=os", "storage": f"file://{tmp_path}/objects?durability=os"})


@pytest.fixture
def server(servers: Servers) -> versitygw.S3:
    server = servers.start("versitygw", versitygw.serve)
    server.make_bucket("lakes")
    return server


@pytest.fixture
def bucket(server: versitygw.S3) -> Place:
    uri = f"s3://lakes/{uuid4().hex}"
    options = f"region=us-east-1&endpoint={server.endpoint}"
    login = {"access_key_id": server.access_key_id, "secret_access_key": server.secret_access_key}
    return Place(
        {
            "kv": f"{uri}/kv?{options}",
            "storage": f"{uri}/objects?{options}",
            "kv_credentials": login,
            "storage_credentials": login,
        }
    )


def committed_by(place: Place, processes: int, commits: int) -> None:
    """So many processes commit to one branch at once, each on its own machine for all they know."""
    running = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                COMMITTER,
                msgspec.json.encode({"lake": place.arguments, "name": f"p{number}", "commits": commits}),
            ],
            stderr=subprocess.PIPE,
        )
        for number in range(processes)
    ]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()


@pytest.mark.parametrize("where", ["directory", "bucket"])
def test_four_processes_commit_to_one_branch_at_once_and_no_commit_is_lost(
    where: str, request: pytest.FixtureRequest
) -> None:
    place: Place = request.getfixturevalue(where)
    with place.open() as lake:
        lake.create_repo("sales")
    committed_by(place, processes=4, commits=2)
    with place.open() as lake:
        repo = lake.repo("sales")
        expected = sorted(f"p{process}/{number}" for process in range(4) for number in range(2))
        assert [entry.path for entry in repo.branch("main").list()] == expected
        assert all(repo.branch("main").get(path) == path.encode() for path in expected)
        messages = [commit.message for commit in repo.branch("main").log()]
        # what is put on the branch may be taken along by a commit that somebody else began later; nothing else may
        assert {each for each in expected if int(each[-1]) % 2 == 0} <= set(messages)
        assert len(messages) == len(set(messages))
        assert repo.check().sound


def test_a_day_in_a_lake_that_is_one_bucket(bucket: Place, server: versitygw.S3) -> None:
    with bucket.open() as lake:
        repo = lake.create_repo("sales")
        main = repo.branch("main")
        workspace = headwater.Workspace(main)
        workspace.put("out/year=2026/part", b"1")
        workspace.delete("nowhere")
        client = boto3.client(
            "s3",
            endpoint_url=server.endpoint,
            aws_access_key_id=server.access_key_id,
            aws_secret_access_key=server.secret_access_key,
            region_name="us-east-1",
        )
        outside = workspace.path("out/other", scheme="s3").removeprefix("s3://lakes/")
        client.put_object(Bucket="lakes", Key=outside, Body=b"from outside")
        workspace.put("out/_SUCCESS", b"")
        for marker in ("", "-empty"):  # as S3A leaves them where directories would be
            client.put_object(Bucket="lakes", Key=f"{outside.removesuffix('/other')}{marker}/", Body=b"")
        assert [entry.path for entry in workspace.list()] == ["out/_SUCCESS", "out/other", "out/year=2026/part"]
        written = workspace.path("out/year=2026/part").removeprefix("s3a://lakes/")
        tags = client.get_object_tagging(Bucket="lakes", Key=written)["TagSet"]
        client.close()
        assert {each["Key"]: each["Value"] for each in tags} == {
            "path.0": "out",
            "path.1": "year=2026",
            "path.2": "part",
        }
        made = workspace.all().commit("from outside")
        assert (main.get("out/other"), main.head()) == (b"from outside", made)
        assert [entry.path for entry in main.list()] == ["out/_SUCCESS", "out/other", "out/year=2026/part"]
        assert main.stat("out/year=2026/part").checksum == "c4ca4238a0b923820dcc509a6f75849b"
        source = f"{repo.namespace}/{written[written.index('workspaces/') :].removesuffix('year=2026/part')}"
        ingested = main.ingest(source, "seen")
        assert main.get("seen/other") == b"from outside"
        assert [entry.path for entry in main.list("seen/")] == ["seen/_SUCCESS", "seen/other", "seen/year=2026/part"]
        with pytest.raises(headwater.NothingToCommit):
            main.ingest(source, "seen")
        assert main.head() == ingested
