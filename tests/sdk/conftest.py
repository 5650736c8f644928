"""The lakes that the SDK is tested on: embedded ones, one whose calls need an event loop, and one on a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

import headwater
from dev.servers import headwater as headwater_server
from dev.servers.headwater import Headwater
from headwater.sdk.sync import Branch, Lake, Repository
from tests.conftest import Servers


@pytest.fixture(params=["directory", "memory", "waiting", "remote"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lake]:
    match request.param:
        case "remote":
            opened = connect(request.getfixturevalue("server"))
        case "directory":
            opened = headwater.open(tmp_path / "lake", durability="os", committer="ada")
        case "memory":
            opened = headwater.open(kv="mem://", storage="mem://", committer="ada")
        case _:  # keys in an object store: nothing about it says that it never waits
            opened = headwater.open(
                kv=f"file://{tmp_path}/kv?durability=os", storage=f"file://{tmp_path}/objects", committer="ada"
            )
    with opened:
        yield opened


@pytest.fixture
def server(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Headwater:
    """A server of its own, asked by a user called ada, and on it no repository."""
    settings = {"HEADWATER_IMPORT_FROM": str(tmp_path_factory.getbasetemp())}
    return emptied(servers.start("headwater for the SDK", lambda directory: served(directory, settings)))


@contextmanager
def served(directory: Path, settings: Mapping[str, str]) -> Iterator[Headwater]:
    """A server of which ada is an administrator."""
    with headwater_server.serve(directory, settings) as started:
        with httpx.Client(base_url=started.api, auth=started.login) as api:
            api.post("/auth/users", json={"id": "ada"}).raise_for_status()
            api.put("/auth/groups/Admins/members/ada").raise_for_status()
            made = api.post("/auth/users/ada/credentials").raise_for_status().json()
        yield started._replace(access_key_id=made["access_key_id"], secret_access_key=made["secret_access_key"])


def emptied(server: Headwater) -> Headwater:
    """*server*, without the repositories that earlier tests left there."""
    with httpx.Client(base_url=server.api, auth=server.login) as api:
        for repository in api.get("/repositories", params={"amount": 1000}).json()["results"]:
            api.delete(f"/repositories/{repository['id']}", params={"force": True}).raise_for_status()
    return server


def connect(server: Headwater) -> Lake:
    return headwater.connect(server.url, server.access_key_id, server.secret_access_key)


@pytest.fixture
def repo(lake: Lake) -> Repository:
    return lake.create_repo("sales")


@pytest.fixture
def main(repo: Repository) -> Branch:
    return repo.branch("main")
