"""What can be written to a branch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Literal, overload

from headwater.engine.errors import BadRequest
from headwater.files.append import Receipt
from headwater.sdk import aio
from headwater.sdk.bodies import Content
from headwater.sdk.describing import NO_METADATA
from headwater.sdk.results import Change, Commit, Committish, CommonPrefix, Entry, IngestStatus, Listed
from headwater.sdk.sync.files import Reader, WriteFile, WriteText, file_to_write
from headwater.sdk.sync.ref import Ref
from headwater.sdk.sync.running import Runner, running

if TYPE_CHECKING:
    from headwater.sdk.sync.workspace import Workspace


class Branch(Ref):
    """A branch: what can be read of it, and what can be written. What is written is staged until it is committed."""

    def __init__(self, runner: Runner, branch: aio.Branch) -> None:
        super().__init__(runner, branch)
        self._branch = branch

    @property
    def name(self) -> str:
        return self._branch.name

    def put(
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
        putting = self._branch.put(
            path, content, content_type=content_type, metadata=metadata, if_absent=if_absent, if_match=if_match
        )
        return running(self._runner, content)(putting)

    def workspace(self, id: str | None = None) -> Workspace:  # noqa: A002  (it is one)
        """A workspace on the head of this branch; or that of this *id*. `headwater.Workspace(branch)` is the same."""
        from headwater.sdk.sync.workspace import Workspace  # noqa: PLC0415  (it is made of a branch)

        return Workspace(self, id)

    def begin_workspace(self, id: str | None) -> tuple[Runner, aio.Workspace]:  # noqa: A002  (it is one)
        """What a `Workspace` is made of."""
        return self._runner, self._run(self._branch.workspace(id))

    def append(
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
        appending = self._branch.append(path, content, id=id, again=again, content_type=content_type, metadata=metadata)
        return running(self._runner, content)(appending)

    def pack(self, path: str, message: str | None = None) -> Commit:
        """Write the many small blocks of a grown file as few large ones. No content and no range changes.

        `NothingToCommit` if there is little to gain.
        """
        return self._run(self._branch.pack(path, message))

    def link(
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
        linking = self._branch.link(
            path, address, size=size, checksum=checksum, content_type=content_type, metadata=metadata
        )
        return self._run(linking)

    @overload
    def open(self, path: str, mode: Literal["rb"] = ...) -> Reader: ...
    @overload
    def open(
        self, path: str, mode: Literal["r"], *, encoding: str = ..., newline: str | None = ...
    ) -> TextIOWrapper: ...
    @overload
    def open(
        self,
        path: str,
        mode: Literal["wb"],
        *,
        content_type: str | None = ...,
        metadata: Mapping[str, str] = ...,
        if_absent: bool = ...,
    ) -> WriteFile: ...
    @overload
    def open(
        self,
        path: str,
        mode: Literal["w"],
        *,
        encoding: str = ...,
        newline: str | None = ...,
        content_type: str | None = ...,
        metadata: Mapping[str, str] = ...,
        if_absent: bool = ...,
    ) -> WriteText: ...
    def open(
        self,
        path: str,
        mode: Literal["rb", "r", "wb", "w"] = "rb",
        *,
        encoding: str = "utf-8",
        newline: str | None = None,
        content_type: str | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
        if_absent: bool = False,
    ) -> Reader | TextIOWrapper | WriteFile:
        """The file at *path*, to be read or written piece by piece.

        What is written is there when the file is closed. A `with` block that fails writes nothing. With *if_absent*,
        closing it is `PreconditionFailed` if there is something by then.
        """
        if mode == "rb":
            return super().open(path)
        if mode == "r":
            return super().open(path, mode, encoding=encoding, newline=newline)
        if mode not in {"wb", "w"}:
            raise BadRequest(f"mode {mode!r}: a file here is opened with 'rb', 'r', 'wb' or 'w'")
        writing = self._run(
            self._branch.writing(path, content_type=content_type, metadata=metadata, if_absent=if_absent)
        )
        return file_to_write(self._runner, writing, mode, encoding, newline)

    def import_prefix(
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
        return self._run(self._branch.import_prefix(source, destination, message, metadata=metadata))

    def ingest(
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
        a name twice, and what is there already is not compared. *progress* is called with how many objects were listed,
        perhaps from another thread.
        """
        ingesting = self._branch.ingest(
            source, directory, message, immutable=immutable, metadata=metadata, progress=progress
        )
        return self._run(ingesting)

    def start_ingest(
        self,
        source: str,
        directory: str = "",
        message: str | None = None,
        *,
        immutable: bool = False,
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> str:
        """Have a server do what `ingest` does, and do not wait for it. The id of what it does, for `ingest_status`."""
        starting = self._branch.start_ingest(source, directory, message, immutable=immutable, metadata=metadata)
        return self._run(starting)

    def ingest_status(self, id: str) -> IngestStatus:  # noqa: A002  (it is one)
        """How the ingest *id* stands. What ended is known for a day."""
        return self._run(self._branch.ingest_status(id))

    def cancel_ingest(self, id: str) -> None:  # noqa: A002  (it is one)
        """Stop the ingest *id*. Nothing of it is kept, unless its commit is there already."""
        self._run(self._branch.cancel_ingest(id))

    def ingest_diff(self, source: str, directory: str = "", *, immutable: bool = False) -> Iterator[Change]:
        """What `ingest` would change."""
        return self._runner.iterate(self._branch.ingest_diff(source, directory, immutable=immutable))

    def import_table(
        self, entries: Any, message: str = "Import", *, metadata: Mapping[str, str] = NO_METADATA
    ) -> Commit:
        """Commit objects that are somewhere already, as a table tells them: `path`, `address`, `size`, and maybe more.

        A table is whatever Arrow understands: of pyarrow, Polars, pandas or DuckDB. What is told is believed.
        """
        return self._run(self._branch.import_table(entries, message, metadata=metadata))

    def copy(self, source: str, path: str, *, source_ref: Committish | None = None) -> Entry:
        """Make *path* what *source* is, here or at another reference of this repository. No byte is copied."""
        return self._run(self._branch.copy(source, path, source_ref=source_ref))

    def delete(self, paths: str | Iterable[str]) -> None:
        """Stage that there is nothing at these paths. Content where there is nothing."""
        self._run(self._branch.delete([paths] if isinstance(paths, str) else [*paths]))

    def commit(
        self,
        message: str,
        *,
        metadata: Mapping[str, str] = NO_METADATA,
        time: datetime | None = None,
        allow_empty: bool = False,
    ) -> Commit:
        """Commit all that was written before this call. `NothingToCommit` if that changes nothing."""
        return self._run(self._branch.commit(message, metadata=metadata, time=time, allow_empty=allow_empty))

    @overload
    def diff(self, *, prefix: str = ...) -> Iterator[Change]: ...
    @overload
    def diff(self, *, prefix: str = ..., delimiter: str) -> Iterator[Change | CommonPrefix]: ...
    def diff(self, *, prefix: str = "", delimiter: str = "") -> Iterator[Change] | Iterator[Change | CommonPrefix]:
        """What is staged and different from the last commit, in the order of paths."""
        return self._runner.iterate(self._branch.diff(prefix=prefix, delimiter=delimiter))

    def revert(
        self,
        ref: Committish,
        message: str | None = None,
        *,
        parent: int | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> Commit:
        """Undo what the commit *ref* did, in a new one. Of a merge, *parent* says against which parent, from 1."""
        return self._run(self._branch.revert(ref, message, parent=parent, metadata=metadata))

    def cherry_pick(
        self,
        ref: Committish,
        message: str | None = None,
        *,
        parent: int | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> Commit:
        """Do here what the commit *ref* did, in a new one. Of a merge, *parent* says against which parent, from 1."""
        return self._run(self._branch.cherry_pick(ref, message, parent=parent, metadata=metadata))

    def compact(self) -> None:
        """Make listings quick again where very much is staged. Nobody sees a difference, and nothing is committed."""
        self._run(self._branch.compact())

    def reset(self, path: str | None = None, *, prefix: str | None = None) -> None:
        """Give up what is staged: all of it, at *path*, or under *prefix*."""
        self._run(self._branch.reset(path, prefix=prefix))

    def hard_reset(self, ref: Committish) -> Commit:
        """Make the branch point at the commit *ref*, and give up all that is staged."""
        return self._run(self._branch.hard_reset(ref))
