"""What moves a branch, over the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from headwater import index
from headwater.engine import merge, reset
from headwater.engine.commit import Description, commit
from headwater.engine.errors import BadRequest
from headwater.engine.importing import ImportPrefix, import_objects, import_table
from headwater.engine.ingesting import Source, ingest, plan_ingest
from headwater.engine.looking import commit_of as find_commit
from headwater.engine.repository import Repository
from headwater.sdk.errors import told
from headwater.sdk.ports import Behaviour, Strategy
from headwater.sdk.results import Change, Commit, IngestStatus, Listed, changed_of, commit_of


class Committing:
    def __init__(self, repository: Repository, committer: str) -> None:
        self._repository = repository
        self._committer = committer

    async def commit(
        self, branch: str, message: str, *, metadata: Mapping[str, str], time: int | None, allow_empty: bool
    ) -> Commit:
        description = self._described(message, metadata, time)
        landed = await commit(self._repository, branch, description, allow_empty=allow_empty)
        await self._repository.tidying.now_and_then()
        return commit_of(landed)

    async def merge(
        self,
        source: str,
        branch: str,
        message: str,
        *,
        strategy: Strategy,
        squash: bool,
        prefixes: Mapping[str, Behaviour],
        appends: merge.Appends,
        metadata: Mapping[str, str],
    ) -> Commit:
        with told():
            merged = await merge.merge(
                self._repository,
                source,
                branch,
                self._described(message, metadata),
                strategy=index.Strategy(strategy),
                squash=squash,
                prefixes={prefix: index.Behaviour(behaviour) for prefix, behaviour in prefixes.items()},
                appends=appends,
            )
        return commit_of(merged)

    async def revert(
        self, branch: str, ref: str, message: str, *, parent: int | None, metadata: Mapping[str, str]
    ) -> Commit:
        description = self._described(message, metadata)
        with told():
            return commit_of(await merge.revert(self._repository, ref, branch, description, parent=parent))

    async def cherry_pick(
        self, branch: str, ref: str, message: str | None, *, parent: int | None, metadata: Mapping[str, str]
    ) -> Commit:
        picked = await find_commit(self._repository, ref)
        description = self._described(message or picked.message, metadata)
        with told():
            return commit_of(await merge.cherry_pick(self._repository, picked.id, branch, description, parent=parent))

    async def hard_reset(self, branch: str, ref: str) -> Commit:
        return commit_of(await reset.hard_reset(self._repository, branch, ref, by=self._committer))

    async def import_prefix(
        self, branch: str, source: str, destination: str, message: str, *, metadata: Mapping[str, str]
    ) -> Commit:
        sources = [ImportPrefix(source, destination)]
        return commit_of(await import_objects(self._repository, branch, sources, self._described(message, metadata)))

    async def import_table(self, branch: str, entries: Any, message: str, *, metadata: Mapping[str, str]) -> Commit:
        return commit_of(await import_table(self._repository, branch, entries, self._described(message, metadata)))

    async def ingest(
        self,
        branch: str,
        source: str,
        directory: str,
        message: str,
        *,
        immutable: bool,
        metadata: Mapping[str, str],
        progress: Listed,
    ) -> Commit:
        place, listed = Source(source, directory, immutable), 0

        def found(count: int) -> None:
            nonlocal listed
            listed += count
            progress(listed)

        described = self._described(message, metadata)
        return commit_of(await ingest(self._repository, branch, place, described, found=found))

    async def start_ingest(self, *_told: object, **_named: object) -> str:
        raise _no_tasks()

    async def ingest_status(self, *_told: object) -> IngestStatus:
        raise _no_tasks()

    async def cancel_ingest(self, *_told: object) -> None:
        raise _no_tasks()

    async def ingest_diff(self, branch: str, source: str, directory: str, *, immutable: bool) -> AsyncIterator[Change]:
        plan = await plan_ingest(self._repository, branch, Source(source, directory, immutable))
        for change in plan.changes():
            yield changed_of(change)

    def _described(self, message: str, metadata: Mapping[str, str], time: int | None = None) -> Description:
        moment = self._repository.outside.now() if time is None else time
        return Description(message, self._committer, moment, metadata)


def _no_tasks() -> BadRequest:
    return BadRequest(
        "this lake is open in this process, and there is no server that would go on without it: ingest(…)"
    )
