"""The published clients of lakeFS, pointed at a server of ours. They have no types that could be checked."""

from __future__ import annotations

from typing import Any

import lakefs
import lakefs_sdk
from lakefs.client import Client
from lakefs_sdk.client import LakeFSClient

from dev.servers.headwater import Headwater

high: Any = lakefs
sdk: Any = lakefs_sdk
_client: Any = Client
_generated: Any = LakeFSClient


def high_level(server: Headwater, login: tuple[str, str] | None = None) -> Any:
    """A client of the package `lakefs`."""
    key, secret = login or server.login
    return _client(host=server.url, username=key, password=secret)


def generated(server: Headwater, login: tuple[str, str] | None = None) -> Any:
    """A client of the package `lakefs-sdk`, with a face for each group of operations."""
    key, secret = login or server.login
    return _generated(sdk.Configuration(host=server.api, username=key, password=secret))
