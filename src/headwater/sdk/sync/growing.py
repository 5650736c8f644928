"""A commit in progress: what will be one commit is gathered beside its branch, and landed in the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Self

from headwater.files.append import Receipt
from headwater.sdk.aio.growing import CommitInProgress as Awaited
from headwater.sdk.bodies import Content
from headwater.sdk.describing import NO_METADATA
from headwater.sdk.results import Commit, Entry
from headwater.sdk.sync.ref import Ref
from headwater.sdk.sync.running import Runner, running


class CommitInProgress(Ref):
    """What is gathered for a commit, and can be read as it will be, by whoever has its id: nobody else sees any of it.

    Leaving `with` finishes it; by an error, drops it.
    """

    def __init__(self, runner: Runner, gathered: Awaited) -> None:
        super().__init__(runner, gathered)
        self._gathered = gathered

    @property
    def id(self) -> str:
        """By which any process can go on with it: `repo.commit_in_progress(id)`."""
        return self._gathered.id

    @property
    def branch(self) -> str:
        """The branch that it will be on."""
        return self._gathered.branch

    def append(
        self,
        path: str,
        content: Content,
        *,
        content_type: str | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> Receipt:
        """Add *content* to the end of the file at *path*."""
        appending = self._gathered.append(path, content, content_type=content_type, metadata=metadata)
        return running(self._runner, content)(appending)

    def put(
        self,
        path: str,
        content: Content,
        *,
        content_type: str | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> Entry:
        """Have *content* and nothing else at *path*."""
        putting = self._gathered.put(path, content, content_type=content_type, metadata=metadata)
        return running(self._runner, content)(putting)

    def delete(self, paths: str | Iterable[str]) -> None:
        """Have nothing at these paths. Content where there is nothing."""
        self._run(self._gathered.delete([paths] if isinstance(paths, str) else [*paths]))

    def finish(self, message: str | None = None, *, metadata: Mapping[str, str] = NO_METADATA) -> Commit:
        """Land all of it as one commit. It lands once, by whomever and however often this is called."""
        return self._run(self._gathered.finish(message, metadata=metadata))

    def drop(self) -> None:
        """Give it up, and all that was gathered."""
        self._run(self._gathered.drop())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()
        else:
            self.drop()
