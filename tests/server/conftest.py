"""A running server, shared by the tests of this folder: each makes repositories of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest

from dev.servers import headwater
from dev.servers.headwater import Headwater
from tests.conftest import Servers

NewRepository = Callable[..., str]

_numbers = itertools.count(1)


IMPORTS = "imports"
"""The directory beside that of the lake which the server may import from."""


LISTENERS = "127.0.0.1:*"
"""Where hooks may send requests: to listeners of tests, on the machine that they run on."""


@pytest.fixture(scope="session")
def server(servers: Servers) -> Headwater:
    """A server with embedded stores."""
    return servers.start("headwater", _serve)


def _serve(directory: Path) -> AbstractContextManager[Headwater]:
    imports = directory / IMPORTS
    imports.mkdir()
    return headwater.serve(directory, {"HEADWATER_IMPORT_FROM": str(imports), "HEADWATER_WEBHOOK_HOSTS": LISTENERS})


@pytest.fixture
def imports(server: Headwater, repository: str) -> Path:
    """A directory of this test that the server may import from."""
    made = server.data.parent / IMPORTS / repository
    made.mkdir()
    return made


@pytest.fixture
def api(server: Headwater) -> Iterator[httpx.Client]:
    """A client of its API, as the administrator."""
    with httpx.Client(base_url=server.api, auth=server.login, timeout=60) as client:
        yield client


@pytest.fixture
def new_repository(api: httpx.Client) -> NewRepository:
    """Makes a repository that no other test has, and answers its name."""

    def make(**fields: object) -> str:
        name = f"repository-{next(_numbers)}"
        answer = api.post("/repositories", json={"name": name, **fields})
        assert answer.status_code == 201, answer.text
        return name

    return make


@pytest.fixture
def repository(new_repository: NewRepository) -> str:
    return new_repository()
