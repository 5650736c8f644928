"""A workspace: what is written straight to the object store, until a commit refers to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import TextIOWrapper
from typing import Literal, overload

from headwater.engine.errors import BadRequest
from headwater.sdk.aio import workspace as awaited
from headwater.sdk.bodies import Content
from headwater.sdk.describing import NO_METADATA
from headwater.sdk.results import Change, Commit, CommonPrefix, Entry
from headwater.sdk.sync.branch import Branch
from headwater.sdk.sync.files import Reader, WriteFile, WriteText, file_to_write
from headwater.sdk.sync.ref import Ref
from headwater.sdk.sync.running import Runner, running


class Workspace(Ref):
    """What is written beside a branch, by anybody who may write to the bucket; seen over the commit that it began on.

    With an *id*, it is the workspace of that id, begun by whomever, wherever. Nothing is recorded when one is begun.
    """

    def __init__(self, branch: Branch, id: str | None = None) -> None:  # noqa: A002  (it is one)
        runner, workspace = branch.begin_workspace(id)
        super().__init__(runner, workspace)
        self._workspace = workspace

    @property
    def id(self) -> str:
        """By which any process, on any machine, can go on with it."""
        return self._workspace.id

    @property
    def branch(self) -> str:
        """The branch that it will be committed to."""
        return self._workspace.branch

    @property
    def base(self) -> str:
        """The commit that it was begun on."""
        return self._workspace.base

    def path(self, path: str = "", *, scheme: str | None = None) -> str:
        """The place to write *path* with any tool, as a URI: of a bucket on S3 `s3a://…`, or with another *scheme*.

        What is written there is in the workspace.
        """
        return self._workspace.path(path, scheme=scheme)

    def uri(self, path: str = "") -> str:
        """The place to read *path* from, merged with what is committed: `hw://repository/branch+id/path`."""
        return self._workspace.uri(path)

    def put(self, path: str, content: Content) -> Entry:
        """Write *content* to *path*: bytes, a file, or chunks. Readers see all of it or nothing."""
        return running(self._runner, content)(self._workspace.put(path, content))

    def delete(self, paths: str | Iterable[str]) -> None:
        """Have nothing at these paths. Content where there is nothing."""
        self._run(self._workspace.delete([paths] if isinstance(paths, str) else [*paths]))

    @overload
    def open(self, path: str, mode: Literal["rb"] = ...) -> Reader: ...
    @overload
    def open(
        self, path: str, mode: Literal["r"], *, encoding: str = ..., newline: str | None = ...
    ) -> TextIOWrapper: ...
    @overload
    def open(self, path: str, mode: Literal["wb"]) -> WriteFile: ...
    @overload
    def open(self, path: str, mode: Literal["w"], *, encoding: str = ..., newline: str | None = ...) -> WriteText: ...
    def open(
        self,
        path: str,
        mode: Literal["rb", "r", "wb", "w"] = "rb",
        *,
        encoding: str = "utf-8",
        newline: str | None = None,
    ) -> Reader | TextIOWrapper | WriteFile:
        """The file at *path*, to be read or written piece by piece.

        What is written is there when the file is closed. A `with` block that fails writes nothing.
        """
        if mode == "rb":
            return super().open(path)
        if mode == "r":
            return super().open(path, mode, encoding=encoding, newline=newline)
        if mode not in {"wb", "w"}:
            raise BadRequest(f"mode {mode!r}: a file here is opened with 'rb', 'r', 'wb' or 'w'")
        return file_to_write(self._runner, self._run(self._workspace.writing(path)), mode, encoding, newline)

    @overload
    def diff(self, *, prefix: str = ...) -> Iterator[Change]: ...
    @overload
    def diff(self, *, prefix: str = ..., delimiter: str) -> Iterator[Change | CommonPrefix]: ...
    def diff(self, *, prefix: str = "", delimiter: str = "") -> Iterator[Change] | Iterator[Change | CommonPrefix]:
        """What is in it and different from what it is based on, in the order of paths."""
        return self._runner.iterate(self._workspace.diff(prefix=prefix, delimiter=delimiter))

    def all(self) -> Selection:
        """All that is in it, to be committed: that closes it."""
        return Selection(self._runner, self._workspace.all())

    def add(self, *patterns: str) -> Selection:
        """What matches one of *patterns*, to be committed; the rest stays. Patterns are those of `glob`."""
        return Selection(self._runner, self._workspace.add(*patterns))

    def revert(self, *patterns: str) -> int:
        """Give up what matches one of *patterns*, or without any, everything. How many objects that were."""
        return self._run(self._workspace.revert(*patterns))

    def remove(self, *patterns: str) -> int:
        """Delete what matches one of *patterns*, also of what is committed. How many paths that were."""
        return self._run(self._workspace.remove(*patterns))

    def discard(self) -> None:
        """Give the whole workspace up, and close it."""
        self._run(self._workspace.discard())


class Selection:
    """What of a workspace is to be committed."""

    def __init__(self, runner: Runner, selection: awaited.Selection) -> None:
        self._runner = runner
        self._selection = selection

    def commit(self, message: str, *, metadata: Mapping[str, str] = NO_METADATA, retry: bool = False) -> Commit:
        """Commit it. `ConcurrentCommit` if somebody committed to the branch since the workspace was begun.

        With *retry* that is no matter, unless both changed a path. `NothingToCommit` if it changes nothing.
        """
        committing = self._selection.commit(message, metadata=metadata, retry=retry)
        return self._runner.run(committing)
