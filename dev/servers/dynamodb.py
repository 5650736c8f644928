"""DynamoDB Local in memory, on 127.0.0.1. It takes any credentials, and keeps one set of tables for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dev.servers.process import TOOLS, NotInstalled, find, free_port, running

INSTALLER = "dynamodb.sh"


@contextmanager
def serve(directory: Path) -> Iterator[str]:
    """Yields the endpoint, `http://127.0.0.1:PORT`."""
    installed = sorted(TOOLS.glob("dynamodb-3*"), key=lambda path: path.stat().st_mtime)
    if not installed:
        raise NotInstalled(f"DynamoDB Local is not installed: run dev/install/{INSTALLER}")
    home, port = installed[-1], free_port()
    command = [
        find("java", INSTALLER), "-Xmx512m", f"-Djava.library.path={home}/lib", "-cp", f"{home}:{home}/lib/*",
        "DynamoDBOnLoopback", "-inMemory", "-sharedDb", "-disableTelemetry", "-port", str(port),
    ]  # fmt: skip
    with running(command, port=port, directory=directory):
        yield f"http://127.0.0.1:{port}"
