"""Redis over TCP on 127.0.0.1, with a password, that has every write on disk before it answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from dev.servers.certificates import make_certificate
from dev.servers.process import find, free_port, running


class Redis(NamedTuple):
    port: int
    password: str

    @property
    def uri(self) -> str:
        """Without the password: that comes beside a URI."""
        return f"redis://127.0.0.1:{self.port}"

    @property
    def credentials(self) -> dict[str, str]:
        return {"password": self.password}


@contextmanager
def serve(directory: Path, *settings: str, answers_on: int | None = None) -> Iterator[Redis]:
    """*settings* come last, as words of a command line, and so win; *answers_on* is the port that they open."""
    server = Redis(answers_on or free_port(), "only-for-tests")
    secret = directory / "redis.conf"
    secret.touch(mode=0o600)
    secret.write_text(f"requirepass {server.password}\n")
    command: list[str | Path] = [
        find("redis-server", "redis.sh"), secret, "--bind", "127.0.0.1", "--port", str(server.port), "--save", "",
        "--appendonly", "yes", "--appendfsync", "always", "--dir", directory, *settings,
    ]  # fmt: skip
    with running(command, port=server.port, directory=directory):
        yield server


@contextmanager
def serve_encrypted(directory: Path) -> Iterator[tuple[Redis, Path]]:
    """One that speaks nothing but TLS, and the certificate by which it is known."""
    certificate, key, port = directory / "certificate.pem", directory / "key.pem", free_port()
    make_certificate(certificate, key)
    with serve(
        directory, "--port", "0", "--tls-port", str(port), "--tls-cert-file", str(certificate),
        "--tls-key-file", str(key), "--tls-auth-clients", "no", answers_on=port,
    ) as server:  # fmt: skip
        yield server, certificate
