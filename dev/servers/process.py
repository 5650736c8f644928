"""A server as a child process: a free port, a log file, ready or an error that shows the log, and a sure end.

It runs under a guard that stops it even when we are killed.
"""

from __future__ import annotations

import fcntl
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

TOOLS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headwater" / "servers"
"""Where `dev/install/` puts what has no place of its own on the machine. Shared by all checkouts."""

PORTS = range(20_000, 32_000)
"""Below those that the system gives to outgoing connections: else one of these could take a port between its choice and
its server's start, and a server that was stopped could not have its own again."""

GUARD = Path(__file__).with_name("guard.py")


class NotInstalled(Exception):
    """The server is not on this machine. The message says how to get it, or why it cannot be had."""


def find(program: str | Path, installer: str) -> str:
    """The path of an installed program, or `NotInstalled` naming the script that brings it."""
    found = shutil.which(program)
    if found is None:
        raise NotInstalled(f"{Path(program).name} is not installed: run dev/install/{installer}")
    return found


def free_port() -> int:
    """A port that nobody listens on, and that no other run of tests is given before this process ends."""
    directory = Path(tempfile.gettempdir()) / f"headwater-ports-{os.getuid()}"
    directory.mkdir(exist_ok=True)
    for port in random.sample(PORTS, len(PORTS)):
        taken = os.open(directory / str(port), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(taken, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            os.close(taken)
        else:
            return port  # the lock is held for as long as this process lives
    raise RuntimeError(f"no port from {PORTS[0]} to {PORTS[-1]} is free on 127.0.0.1")


@contextmanager
def running(
    command: Sequence[str | Path],
    *,
    port: int,
    directory: Path,
    environment: Mapping[str, str] | None = None,
    seconds: float = 60,
    user: str | None = None,
) -> Iterator[None]:
    """Run *command* until the block ends. Yields once *port* accepts connections."""
    log = directory / "server.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, str(GUARD), user or "", *map(str, command)],
            cwd=directory,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _await_port(process, port, seconds, log)
        yield
    finally:
        _stop(process)


def _await_port(process: subprocess.Popen[bytes], port: int, seconds: float, log: Path) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    tail = log.read_text(errors="replace")[-2000:]
    raise RuntimeError(f"{process.args!r} did not answer on port {port} within {seconds:.0f} s:\n{tail}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
