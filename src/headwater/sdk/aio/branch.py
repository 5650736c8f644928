"""What can be written to a branch, with `await`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, Literal, overload

from headwater.engine.errors import BadRequest
from headwater.engine.limits import MAX_DELETES
from headwater.files.append import Receipt
from headwater.sdk.aio.files import ReadFile, WriteFile
from headwater.sdk.aio.ref import Ref
from headwater.sdk.aio.workspace import Workspace
from headwater.sdk.bodies import Content, body_of
from headwater.sdk.describing import NO_METADATA, condition_of
from headwater.sdk.paging import Pages, gathered
from headwater.sdk.results import (
    Change,
    Commit,
    Committish,
    CommonPrefix,
    Entry,
    IngestStatus,
    Listed,
    expression_of,
    milliseconds_of,
)


class Branch(Ref):
    """A branch: what can be read of it, and what can be written. What is written is staged until it is committed."""

    @property
    def name(self) -> str:
        return self.expression

    async def put(
        self,
        path: str,
        content: Content,
        *,
        content_type: str | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
        if_absent: bool = False,
        if_match: str | None = None,
    ) -> Entry:
        """Write *content* to *path*: bytes, a file, or chunks. Readers see all of it or nothing.

        `PreconditionFailed` if there is something already and *if_absent* is set, or what is there does not have the
        checksum *if_match*.
        """
        condition = condition_of(if_absent=if_absent, if_match=if_match)
        return await self._repository.writing.put(
            self.name, path, body_of(content), content_type=content_type, metadata=metadata, condition=condition
        )

    async def workspace(self, id: str | None = None) -> Workspace:  # noqa: A002  (it is one)
        """A workspace on the head of this branch; or the one of this *id*, begun by whomever.

        `WorkspaceClosed` if all of that was committed.
        """
        workspaces = self._repository.workspaces
        if id is None:
            return Workspace(self._repository, self.name, await workspaces.begin(self.name))
        await workspaces.check(self.name, id)
        return Workspace(self._repository, self.name, id)

    async def append(
        self,
        path: str,
        content: Content,
        *,
        id: str | None = None,  # noqa: A002  (it is one)
        again: bool = False,
        content_type: str | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> Receipt:
        """Add *content* to the end of the file at *path*, which is made if need be. The file is not read.

        Only in an append repository. It counts once: one whose outcome is unknown may be made *again*, at any time and
        by anybody, under the same *id*, that of its receipt or one of `repo.new_append_id()`, and with the same bytes.
        """
        return await self._repository.files.append(
            self.name,
            path,
            body_of(content),
            id=id,
            again=again,
            content_type=content_type,
            metadata=metadata,
        )

    async def pack(self, path: str, message: str | None = None) -> Commit:
        """Write the many small blocks of a grown file as few large ones. No content and no range changes.

        `NothingToCommit` if there is little to gain.
        """
        return await self._repository.files.pack(self.name, path, message or f"Pack {path}")

    async def link(
        self,
        path: str,
        address: str,
        *,
        size: int,
        checksum: str | None = None,
        content_type: str | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> Entry:
        """Stage an object that is somewhere already, by its URI. Nothing is read: what is told of it is believed."""
        return await self._repository.writing.link(
            self.name,
            path,
            address,
            size=size,
            checksum=checksum,
            content_type=content_type,
            metadata=metadata,
        )

    async def writing(
        self,
        path: str,
        *,
        content_type: str | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
        if_absent: bool = False,
    ) -> WriteFile:
        """A file to be written piece by piece, and to be closed or given up in the end. `RefNotFound` at once."""
        await self._repository.refs.check_branch(self.name)
        condition = condition_of(if_absent=if_absent, if_match=None)
        put = partial(self._repository.writing.put, self.name, path, condition=condition)
        return WriteFile(partial(put, content_type=content_type, metadata=metadata))

    @overload
    def open(self, path: str, mode: Literal["rb"] = ...) -> AbstractAsyncContextManager[ReadFile]: ...
    @overload
    def open(self, path: str, mode: Literal["wb"]) -> AbstractAsyncContextManager[WriteFile]: ...
    def open(
        self, path: str, mode: Literal["rb", "wb"] = "rb"
    ) -> AbstractAsyncContextManager[ReadFile] | AbstractAsyncContextManager[WriteFile]:
        """`async with` a file to read, or to write: then it is there at the end of the block, unless that fails."""
        return self._opened_to_write(path) if mode == "wb" else super().open(path, mode)

    async def import_prefix(
        self,
        source: str,
        destination: str = "",
        message: str | None = None,
        *,
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> Commit:
        """Commit every object whose URI begins with *source*, at *destination* and what follows in the URI.

        No byte is read: a listing is all it costs. What the branch has elsewhere stays.
        """
        return await self._repository.committing.import_prefix(
            self.name, source, destination, message or f"Import {source}", metadata=metadata
        )

    async def ingest(
        self,
        source: str,
        directory: str = "",
        message: str | None = None,
        *,
        immutable: bool = False,
        metadata: Mapping[str, str] = NO_METADATA,
        progress: Listed = lambda _: None,
    ) -> Commit:
        """Have in *directory* exactly what is below the URI *source*: what is new, changed or gone is one commit.

        No byte is read. `NothingToCommit` if nothing is different. With *immutable*, whoever writes there never writes
        a name twice, and what is there already is not compared. *progress* is called with how many objects were listed.
        """
        return await self._repository.committing.ingest(
            self.name,
            source,
            directory,
            message or f"Ingest {source}",
            immutable=immutable,
            metadata=metadata,
            progress=progress,
        )

    async def start_ingest(
        self,
        source: str,
        directory: str = "",
        message: str | None = None,
        *,
        immutable: bool = False,
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> str:
        """Have a server do what `ingest` does, and do not wait for it. The id of what it does, for `ingest_status`."""
        return await self._repository.committing.start_ingest(
            self.name, source, directory, message or f"Ingest {source}", immutable=immutable, metadata=metadata
        )

    async def ingest_status(self, id: str) -> IngestStatus:  # noqa: A002  (it is one)
        """How the ingest *id* stands. What ended is known for a day."""
        return await self._repository.committing.ingest_status(self.name, id)

    async def cancel_ingest(self, id: str) -> None:  # noqa: A002  (it is one)
        """Stop the ingest *id*. Nothing of it is kept, unless its commit is there already."""
        await self._repository.committing.cancel_ingest(self.name, id)

    def ingest_diff(self, source: str, directory: str = "", *, immutable: bool = False) -> Pages[Change]:
        """What `ingest` would change."""
        return gathered(self._repository.committing.ingest_diff(self.name, source, directory, immutable=immutable))

    async def import_table(
        self, entries: Any, message: str = "Import", *, metadata: Mapping[str, str] = NO_METADATA
    ) -> Commit:
        """Commit objects that are somewhere already, as a table tells them: `path`, `address`, `size`, and maybe more.

        A table is whatever Arrow understands: of pyarrow, Polars, pandas or DuckDB. What is told is believed.
        """
        return await self._repository.committing.import_table(self.name, entries, message, metadata=metadata)

    async def copy(self, source: str, path: str, *, source_ref: Committish | None = None) -> Entry:
        """Make *path* what *source* is, here or at another reference of this repository. No byte is copied."""
        ref = self.name if source_ref is None else expression_of(source_ref)
        return await self._repository.writing.copy(self.name, path, ref, source)

    async def delete(self, paths: str | Iterable[str]) -> None:
        """Stage that there is nothing at these paths. Content where there is nothing."""
        remaining = iter((paths,) if isinstance(paths, str) else paths)
        while some := list(islice(remaining, MAX_DELETES)):
            await self._repository.writing.delete(self.name, some)

    async def commit(
        self,
        message: str,
        *,
        metadata: Mapping[str, str] = NO_METADATA,
        time: datetime | None = None,
        allow_empty: bool = False,
    ) -> Commit:
        """Commit all that was written before this call. `NothingToCommit` if that changes nothing."""
        moment = None if time is None else milliseconds_of(time)
        return await self._repository.committing.commit(
            self.name, message, metadata=metadata, time=moment, allow_empty=allow_empty
        )

    @overload
    def diff(self, *, prefix: str = ...) -> Pages[Change]: ...
    @overload
    def diff(self, *, prefix: str = ..., delimiter: str) -> Pages[Change | CommonPrefix]: ...
    def diff(self, *, prefix: str = "", delimiter: str = "") -> Pages[Change] | Pages[Change | CommonPrefix]:
        """What is staged and different from the last commit, in the order of paths."""
        return Pages(partial(self._repository.reading.uncommitted, self.name, prefix, delimiter))

    async def revert(
        self,
        ref: Committish,
        message: str | None = None,
        *,
        parent: int | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> Commit:
        """Undo what the commit *ref* did, in a new one. Of a merge, *parent* says against which parent, from 1."""
        undone = expression_of(ref)
        return await self._repository.committing.revert(
            self.name, undone, message or f"Revert {undone!r}", parent=parent, metadata=metadata
        )

    async def cherry_pick(
        self,
        ref: Committish,
        message: str | None = None,
        *,
        parent: int | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> Commit:
        """Do here what the commit *ref* did, in a new one. Of a merge, *parent* says against which parent, from 1."""
        return await self._repository.committing.cherry_pick(
            self.name, expression_of(ref), message, parent=parent, metadata=metadata
        )

    async def compact(self) -> None:
        """Make listings quick again where very much is staged. Nobody sees a difference, and nothing is committed."""
        await self._repository.writing.compact(self.name)

    async def reset(self, path: str | None = None, *, prefix: str | None = None) -> None:
        """Give up what is staged: all of it, at *path*, or under *prefix*."""
        if path is not None and prefix is not None:
            raise BadRequest("reset one path, or what is under one prefix: not both at once")
        if path is not None:
            await self._repository.writing.reset_path(self.name, path)
        elif prefix is not None:
            await self._repository.writing.reset_prefix(self.name, prefix)
        else:
            await self._repository.writing.reset(self.name)

    async def hard_reset(self, ref: Committish) -> Commit:
        """Make the branch point at the commit *ref*, and give up all that is staged."""
        return await self._repository.committing.hard_reset(self.name, expression_of(ref))

    @asynccontextmanager
    async def _opened_to_write(self, path: str) -> AsyncIterator[WriteFile]:
        async with await self.writing(path) as file:
            yield file
