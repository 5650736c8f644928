"""A commit in progress, with `await`: what will be one commit is gathered beside its branch, and landed in the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Self

from headwater.files.append import Receipt
from headwater.files.in_progress import InProgress
from headwater.sdk.aio.branch import Branch
from headwater.sdk.aio.ref import Ref
from headwater.sdk.bodies import Content
from headwater.sdk.describing import NO_METADATA
from headwater.sdk.ports import RepositoryPort
from headwater.sdk.results import Commit, Entry


class CommitInProgress(Ref):
    """What is gathered for a commit, and can be read as it will be, by whoever has its id: nobody else sees any of it.

    Leaving `async with` finishes it; by an error, drops it.
    """

    def __init__(self, repository: RepositoryPort, begun: InProgress, message: str = "") -> None:
        super().__init__(repository, begun.name)
        self._begun = begun
        self._message = message
        self._gathering = Branch(repository, begun.name)

    @property
    def id(self) -> str:
        """By which any process can go on with it: `repo.commit_in_progress(id)`."""
        return self._begun.id

    @property
    def branch(self) -> str:
        """The branch that it will be on."""
        return self._begun.branch

    async def append(
        self,
        path: str,
        content: Content,
        *,
        content_type: str | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> Receipt:
        """Add *content* to the end of the file at *path*."""
        return await self._gathering.append(path, content, content_type=content_type, metadata=metadata)

    async def put(
        self,
        path: str,
        content: Content,
        *,
        content_type: str | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> Entry:
        """Have *content* and nothing else at *path*."""
        return await self._gathering.put(path, content, content_type=content_type, metadata=metadata)

    async def delete(self, paths: str | Iterable[str]) -> None:
        """Have nothing at these paths. Content where there is nothing."""
        await self._gathering.delete(paths)

    async def finish(self, message: str | None = None, *, metadata: Mapping[str, str] = NO_METADATA) -> Commit:
        """Land all of it as one commit. It lands once, by whomever and however often this is called."""
        return await self._repository.files.finish(self.id, message or self._message, metadata=metadata)

    async def drop(self) -> None:
        """Give it up, and all that was gathered."""
        await self._repository.files.drop(self.id)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await (self.finish() if kind is None else self.drop())
