"""Headwater's own server, as users start it, with embedded stores and an administrator whose keys are known."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from dev.servers.process import free_port, running

NO_SETTINGS: Mapping[str, str] = {}

S3_DOMAIN = "s3.example.test"
"""A host name whose requests are S3's, with a bucket in front of it or not."""


class Headwater(NamedTuple):
    """Where a server answers, as whom, and where it keeps its lake."""

    url: str
    access_key_id: str
    secret_access_key: str
    data: Path

    @property
    def api(self) -> str:
        return f"{self.url}/api/v1"

    @property
    def login(self) -> tuple[str, str]:
        return self.access_key_id, self.secret_access_key


@contextmanager
def serve(directory: Path, settings: Mapping[str, str] = NO_SETTINGS, *, workers: int = 1) -> Iterator[Headwater]:
    """A server over *directory*, until the block ends. *settings* are by their names in the environment."""
    port = free_port()
    made = Headwater(f"http://127.0.0.1:{port}", "AKIAJHEADWATERTESTSQ", secrets.token_urlsafe(30), directory / "data")
    environment = {
        "HEADWATER_ADMIN_ACCESS_KEY_ID": made.access_key_id,
        "HEADWATER_ADMIN_SECRET_ACCESS_KEY": made.secret_access_key,
        "HEADWATER_DURABILITY": "os",
        "HEADWATER_S3_DOMAINS": S3_DOMAIN,
        **settings,
    }
    program = Path(sys.executable).parent / "hw"
    command: list[str | Path] = [program, "serve", "--listen", f"127.0.0.1:{port}", "--data", made.data]
    command += ["--workers", str(workers)]
    with running(command, port=port, directory=directory, environment=environment):
        yield made
