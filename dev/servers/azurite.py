"""Azurite: the vendor's emulator of Azure Blob Storage."""

from __future__ import annotations

import base64
import hashlib
import hmac
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path
from typing import NamedTuple

from dev.servers.process import TOOLS, find, free_port, running

VERSION = "3.35.0"


class Azure(NamedTuple):
    """Where an Azure Blob server answers, and its account."""

    endpoint: str
    account: str
    account_key: str

    def make_container(self, name: str) -> None:
        """The one request that our own client never sends, signed as the protocol's "Shared Key" says."""
        date, version = formatdate(usegmt=True), "2021-08-06"
        headers = f"x-ms-date:{date}\nx-ms-version:{version}"
        resource = f"/{self.account}/{self.account}/{name}\nrestype:container"
        text = "PUT" + "\n" * 12 + f"{headers}\n{resource}"
        signature = hmac.digest(base64.b64decode(self.account_key), text.encode(), hashlib.sha256)
        request = urllib.request.Request(  # noqa: S310  (the emulator of this test run)
            f"{self.endpoint}/{name}?restype=container",
            method="PUT",
            headers={"x-ms-date": date, "x-ms-version": version},
        )
        request.add_header("Authorization", f"SharedKey {self.account}:{base64.b64encode(signature).decode()}")
        urllib.request.urlopen(request, timeout=30).close()  # noqa: S310  (see above)


@contextmanager
def serve(directory: Path) -> Iterator[Azure]:
    program = find(TOOLS / f"azurite-{VERSION}" / "node_modules" / ".bin" / "azurite-blob", "azurite.sh")
    port = free_port()
    where = Azure(f"http://127.0.0.1:{port}/headwater", "headwater", base64.b64encode(b"headwater-tests").decode())
    command: list[str | Path] = [
        program,
        "--blobHost",
        "127.0.0.1",
        "--blobPort",
        str(port),
        "--location",
        directory / "blobs",
    ]
    login = {"AZURITE_ACCOUNTS": f"{where.account}:{where.account_key}"}
    with running([*command, "--silent", "--skipApiVersionCheck"], port=port, directory=directory, environment=login):
        yield where
