"""What the faces of the SDK stand on: a lake, wherever it is.

The faces are written once. What is beneath them, as the engine in this process (`sdk/embedded`), answers these calls in
the same values and with the same errors. References are expressions here, times are milliseconds since 1970, and what
may be long comes in pages: *after* is empty for the first, and comes with each page for the next.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import pyarrow as pa

from headwater.blob import Body
from headwater.engine.conditional import Condition
from headwater.engine.findings import Report
from headwater.engine.merge import Appends
from headwater.engine.repository import Mode
from headwater.files.append import Receipt
from headwater.files.in_progress import InProgress
from headwater.history import Signature
from headwater.history import Tag as SignedTag
from headwater.sdk.results import (
    Change,
    Child,
    Commit,
    CommonPrefix,
    Entry,
    IngestStatus,
    Listed,
    RefChange,
    Tag,
    Walked,
)

Item = TypeVar("Item")

Found: TypeAlias = tuple[Sequence[Item], str | None]
"""A page, and what to pass as *after* for the next one; None if there is none."""

Strategy: TypeAlias = Literal["report", "source-wins", "dest-wins"]
Behaviour: TypeAlias = Literal["normal", "force", "drop"]


class LakePort(Protocol):
    """Repositories by name."""

    async def create_repo(
        self,
        name: str,
        *,
        namespace: str | None,
        default_branch: str,
        read_only: bool,
        metadata: Mapping[str, str],
        mode: Mode,
    ) -> RepositoryPort: ...

    async def repo(self, name: str) -> RepositoryPort: ...

    async def repos(self, prefix: str, after: str) -> Found[str]: ...

    async def delete_repo(self, name: str) -> None: ...

    async def aclose(self) -> None: ...


class RepositoryPort(Protocol):
    """What is known of a repository since it was opened, and what can be asked of it, by what it is about."""

    @property
    def name(self) -> str: ...

    @property
    def namespace(self) -> str: ...

    @property
    def default_branch(self) -> str: ...

    @property
    def metadata(self) -> Mapping[str, str]: ...

    @property
    def mode(self) -> Mode: ...

    @property
    def refs(self) -> RefsPort: ...

    @property
    def reading(self) -> ReadingPort: ...

    @property
    def writing(self) -> WritingPort: ...

    @property
    def committing(self) -> CommittingPort: ...

    @property
    def files(self) -> FilesPort: ...

    @property
    def workspaces(self) -> WorkspacesPort: ...


class RefsPort(Protocol):
    """Branches, tags, and what was done to them."""

    async def check_branch(self, name: str) -> None:
        """`RefNotFound` if there is no such branch, as far as is known without looking twice."""

    async def create_branch(self, name: str, source: str) -> None: ...

    async def delete_branch(self, name: str) -> None: ...

    async def branches(self, prefix: str, after: str) -> Found[str]: ...

    async def create_tag(
        self, name: str, source: str, *, message: str, metadata: Mapping[str, str], signing_key: bytes | None
    ) -> Tag: ...

    async def signed_tag(self, name: str) -> SignedTag:
        """The tag with what its signature is of. `RefNotFound` if there is none."""

    async def add_signature(self, ref: str, signature: Signature) -> None: ...

    async def signatures(self, ref: str) -> tuple[str, list[Signature]]:
        """The id of the commit that *ref* means, and who signed it."""

    async def delete_tag(self, name: str) -> None: ...

    async def tags(self, prefix: str, after: str) -> Found[Tag]: ...

    async def ref_log(self, after: str) -> Found[RefChange]: ...

    async def undo_ref(self, change: str) -> None: ...

    async def check(self) -> Report: ...


class ContentPort(Protocol):
    """A file as it was when it was opened."""

    @property
    def entry(self) -> Entry: ...

    async def read(self, start: int, end: int) -> bytes:
        """The bytes from *start* up to *end*, which are within it, and some."""


class ReadingPort(Protocol):
    """What can be read at any reference."""

    async def stat(self, ref: str, path: str) -> Entry: ...

    async def get(self, ref: str, path: str, start: int, end: int | None) -> bytes: ...

    async def open(self, ref: str, path: str) -> ContentPort: ...

    async def list(self, ref: str, prefix: str, delimiter: str, after: str) -> Found[Entry | CommonPrefix]: ...

    async def as_arrow(self, ref: str, prefix: str) -> pa.Table: ...

    async def commit(self, ref: str) -> Commit: ...

    async def log(
        self,
        ref: str,
        after: str,
        *,
        paths: Sequence[str],
        first_parents: bool,
        since: int | None,
        until: int | None,
        stop_at: str | None,
    ) -> Found[Commit]: ...

    async def is_ancestor(self, older: str, newer: str) -> bool:
        """Along first parents."""

    def between(self, older: str, newer: str) -> AsyncIterator[Commit]:
        """Those after *older* up to *newer*, newest first, along first parents."""

    async def diff(
        self, left: str, right: str, prefix: str, delimiter: str, after: str, *, three_dot: bool
    ) -> Found[Change | CommonPrefix]: ...

    async def uncommitted(
        self, branch: str, prefix: str, delimiter: str, after: str
    ) -> Found[Change | CommonPrefix]: ...


class WritingPort(Protocol):
    """What is staged on a branch."""

    async def put(
        self,
        branch: str,
        path: str,
        body: Body,
        *,
        content_type: str | None,
        metadata: Mapping[str, str],
        condition: Condition | None = None,
    ) -> Entry: ...

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
    ) -> Entry: ...

    async def copy(self, branch: str, path: str, source_ref: str, source: str) -> Entry: ...

    async def delete(self, branch: str, paths: Sequence[str]) -> None:
        """At most `MAX_DELETES` of them."""

    async def reset(self, branch: str) -> None: ...

    async def reset_path(self, branch: str, path: str) -> None: ...

    async def reset_prefix(self, branch: str, prefix: str) -> None: ...

    async def compact(self, branch: str) -> None: ...


class CommittingPort(Protocol):
    """What moves a branch."""

    async def commit(
        self, branch: str, message: str, *, metadata: Mapping[str, str], time: int | None, allow_empty: bool
    ) -> Commit: ...

    async def merge(
        self,
        source: str,
        branch: str,
        message: str,
        *,
        strategy: Strategy,
        squash: bool,
        prefixes: Mapping[str, Behaviour],
        appends: Appends,
        metadata: Mapping[str, str],
    ) -> Commit: ...

    async def revert(
        self, branch: str, ref: str, message: str, *, parent: int | None, metadata: Mapping[str, str]
    ) -> Commit: ...

    async def cherry_pick(
        self, branch: str, ref: str, message: str | None, *, parent: int | None, metadata: Mapping[str, str]
    ) -> Commit:
        """Without a *message*, that of the commit."""

    async def hard_reset(self, branch: str, ref: str) -> Commit: ...

    async def import_prefix(
        self, branch: str, source: str, destination: str, message: str, *, metadata: Mapping[str, str]
    ) -> Commit: ...

    async def import_table(self, branch: str, entries: Any, message: str, *, metadata: Mapping[str, str]) -> Commit: ...

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
    ) -> Commit: ...

    async def start_ingest(
        self, branch: str, source: str, directory: str, message: str, *, immutable: bool, metadata: Mapping[str, str]
    ) -> str:
        """The id of a task that goes on without the caller."""

    async def ingest_status(self, branch: str, id: str) -> IngestStatus: ...  # noqa: A002  (it is one)

    async def cancel_ingest(self, branch: str, id: str) -> None: ...  # noqa: A002  (it is one)

    def ingest_diff(self, branch: str, source: str, directory: str, *, immutable: bool) -> AsyncIterator[Change]: ...


class FilesPort(Protocol):
    """Files that grow, directories, and commits in progress."""

    def new_append_id(self) -> str: ...

    async def append(
        self,
        branch: str,
        path: str,
        body: Body,
        *,
        id: str | None,  # noqa: A002  (it is one)
        again: bool,
        content_type: str | None,
        metadata: Mapping[str, str],
    ) -> Receipt: ...

    async def pack(self, branch: str, path: str, message: str) -> Commit: ...

    def read_file(self, path: str, since: str | None, until: str) -> AsyncIterator[bytes]: ...

    async def list_dir(self, ref: str, path: str, after: str, *, totals: bool) -> Found[Child]: ...

    def walk(self, ref: str, path: str) -> AsyncIterator[Walked]: ...

    def glob(self, ref: str, pattern: str) -> AsyncIterator[Entry]: ...

    async def history(self, ref: str, path: str, after: str) -> Found[Commit]: ...

    async def start(self, branch: str, parent: str | None) -> InProgress: ...

    async def find(self, id: str) -> InProgress: ...  # noqa: A002  (it is one)

    async def list_open(self) -> Sequence[InProgress]: ...

    async def finish(self, id: str, message: str, *, metadata: Mapping[str, str]) -> Commit: ...  # noqa: A002

    async def drop(self, id: str) -> None: ...  # noqa: A002  (it is one)


class WorkspacesPort(Protocol):
    """What is written beside a branch, straight to the object store. Reading and writing go by the name `branch+id`."""

    async def begin(self, branch: str) -> str:
        """The id of a new one on the head of *branch*."""

    async def check(self, branch: str, id: str) -> None:  # noqa: A002  (it is one)
        """`WorkspaceClosed` if it was committed, `BadRequest` if there is none of that id."""

    def place(self, id: str, path: str, scheme: str | None) -> str: ...  # noqa: A002  (it is one)

    async def commit(
        self,
        branch: str,
        id: str,  # noqa: A002  (it is one)
        message: str,
        *,
        patterns: Sequence[str] | None,
        retry: bool,
        metadata: Mapping[str, str],
    ) -> Commit: ...

    async def revert(self, branch: str, id: str, patterns: Sequence[str]) -> int: ...  # noqa: A002  (it is one)

    async def remove(self, branch: str, id: str, patterns: Sequence[str]) -> int: ...  # noqa: A002  (it is one)

    async def discard(self, branch: str, id: str) -> None: ...  # noqa: A002  (it is one)
