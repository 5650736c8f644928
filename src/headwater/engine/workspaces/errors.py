"""What can go wrong with workspaces, beyond what the engine says."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.engine.errors import EngineError


class WorkspaceClosed(EngineError):
    """All of the workspace was committed, or given up: begin another one. Nothing was changed."""


class WorkspaceBusy(EngineError):
    """Somebody is committing the workspace. Nothing was changed: try again when that is over."""


class PathCommitted(EngineError):
    """What lies at that path in the workspace is part of a commit by now, and is not overwritten."""


class ConcurrentCommit(EngineError):
    """Somebody else committed to the branch meanwhile. Nothing was committed. *paths* are some that both changed."""

    def __init__(self, message: str, paths: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.paths = tuple(paths)
