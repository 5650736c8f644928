"""Workspaces, over the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwater.engine.commit import Description
from headwater.engine.repository import Repository
from headwater.engine.workspaces import clearing
from headwater.engine.workspaces.beginning import begin, resume
from headwater.engine.workspaces.committing import commit_workspace
from headwater.engine.workspaces.ids import WorkspaceRef
from headwater.engine.workspaces.places import place_of
from headwater.sdk.results import Commit, commit_of


class Workspaces:
    def __init__(self, repository: Repository, committer: str) -> None:
        self._repository = repository
        self._committer = committer

    async def begin(self, branch: str) -> str:
        return (await begin(self._repository, branch)).id

    async def check(self, branch: str, id: str) -> None:  # noqa: A002  (it is one)
        await resume(self._repository, branch, id)

    def place(self, id: str, path: str, scheme: str | None) -> str:  # noqa: A002  (it is one)
        return place_of(self._repository.record.namespace, self._repository.blobs.directory, id, path, scheme)

    async def commit(
        self,
        branch: str,
        id: str,  # noqa: A002  (it is one)
        message: str,
        *,
        patterns: Sequence[str] | None,
        retry: bool,
        metadata: Mapping[str, str],
    ) -> Commit:
        description = Description(message, self._committer, self._repository.outside.now(), metadata)
        workspace = WorkspaceRef(branch, id)
        return commit_of(
            await commit_workspace(self._repository, workspace, description, patterns=patterns, retry=retry)
        )

    async def revert(self, branch: str, id: str, patterns: Sequence[str]) -> int:  # noqa: A002, ARG002  (the port's)
        return await clearing.revert(self._repository, id, patterns)

    async def remove(self, branch: str, id: str, patterns: Sequence[str]) -> int:  # noqa: A002, ARG002  (the port's)
        return await clearing.remove(self._repository, id, patterns)

    async def discard(self, branch: str, id: str) -> None:  # noqa: A002, ARG002  (the port's)
        await clearing.discard(self._repository, id)
