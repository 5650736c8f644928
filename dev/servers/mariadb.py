"""MariaDB: a database of its own, made for the run, over TCP on 127.0.0.1, with a password and with TLS."""

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

from dev.servers.certificates import make_certificate
from dev.servers.process import NotInstalled, find, free_port, running

USER = "mysql"
"""Who runs it on the machine when we are root, whom the server refuses."""


class MariaDB(NamedTuple):
    port: int
    password: str
    certificate: Path

    @property
    def uri(self) -> str:
        """Without the password: that comes beside a URI."""
        return f"mysql://headwater@127.0.0.1:{self.port}/headwater"

    @property
    def credentials(self) -> dict[str, str]:
        return {"password": self.password}


@contextmanager
def serve(directory: Path, *settings: str) -> Iterator[MariaDB]:
    """*settings* come last, as words of a command line, and so win."""
    program = find("mariadbd", "mariadb.sh")
    with _home(directory) as home:
        server = MariaDB(free_port(), "only for tests", home / "certificate.pem")
        make_certificate(server.certificate, home / "key.pem")
        first = home / "first.sql"
        first.write_text(
            "create database headwater;\n"
            f"create user headwater@'127.0.0.1' identified by '{server.password}';\n"
            "grant all on *.* to headwater@'127.0.0.1' with grant option;\n"
        )
        user = _user()
        if user is not None:
            for file in (first, server.certificate, home / "key.pem"):
                shutil.chown(file, user)
        data = home / "data"
        subprocess.run(
            [
                find("mariadb-install-db", "mariadb.sh"), "--no-defaults", f"--datadir={data}", "--skip-test-db",
                "--auth-root-authentication-method=normal",
            ],
            check=True, capture_output=True, cwd=home, user=user, timeout=120,
        )  # fmt: skip
        command: list[str | Path] = [
            program, "--no-defaults", f"--datadir={data}", "--bind-address=127.0.0.1", f"--port={server.port}",
            f"--socket={home}/s.sock", f"--pid-file={home}/pid", f"--init-file={first}", "--skip-name-resolve",
            f"--ssl-cert={server.certificate}", f"--ssl-key={home}/key.pem", *settings,
        ]  # fmt: skip
        with running(command, port=server.port, directory=home, user=user):
            _await_ready(home / "server.log")
            yield server


def _user() -> str | None:
    return USER if os.geteuid() == 0 else None


@contextmanager
def _home(directory: Path) -> Iterator[Path]:
    """Where the database lives: *directory*, unless another user runs it, who cannot look into root's directories."""
    user = _user()
    if user is None:
        yield directory
        return
    with tempfile.TemporaryDirectory(prefix="headwater-mariadb-") as name:
        try:
            os.chown(name, pwd.getpwnam(user).pw_uid, -1)
        except KeyError:
            raise NotInstalled(f"this machine has no user {user!r}: run dev/install/mariadb.sh") from None
        yield Path(name)


def _await_ready(log: Path) -> None:
    """The port is open a moment before the first statements have made the user."""
    deadline = time.monotonic() + 30
    while "ready for connections" not in log.read_text(errors="replace"):
        if time.monotonic() > deadline:
            raise RuntimeError(f"MariaDB was not ready within 30 s:\n{log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.02)
