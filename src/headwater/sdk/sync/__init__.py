"""The face that waits: what `headwater.open` and `headwater.connect` open. It runs the one that awaits."""

from __future__ import annotations

import os
from collections.abc import Mapping

from headwater.sdk.aio import Lake as AwaitedLake
from headwater.sdk.embedded import EmbeddedLake
from headwater.sdk.opening import Durability, open_stores
from headwater.sdk.sync.branch import Branch
from headwater.sdk.sync.files import Reader, WriteFile
from headwater.sdk.sync.growing import CommitInProgress
from headwater.sdk.sync.ref import Ref
from headwater.sdk.sync.repository import Lake, Repository
from headwater.sdk.sync.running import Runner
from headwater.sdk.sync.workspace import Workspace

__all__ = [
    "Branch",
    "CommitInProgress",
    "Lake",
    "Reader",
    "Ref",
    "Repository",
    "Workspace",
    "WriteFile",
    "connect",
    "open",
]


def open(  # noqa: A001  (reads `headwater.open`)
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
    """The lake in the directory *location*, made if need be; or that in the database *kv* and the objects of *storage*.

    *cache* is a directory for decoded metadata, shared by processes and safe to delete; a lake in a directory has one
    there. Credentials go by the provider's own names; without them the provider's standard chain is asked. With
    *durability* `os`, what a lake in a directory has answered survives the process but not the machine, and writes are
    many times faster. *committer* is who commits and tags.
    """
    runner = Runner()
    opening = open_stores(
        location,
        kv=kv,
        storage=storage,
        cache=cache,
        kv_credentials=kv_credentials,
        storage_credentials=storage_credentials,
        durability=durability,
    )
    try:
        opened = runner.run(opening)
    except BaseException:
        runner.close()
        raise
    if opened.immediate:
        runner.stay_in_place()
    return Lake(runner, AwaitedLake(EmbeddedLake(opened, committer)))


def connect(
    endpoint: str,
    access_key_id: str,
    secret_access_key: str,
    *,
    timeout: float | None = None,
    ca: str | os.PathLike[str] | None = None,
) -> Lake:
    """The lake of the server at *endpoint*, as whoever has these credentials. Nothing is sent before it is used.

    *timeout* is for how many seconds the server may say nothing; a commit of very many changes takes minutes. *ca* is a
    file of certificates that a server's own is verified by, instead of those that the machine trusts.
    """
    from headwater.sdk.remote.opening import connected  # noqa: PLC0415  (not every program asks a server)

    lake = connected(endpoint, access_key_id, secret_access_key, timeout=timeout, ca=ca)
    return Lake(Runner(), AwaitedLake(lake))
