"""From what a caller says of a server to a connection."""

from __future__ import annotations

import os

from headwater.sdk.remote.connection import Connection
from headwater.sdk.remote.lake import RemoteLake
from headwater.sdk.remote.limits import SILENCE


def connected(
    endpoint: str,
    access_key_id: str,
    secret_access_key: str,
    *,
    timeout: float | None = None,
    ca: str | os.PathLike[str] | None = None,
) -> RemoteLake:
    """The lake of the server at *endpoint*. Nothing is sent before it is used."""
    silence = SILENCE if timeout is None else timeout
    certificates = None if ca is None else os.fspath(ca)
    return RemoteLake(Connection(endpoint, access_key_id, secret_access_key, silence=silence, ca=certificates))
