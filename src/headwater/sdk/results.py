"""What the SDK answers, as plain values: the same for both faces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Literal, Protocol, TypeAlias

import msgspec

from headwater import history, index
from headwater.engine.errors import BadRequest
from headwater.engine.paths import path_of
from headwater.engine.ref_log import RefLogEntry
from headwater.errors import HeadwaterError
from headwater.files import directories
from headwater.files.directories import Directory
from headwater.index import Block, Kind

ChangeType: TypeAlias = Literal["added", "changed", "removed", "conflict"]

_1970 = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class Named(Protocol):
    """What can be given where a commit is meant: a commit, a tag, a branch, or what `repo.ref` answered."""

    @property
    def expression(self) -> str: ...


Committish: TypeAlias = str | Named
"""A commit's id, an expression such as `main~2`, or anything that has one."""


def expression_of(ref: Committish) -> str:
    return ref if isinstance(ref, str) else ref.expression


class Entry(msgspec.Struct, frozen=True):
    """What is at a path. *checksum* is the MD5 of the content in hex, if known; *blocks* say where the bytes are."""

    path: str
    size: int
    checksum: str | None
    modified: datetime
    content_type: str | None
    metadata: Mapping[str, str]
    kind: Kind
    blocks: tuple[Block, ...]


class IngestStatus(msgspec.Struct, frozen=True):
    """How an ingest on a server stands: how many objects it *listed* so far; once *done*, its *commit* or *error*."""

    id: str
    done: bool
    listed: int
    commit: Commit | None = None
    error: HeadwaterError | None = None


Listed: TypeAlias = Callable[[int], object]
"""Is told now and then how many objects were listed so far."""


class CommonPrefix(msgspec.Struct, frozen=True):
    """In a listing or diff with a delimiter: all paths that begin with *path*, which ends in the delimiter."""

    path: str


Child: TypeAlias = Entry | Directory
"""What is in a directory."""


class Walked(msgspec.Struct, frozen=True):
    """A directory, and what is in it: the paths of directories, and files."""

    path: str
    directories: tuple[str, ...]
    files: tuple[Entry, ...]


class Change(msgspec.Struct, frozen=True):
    """A path that is not the same on both sides, and what it is on each. A conflict also tells what it was before."""

    path: str
    type: ChangeType
    left: Entry | None
    right: Entry | None
    base: Entry | None = None


class Commit(msgspec.Struct, frozen=True):
    """One commit."""

    id: str
    parents: tuple[str, ...]
    message: str
    committer: str
    time: datetime
    metadata: Mapping[str, str]
    generation: int
    """The length of the longest way to a first commit."""

    @property
    def expression(self) -> str:
        return self.id


class Tag(msgspec.Struct, frozen=True):
    """A name for a commit, that stays where it is."""

    name: str
    commit: str
    message: str
    tagger: str
    time: datetime
    metadata: Mapping[str, str]

    @property
    def expression(self) -> str:
        return self.commit


class RefChange(msgspec.Struct, frozen=True):
    """A branch or tag that was created, moved or deleted. *before* and *after* are commits; empty: there was none."""

    id: str
    kind: Literal["branch", "tag"]
    action: Literal["create", "delete", "move"]
    name: str
    before: str
    after: str
    by: str
    time: datetime


def entry_of(found: index.Entry) -> Entry:
    return Entry(
        path=path_of(found.key),
        size=found.size,
        checksum=found.checksum,
        modified=time_of(found.modified),
        content_type=found.content_type,
        metadata=found.metadata,
        kind=found.kind,
        blocks=found.blocks,
    )


def listed_of(found: index.Entry | index.CommonPrefix) -> Entry | CommonPrefix:
    return entry_of(found) if isinstance(found, index.Entry) else CommonPrefix(path_of(found.key))


def child_of(found: directories.Child) -> Child:
    return found if isinstance(found, Directory) else entry_of(found)


def walked_of(found: directories.Walked) -> Walked:
    return Walked(found.path, found.directories, tuple(map(entry_of, found.files)))


def change_of(found: index.Change | index.CommonPrefix) -> Change | CommonPrefix:
    if isinstance(found, index.CommonPrefix):
        return CommonPrefix(path_of(found.key))
    return changed_of(found)


def changed_of(found: index.Change) -> Change:
    return Change(path_of(found.key), found.type, _maybe(found.left), _maybe(found.right))


def conflict_of(found: index.Conflict) -> Change:
    """Left is the destination as it is, right what the source wants it to be."""
    sides = _maybe(found.destination), _maybe(found.source), _maybe(found.base)
    return Change(path_of(found.key), "conflict", *sides)


def commit_of(found: history.Commit) -> Commit:
    return Commit(
        id=found.id,
        parents=found.parents,
        message=found.message,
        committer=found.committer,
        time=time_of(found.time),
        metadata=found.metadata,
        generation=found.generation,
    )


def tag_of(found: history.Tag) -> Tag:
    return Tag(found.name, found.target, found.message, found.tagger, time_of(found.time), found.metadata)


def ref_change_of(found: RefLogEntry) -> RefChange:
    change = found.change
    sides = change.before, change.after
    return RefChange(found.id, change.kind, change.action, change.name, *sides, found.by, time_of(found.time))


def time_of(milliseconds: int) -> datetime:
    return _1970 + milliseconds * _MILLISECOND


def milliseconds_of(time: datetime) -> int:
    if time.tzinfo is None:
        raise BadRequest(f"{time}: say in which time zone, as in datetime.now(UTC)")
    return (time - _1970) // _MILLISECOND


def _maybe(found: index.Entry | None) -> Entry | None:
    return None if found is None else entry_of(found)
