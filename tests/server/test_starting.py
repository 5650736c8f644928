"""How a server begins, and when it ends: what is wrong is said in a line, and what dies later is replaced."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from dev.servers import headwater
from dev.servers.certificates import make_certificate
from dev.servers.headwater import Headwater
from dev.servers.process import free_port
from tests.server.processes import workers_of

HW = Path(sys.executable).parent / "hw"


def refused(directory: Path, *options: str, **settings: str) -> tuple[int, list[str]]:
    """The status of a server that cannot start, and what it says."""
    names = {f"HEADWATER_{name.upper()}": value for name, value in settings.items()}
    ended = subprocess.run(
        [HW, "serve", "--listen", f"127.0.0.1:{free_port()}", "--data", "data", *options],
        env={**os.environ, **names}, cwd=directory, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "first administrator" not in ended.stdout
    return ended.returncode, ended.stderr.splitlines()


def test_a_port_that_somebody_answers_on_is_not_shared_with_them(tmp_path: Path) -> None:
    with headwater.serve(tmp_path) as server:
        listen = server.url.removeprefix("http://")
        status, said = refused(tmp_path, "--data", "another", "--listen", listen)
        assert (status, len(said)) == (1, 1)
        assert listen in said[0]
        assert "--listen" in said[0]
    assert not (tmp_path / "another").exists()


def test_of_servers_that_start_at_once_one_gets_the_port(tmp_path: Path) -> None:
    listen = f"127.0.0.1:{free_port()}"
    commands = [
        [str(HW), "serve", "--listen", listen, "--data", str(tmp_path / name)] for name in ("one", "two", "three")
    ]
    servers = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for command in commands]
    try:
        until(lambda: sum(server.poll() is not None for server in servers) == 2)
        assert [server.poll() for server in servers].count(1) == 2
        until(lambda: is_ready(f"http://{listen}"))
    finally:
        for server in servers:
            server.terminate()
            server.communicate()


def test_an_address_that_is_none_of_this_machine_is_refused_by_its_name(tmp_path: Path) -> None:
    for listen, named in (("203.0.113.7:8000", "203.0.113.7"), ("no-such-host.invalid:8000", "no-such-host.invalid")):
        status, said = refused(tmp_path, "--listen", listen)
        assert (status != 0, len(said)) == (True, 1)
        assert named in said[0]


def test_a_name_may_stand_for_the_address(tmp_path: Path) -> None:
    port = free_port()
    with subprocess.Popen(
        [HW, "serve", "--listen", f"localhost:{port}", "--data", tmp_path / "data"], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            shown = next(line for line in server.stdout if "HEADWATER_ENDPOINT" in line)
            assert shown.strip() == f"export HEADWATER_ENDPOINT=http://localhost:{port}"
            until(lambda: httpx.get(f"http://localhost:{port}/healthcheck").is_success)
        finally:
            server.terminate()


def test_a_directory_that_cannot_be_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    status, said = refused(tmp_path, "--data", "file")
    assert (status, said) == (1, [f"hw: {tmp_path / 'file'}: File exists"])
    status, said = refused(tmp_path, "--access-log", "nowhere/access.log")
    assert (status, said) == (1, ["hw: nowhere/access.log: No such file or directory"])


def test_a_store_that_does_not_answer_ends_the_server_with_one_line(tmp_path: Path) -> None:
    with socket.socket() as nobody:  # bound, and never listened on
        nobody.bind(("127.0.0.1", 0))
        kv = f"postgresql://lake:hush-hush@127.0.0.1:{nobody.getsockname()[1]}/lake"
        status, said = refused(tmp_path, "--kv", kv, "--storage", f"file://{tmp_path}/objects", secret="x" * 16)
    assert (status, len(said)) == (1, 1)
    assert said[0].startswith("hw: no connection to PostgreSQL")
    assert "hush-hush" not in said[0]


def test_a_certificate_needs_to_be_one_with_its_key(tmp_path: Path) -> None:
    make_certificate(tmp_path / "certificate.pem", tmp_path / "key.pem")
    make_certificate(tmp_path / "other.pem", tmp_path / "other-key.pem")
    for key, named in (("nowhere.pem", "nowhere.pem"), ("other-key.pem", "other-key.pem")):
        status, said = refused(tmp_path, "--tls-certificate", "certificate.pem", "--tls-key", key)
        assert (status != 0, len(said)) == (True, 1)
        assert named in said[0]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Headwater]:
    with headwater.serve(tmp_path) as server:
        yield server


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readiness").is_success
    except httpx.TransportError:
        return False


def answers(server: Headwater) -> bool:
    return is_ready(server.url)


def kill_the_worker(server: Headwater) -> None:
    """Kill the worker, once there is one that answers."""
    until(lambda: answers(server))
    [worker] = workers_of(server)
    os.kill(worker.id, signal.SIGKILL)
    until(lambda: worker not in workers_of(server))


def test_a_worker_that_dies_again_and_again_is_replaced_each_time(server: Headwater) -> None:
    for _ in range(3):
        kill_the_worker(server)
    until(lambda: answers(server))


def test_a_worker_that_cannot_begin_after_others_did_tries_until_it_can(server: Headwater) -> None:
    secret, log = server.data / "secret", server.data.parent / "server.log"
    written = secret.read_text()
    secret.write_text("")
    kill_the_worker(server)
    until(lambda: log.read_text().count(f"{secret} is empty") > 2)
    secret.write_text(written)
    until(lambda: answers(server))
    assert httpx.get(f"{server.api}/user", auth=server.login).status_code == 200
