"""etcd: one member over TCP on 127.0.0.1."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dev.servers.certificates import make_certificate
from dev.servers.process import find, free_port, running


@contextmanager
def serve(directory: Path, *settings: str, scheme: str = "http") -> Iterator[int]:
    """Yields the port. *settings* come last, as words of a command line, and so win."""
    program, port, peers = find("etcd", "etcd.sh"), free_port(), f"http://127.0.0.1:{free_port()}"
    clients = f"{scheme}://127.0.0.1:{port}"
    command: list[str | Path] = [
        program, "--data-dir", directory / "data", "--listen-client-urls", clients, "--advertise-client-urls", clients,
        "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", f"default={peers}",
        "--logger", "zap", *settings,
    ]  # fmt: skip
    with running(command, port=port, directory=directory):
        yield port


@contextmanager
def serve_encrypted(directory: Path) -> Iterator[tuple[int, Path]]:
    """One that speaks nothing but TLS: its port, and the certificate by which it is known."""
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    make_certificate(certificate, key)
    with serve(directory, "--cert-file", str(certificate), "--key-file", str(key), scheme="https") as port:
        yield port, certificate
