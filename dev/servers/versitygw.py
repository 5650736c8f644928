"""versitygw: an S3 server over a directory. Honours If-Match and If-None-Match, also under a race."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from dev.servers.process import TOOLS, find, free_port, running

VERSION = "v1.8.0"


class S3(NamedTuple):
    """Where an S3 server answers, as whom, and where it keeps what it is given."""

    endpoint: str
    access_key_id: str
    secret_access_key: str
    directory: Path

    def make_bucket(self, name: str) -> None:
        """A bucket of this server is a directory."""
        (self.directory / name).mkdir(exist_ok=True)


@contextmanager
def serve(directory: Path) -> Iterator[S3]:
    program = find(TOOLS / f"versitygw-{VERSION}", "versitygw.sh")
    port = free_port()
    buckets = directory / "buckets"
    buckets.mkdir()
    where = S3(f"http://127.0.0.1:{port}", "headwater", "headwater-tests", buckets)
    command: list[str | Path] = [program, "--port", f"127.0.0.1:{port}", "--quiet", "posix", buckets]
    login = {"ROOT_ACCESS_KEY": where.access_key_id, "ROOT_SECRET_KEY": where.secret_access_key}
    with running(command, port=port, directory=directory, environment=login):
        yield where
