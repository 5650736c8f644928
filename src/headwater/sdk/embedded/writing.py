"""What is staged on a branch, over the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwater.blob import Body
from headwater.engine import reset, write
from headwater.engine.compaction import compact
from headwater.engine.conditional import Condition
from headwater.engine.repository import Repository
from headwater.sdk.results import Entry, entry_of


class Writing:
    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    async def put(
        self,
        branch: str,
        path: str,
        body: Body,
        *,
        content_type: str | None,
        metadata: Mapping[str, str],
        condition: Condition | None = None,
    ) -> Entry:
        entry = await write.put(
            self._repository, branch, path, body, content_type=content_type, metadata=metadata, condition=condition
        )
        return entry_of(entry)

    async def link(
        self,
        branch: str,
        path: str,
        address: str,
        *,
        size: int,
        checksum: str | None,
        content_type: str | None,
        metadata: Mapping[str, str],
    ) -> Entry:
        linked = await write.link(
            self._repository,
            branch,
            path,
            address,
            size=size,
            checksum=checksum,
            content_type=content_type,
            metadata=metadata,
        )
        return entry_of(linked)

    async def copy(self, branch: str, path: str, source_ref: str, source: str) -> Entry:
        return entry_of(await write.copy(self._repository, branch, path, source_ref, source))

    async def delete(self, branch: str, paths: Sequence[str]) -> None:
        await write.delete(self._repository, branch, paths)

    async def reset(self, branch: str) -> None:
        await reset.reset(self._repository, branch)

    async def reset_path(self, branch: str, path: str) -> None:
        await reset.reset_path(self._repository, branch, path)

    async def reset_prefix(self, branch: str, prefix: str) -> None:
        await reset.reset_prefix(self._repository, branch, prefix)

    async def compact(self, branch: str) -> None:
        await compact(self._repository, branch)
