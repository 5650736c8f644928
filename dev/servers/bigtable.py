"""The vendor's emulator of Bigtable, in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dev.servers.process import TOOLS, find, free_port, running

VERSION = "v1.58.0"


@contextmanager
def serve(directory: Path) -> Iterator[str]:
    """Yields the endpoint, `http://127.0.0.1:PORT`."""
    program = find(TOOLS / f"bigtable-emulator-{VERSION}", "bigtable.sh")
    port = free_port()
    with running([program, "-host", "127.0.0.1", "-port", str(port)], port=port, directory=directory):
        yield f"http://127.0.0.1:{port}"
