"""Headwater: Git for data.

    with headwater.open("./lake") as lake:
        main = lake.create_repo("sales").branch("main")
        main.put("raw/a.csv", b"…")
        main.commit("first load")

Branches, commits, merges and time travel over an object store, for files, for files that grow and for tables alike.
Nothing is imported here before it is used: `import headwater` stays cheap, and each layer is imported by its own name.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater import aio as aio
    from headwater.engine.errors import BadRequest as BadRequest
    from headwater.engine.errors import NothingToMerge as NothingToMerge
    from headwater.engine.errors import PathConflict as PathConflict
    from headwater.engine.errors import PathNotFound as PathNotFound
    from headwater.engine.errors import PreconditionFailed as PreconditionFailed
    from headwater.engine.errors import ReadOnly as ReadOnly
    from headwater.engine.errors import RepositoryExists as RepositoryExists
    from headwater.engine.errors import RepositoryNotFound as RepositoryNotFound
    from headwater.engine.workspaces.errors import ConcurrentCommit as ConcurrentCommit
    from headwater.engine.workspaces.errors import PathCommitted as PathCommitted
    from headwater.engine.workspaces.errors import WorkspaceBusy as WorkspaceBusy
    from headwater.engine.workspaces.errors import WorkspaceClosed as WorkspaceClosed
    from headwater.errors import HeadwaterError as HeadwaterError
    from headwater.files.errors import HeadMoved as HeadMoved
    from headwater.files.errors import NoSuchCommitInProgress as NoSuchCommitInProgress
    from headwater.files.errors import NotAppendable as NotAppendable
    from headwater.history.errors import BadExpression as BadExpression
    from headwater.history.errors import BadName as BadName
    from headwater.history.errors import NotAnAncestor as NotAnAncestor
    from headwater.refs.errors import RefExists as RefExists
    from headwater.refs.errors import RefNotFound as RefNotFound
    from headwater.sdk.errors import HookRefused as HookRefused
    from headwater.sdk.errors import MergeConflict as MergeConflict
    from headwater.sdk.errors import RemoteError as RemoteError
    from headwater.sdk.sync import Workspace as Workspace
    from headwater.sdk.sync import connect as connect
    from headwater.sdk.sync import open as open  # noqa: A004  (reads `headwater.open`)
    from headwater.staging.errors import Contended as Contended
    from headwater.staging.errors import NothingToCommit as NothingToCommit

__version__ = "0.1.0"

_HOMES = {
    "headwater.engine.errors": (
        "BadRequest",
        "NothingToMerge",
        "PathConflict",
        "PathNotFound",
        "PreconditionFailed",
        "ReadOnly",
        "RepositoryExists",
        "RepositoryNotFound",
    ),
    "headwater.engine.workspaces.errors": ("ConcurrentCommit", "PathCommitted", "WorkspaceBusy", "WorkspaceClosed"),
    "headwater.errors": ("HeadwaterError",),
    "headwater.files.errors": ("HeadMoved", "NoSuchCommitInProgress", "NotAppendable"),
    "headwater.history.errors": ("BadExpression", "BadName", "NotAnAncestor"),
    "headwater.refs.errors": ("RefExists", "RefNotFound"),
    "headwater.sdk.errors": ("HookRefused", "MergeConflict", "RemoteError"),
    "headwater.sdk.sync": ("Workspace", "connect", "open"),
    "headwater.staging.errors": ("Contended", "NothingToCommit"),
}


def __getattr__(name: str) -> object:
    if name == "aio":
        return import_module("headwater.aio")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'headwater' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "aio", *(name for names in _HOMES.values() for name in names)})
