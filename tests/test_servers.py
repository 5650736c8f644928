"""A real server does not outlive the run that started it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from dev.servers.process import free_port, running

ROOT = Path(__file__).parents[1]

STARTER = """
import sys
from pathlib import Path
from dev.servers.process import running

port, directory = sys.argv[1:]
command = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", port]
with running(command, port=int(port), directory=Path(directory)):
    print("it answers", flush=True)
    sys.stdin.read()
"""


def test_a_server_ends_with_the_block_that_started_it(tmp_path: Path) -> None:
    port = free_port()
    command: list[str | Path] = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(port)]
    with running(command, port=port, directory=tmp_path):
        assert answers(port)
    assert not answers(port)


def test_a_server_ends_when_the_process_that_started_it_is_killed(tmp_path: Path) -> None:
    port = free_port()
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER, str(port), tmp_path],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with starter:
        assert starter.stdout is not None
        assert starter.stdout.readline() == b"it answers\n"
        starter.kill()
    deadline = time.monotonic() + 30
    while answers(port) and time.monotonic() < deadline:
        pass
    assert not answers(port)


def answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
