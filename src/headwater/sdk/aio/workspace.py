"""A workspace, with `await`: what is written straight to the object store, until a commit refers to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from itertools import islice
from typing import Literal, overload
from urllib.parse import quote

from headwater.blob import Body
from headwater.engine.errors import BadRequest
from headwater.engine.limits import MAX_DELETES
from headwater.engine.workspaces.clearing import EVERYTHING
from headwater.engine.workspaces.ids import parse_id
from headwater.sdk.aio.files import ReadFile, WriteFile
from headwater.sdk.aio.ref import Ref
from headwater.sdk.bodies import Content, body_of
from headwater.sdk.describing import NO_METADATA
from headwater.sdk.paging import Pages
from headwater.sdk.ports import RepositoryPort
from headwater.sdk.results import Change, Commit, CommonPrefix, Entry


class Workspace(Ref):
    """What is written beside a branch, by anybody who may write to the bucket; seen over the commit that it began on.

    It is begun by `await branch.workspace()`, and gone on with, from anywhere, by its id.
    """

    def __init__(self, repository: RepositoryPort, branch: str, id: str) -> None:  # noqa: A002  (it is one)
        super().__init__(repository, f"{branch}+{id}")
        self.branch = branch
        """The branch that it will be committed to."""

        self.id = id
        """By which any process, on any machine, can go on with it."""

    @property
    def base(self) -> str:
        """The commit that it was begun on."""
        return parse_id(self.id).base

    def path(self, path: str = "", *, scheme: str | None = None) -> str:
        """The place to write *path* with any tool, as a URI: of a bucket on S3 `s3a://…`, or with another *scheme*.

        What is written there is in the workspace.
        """
        return self._repository.workspaces.place(self.id, path, scheme)

    def uri(self, path: str = "") -> str:
        """The place to read *path* from, merged with what is committed: `hw://repository/branch+id/path`."""
        return f"hw://{self._repository.name}/{quote(self.expression, safe='+')}/{path}"

    async def put(self, path: str, content: Content) -> Entry:
        """Write *content* to *path*: bytes, a file, or chunks. Readers see all of it or nothing."""
        return await self._put(path, body_of(content))

    async def delete(self, paths: str | Iterable[str]) -> None:
        """Have nothing at these paths. Content where there is nothing."""
        remaining = iter((paths,) if isinstance(paths, str) else paths)
        while some := list(islice(remaining, MAX_DELETES)):
            await self._repository.writing.delete(self.expression, some)

    async def writing(self, path: str) -> WriteFile:
        """A file to be written piece by piece, and to be closed or given up in the end."""
        return WriteFile(partial(self._put, path))

    @overload
    def open(self, path: str, mode: Literal["rb"] = ...) -> AbstractAsyncContextManager[ReadFile]: ...
    @overload
    def open(self, path: str, mode: Literal["wb"]) -> AbstractAsyncContextManager[WriteFile]: ...
    def open(
        self, path: str, mode: Literal["rb", "wb"] = "rb"
    ) -> AbstractAsyncContextManager[ReadFile] | AbstractAsyncContextManager[WriteFile]:
        """`async with` a file to read, or to write: then it is there at the end of the block, unless that fails."""
        return self._opened_to_write(path) if mode == "wb" else super().open(path, mode)

    @overload
    def diff(self, *, prefix: str = ...) -> Pages[Change]: ...
    @overload
    def diff(self, *, prefix: str = ..., delimiter: str) -> Pages[Change | CommonPrefix]: ...
    def diff(self, *, prefix: str = "", delimiter: str = "") -> Pages[Change] | Pages[Change | CommonPrefix]:
        """What is in it and different from what it is based on, in the order of paths."""
        return Pages(partial(self._repository.reading.uncommitted, self.expression, prefix, delimiter))

    def all(self) -> Selection:
        """All that is in it, to be committed: that closes it."""
        return Selection(self, None)

    def add(self, *patterns: str) -> Selection:
        """What matches one of *patterns*, to be committed; the rest stays. Patterns are those of `glob`."""
        if not patterns:
            raise BadRequest("say what is to be committed, as in add('**/*.parquet'); or commit all()")
        return Selection(self, patterns)

    async def revert(self, *patterns: str) -> int:
        """Give up what matches one of *patterns*, or without any, everything. How many objects that were."""
        return await self._repository.workspaces.revert(self.branch, self.id, patterns or EVERYTHING)

    async def remove(self, *patterns: str) -> int:
        """Delete what matches one of *patterns*, also of what is committed. How many paths that were."""
        if not patterns:
            raise BadRequest("say what is to be deleted, as in remove('tmp/**')")
        return await self._repository.workspaces.remove(self.branch, self.id, patterns)

    async def discard(self) -> None:
        """Give the whole workspace up, and close it."""
        await self._repository.workspaces.discard(self.branch, self.id)

    async def commit(
        self,
        message: str,
        patterns: tuple[str, ...] | None,
        *,
        metadata: Mapping[str, str] = NO_METADATA,
        retry: bool = False,
    ) -> Commit:
        """What `all().commit` and `add(…).commit` do."""
        return await self._repository.workspaces.commit(
            self.branch, self.id, message, patterns=patterns, retry=retry, metadata=metadata
        )

    @asynccontextmanager
    async def _opened_to_write(self, path: str) -> AsyncIterator[WriteFile]:
        async with await self.writing(path) as file:
            yield file

    async def _put(self, path: str, body: Body) -> Entry:
        put = self._repository.writing.put
        return await put(self.expression, path, body, content_type=None, metadata=NO_METADATA)


class Selection:
    """What of a workspace is to be committed."""

    def __init__(self, workspace: Workspace, patterns: tuple[str, ...] | None) -> None:
        self._workspace = workspace
        self._patterns = patterns

    async def commit(self, message: str, *, metadata: Mapping[str, str] = NO_METADATA, retry: bool = False) -> Commit:
        """Commit it. `ConcurrentCommit` if somebody committed to the branch since the workspace was begun.

        With *retry* that is no matter, unless both changed a path. `NothingToCommit` if it changes nothing.
        """
        return await self._workspace.commit(message, self._patterns, metadata=metadata, retry=retry)
