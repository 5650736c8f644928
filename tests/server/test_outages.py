"""The database of a server freezes, or goes away, and comes back: the server lives, is not ready, and then goes on."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from dev.servers import headwater, redis
from dev.servers.headwater import Headwater
from dev.servers.redis import Redis
from tests.conftest import Servers

FROZEN = 15
"""Seconds for which the database answers nobody: it cannot be told to thaw."""


@pytest.fixture
def database(servers: Servers) -> Redis:
    return servers.start("redis with outages", redis.serve)


@pytest.fixture
def server(database: Redis, tmp_path: Path) -> Iterator[Headwater]:
    settings = {
        "HEADWATER_KV": database.uri,
        "HEADWATER_KV_CREDENTIALS": f"password={database.password}",
        "HEADWATER_STORAGE": f"file://{tmp_path}/objects",
        "HEADWATER_SECRET": "a secret of some length",
    }
    with operator(database) as tell:
        tell("FLUSHALL")  # the lake of another test
    with headwater.serve(tmp_path, settings) as server:
        until(lambda: is_ready(server))
        yield server


@contextmanager
def operator(database: Redis) -> Iterator[Callable[[str], None]]:
    """Has the database do as it is told."""
    with socket.create_connection(("127.0.0.1", database.port), timeout=30) as connection:

        def tell(command: str) -> None:
            connection.sendall(f"{command}\r\n".encode())
            assert connection.recv(100)[:1] in (b"+", b":")

        tell(f"AUTH {database.password}")
        yield tell


def is_ready(server: Headwater) -> bool:
    return httpx.get(f"{server.url}/readiness", timeout=60).status_code == 200


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline


def test_while_the_database_is_frozen_a_server_lives_and_says_soon_that_it_is_not_ready(
    server: Headwater, database: Redis
) -> None:
    with operator(database) as tell:
        tell(f"CLIENT PAUSE {FROZEN * 1000} ALL")
    began = time.monotonic()
    answer = httpx.get(f"{server.url}/readiness", timeout=60)
    assert (answer.status_code, answer.json()["ready"]) == (503, False)
    assert time.monotonic() - began < 9  # the driver waits for 10
    assert httpx.get(f"{server.url}/healthcheck").status_code == 204
    until(lambda: is_ready(server))
    assert httpx.get(f"{server.api}/repositories", auth=server.login, timeout=60).status_code == 200


def test_while_the_database_is_away_requests_are_told_so_and_no_secret(server: Headwater, database: Redis) -> None:
    with operator(database) as tell, httpx.Client(base_url=server.api, auth=server.login, timeout=60) as client:
        assert client.get("/repositories").status_code == 200
        tell("CONFIG SET maxclients 1")
        tell("CLIENT KILL TYPE normal SKIPME yes")
        try:
            refused = client.get("/repositories")
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert database.password not in refused.text
            assert not is_ready(server)
        finally:
            tell("CONFIG SET maxclients 1000")
        until(lambda: client.get("/repositories").status_code == 200)
