"""fake-gcs-server: Google Cloud Storage in memory. Its XML API takes no uploads from our client; its JSON API does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dev.servers.process import TOOLS, find, free_port, running

VERSION = "v1.56.1"


@contextmanager
def serve(directory: Path) -> Iterator[str]:
    program = find(TOOLS / f"fake-gcs-server-{VERSION}", "fake_gcs.sh")
    port = free_port()
    address = f"127.0.0.1:{port}"
    command = [program, "-scheme", "http", "-host", "127.0.0.1", "-port", str(port)]
    with running([*command, "-backend", "memory", "-public-host", address], port=port, directory=directory):
        yield f"http://{address}"
