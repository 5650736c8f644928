"""Headwater for programs with an event loop: what `headwater` is for others, with `await`.

async with await aio.open("./lake") as lake:
    repo = await lake.create_repo("sales")
    await repo.branch("main").put("raw/a.csv", b"…")
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from headwater.sdk.aio import Branch, CommitInProgress, Lake, ReadFile, Ref, Repository, Workspace, WriteFile
from headwater.sdk.embedded import EmbeddedLake
from headwater.sdk.opening import Durability, open_stores

__all__ = [
    "Branch",
    "CommitInProgress",
    "Lake",
    "ReadFile",
    "Ref",
    "Repository",
    "Workspace",
    "WriteFile",
    "connect",
    "open",
]


async def open(  # noqa: A001  (reads `aio.open`)
    location: str | os.PathLike[str] | None = None,
    *,
    kv: str | None = None,
    storage: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    kv_credentials: Mapping[str, str] | None = None,
    storage_credentials: Mapping[str, str] | None = None,
    durability: Durability = "fsync",
    committer: str = "",
) -> Lake:
    """The lake in a directory, or in the stores *kv* and *storage*. `headwater.open` tells of each argument."""
    opened = await open_stores(
        location,
        kv=kv,
        storage=storage,
        cache=cache,
        kv_credentials=kv_credentials,
        storage_credentials=storage_credentials,
        durability=durability,
    )
    return Lake(EmbeddedLake(opened, committer))


async def connect(
    endpoint: str,
    access_key_id: str,
    secret_access_key: str,
    *,
    timeout: float | None = None,  # noqa: ASYNC109  (of each request)
    ca: str | os.PathLike[str] | None = None,
) -> Lake:
    """The lake of the server at *endpoint*. `headwater.connect` tells of each argument."""
    from headwater.sdk.remote.opening import connected  # noqa: PLC0415  (not every program asks a server)

    return Lake(connected(endpoint, access_key_id, secret_access_key, timeout=timeout, ca=ca))
