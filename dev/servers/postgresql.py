"""PostgreSQL: a cluster of its own, made for the run, over TCP on 127.0.0.1, with password authentication."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from dev.servers.process import NotInstalled, free_port, running

USER = "postgres"
"""The superuser of the cluster; and on the machine the one who runs it when we are root, whom the server refuses."""


class PostgreSQL(NamedTuple):
    port: int
    password: str

    @property
    def uri(self) -> str:
        """Without the password: that comes beside a URI."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/postgres"

    @property
    def credentials(self) -> dict[str, str]:
        return {"password": self.password}


@contextmanager
def serve(directory: Path) -> Iterator[PostgreSQL]:
    programs = _programs()
    server = PostgreSQL(free_port(), "only for tests")
    with _home(directory) as home:
        data = home / "data"
        _initialise(programs, data, server.password)
        command: list[str | Path] = [
            programs / "postgres", "-D", data,
            "-c", f"port={server.port}", "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
        ]  # fmt: skip
        with running(command, port=server.port, directory=home, user=_user()):
            _await_ready(programs, server.port)
            yield server


def _programs() -> Path:
    """The newest version's directory of programs: Debian keeps them off the PATH."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    on_path = shutil.which("postgres")
    if versions:
        return versions[-1].parent
    if on_path:
        return Path(on_path).resolve().parent
    raise NotInstalled("postgres is not installed: run dev/install/postgresql.sh")


def _user() -> str | None:
    return USER if os.geteuid() == 0 else None


@contextmanager
def _home(directory: Path) -> Iterator[Path]:
    """Where the cluster lives: *directory*, unless it runs as another user, who cannot look into root's directories."""
    user = _user()
    if user is None:
        yield directory
        return
    with tempfile.TemporaryDirectory(prefix="headwater-postgresql-") as name:
        try:
            os.chown(name, pwd.getpwnam(user).pw_uid, -1)
        except KeyError:
            raise NotInstalled(f"this machine has no user {user!r}: run dev/install/postgresql.sh") from None
        yield Path(name)


def _initialise(programs: Path, data: Path, password: str) -> None:
    """Make the cluster. The password goes through a file in the cluster's home, which nobody else may read."""
    secret = data.parent / "password"
    secret.touch(mode=0o600)
    secret.write_text(password)
    user = _user()
    if user is not None:
        shutil.chown(secret, user)
    subprocess.run(
        [
            programs / "initdb", "--pgdata", data, "--username", USER, "--pwfile", secret, "--auth", "scram-sha-256",
            "--encoding", "UTF8", "--locale", "C", "--no-sync",
        ],
        check=True, capture_output=True, cwd=data.parent, user=user, timeout=120,
    )  # fmt: skip
    secret.unlink()


def _await_ready(programs: Path, port: int) -> None:
    """The port is open a moment before sessions are let in."""
    deadline = time.monotonic() + 30
    while subprocess.run(
        [programs / "pg_isready", "--host", "127.0.0.1", "--port", str(port), "--quiet"], check=False
    ).returncode:
        if time.monotonic() > deadline:
            raise RuntimeError(f"PostgreSQL on port {port} let nobody in within 30 s")
        time.sleep(0.02)
