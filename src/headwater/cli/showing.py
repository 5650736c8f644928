"""What commands answer: as documents, whose shapes `docs/cli.md` promises, and as the columns of tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import msgspec

from headwater.cli.output import Column

if TYPE_CHECKING:
    from headwater.sdk.results import Change, Child, Commit, CommonPrefix, Entry, RefChange, Tag

SHORT = 12
"""Characters of a commit's id on a terminal: enough for people, and for any command."""


class EntryShown(msgspec.Struct, frozen=True):
    """A file. Where its bytes are is not told: that is nobody's business who reads through Headwater."""

    path: str
    kind: str
    size: int
    checksum: str | None
    modified: datetime
    content_type: str | None
    metadata: Mapping[str, str]


class DirectoryShown(msgspec.Struct, frozen=True, omit_defaults=True):
    """A directory, and what all in it amounts to where that was asked for."""

    path: str
    kind: Literal["directory"]
    size: int | None = None
    count: int | None = None


class ChangeShown(msgspec.Struct, frozen=True):
    """A path that is not the same on both sides."""

    path: str
    type: str
    left: EntryShown | None
    right: EntryShown | None


class CommitShown(msgspec.Struct, frozen=True):
    id: str
    parents: Sequence[str]
    message: str
    committer: str
    time: datetime
    metadata: Mapping[str, str]
    generation: int


class Named(msgspec.Struct, frozen=True):
    """Something that has a name, of which nothing else was asked."""

    name: str


class BranchShown(msgspec.Struct, frozen=True):
    name: str
    commit: CommitShown


class Copied(msgspec.Struct, frozen=True):
    """How many files a command has dealt with."""

    files: int


def entry_shown(entry: Entry) -> EntryShown:
    return EntryShown(
        path=entry.path,
        kind=entry.kind.value,
        size=entry.size,
        checksum=entry.checksum,
        modified=entry.modified,
        content_type=entry.content_type,
        metadata=entry.metadata,
    )


def listed_shown(listed: Entry | CommonPrefix) -> EntryShown | DirectoryShown:
    from headwater.sdk.results import Entry  # noqa: PLC0415  (the engine is imported when it is used)

    return entry_shown(listed) if isinstance(listed, Entry) else DirectoryShown(listed.path, "directory")


def child_shown(child: Child) -> EntryShown | DirectoryShown:
    from headwater.sdk.results import Entry  # noqa: PLC0415  (the engine is imported when it is used)

    if isinstance(child, Entry):
        return entry_shown(child)
    return DirectoryShown(f"{child.path}/", "directory", child.size, child.count)


def change_shown(change: Change) -> ChangeShown:
    left, right = (None if side is None else entry_shown(side) for side in (change.left, change.right))
    return ChangeShown(change.path, change.type, left, right)


def counting(changes: Iterable[ChangeShown], counted: Counter[str]) -> Iterator[ChangeShown]:
    """*changes*, *counted* by type as they pass."""
    for change in changes:
        counted[change.type] += 1
        yield change


def summary_of(counted: Counter[str]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in sorted(counted.items())) or "nothing is different"


def commit_shown(commit: Commit) -> CommitShown:
    return CommitShown(
        id=commit.id,
        parents=commit.parents,
        message=commit.message,
        committer=commit.committer,
        time=commit.time,
        metadata=commit.metadata,
        generation=commit.generation,
    )


def first_line(text: str) -> str:
    return text.partition("\n")[0]


def short(commit: str) -> str:
    """The id of a commit, for people."""
    return commit[:SHORT]


def many(count: int, what: str) -> str:
    """So many of something, for people."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


MARKS: Mapping[str, tuple[str, str]] = {
    "added": ("+", "green"),
    "changed": ("~", "yellow"),
    "removed": ("-", "red"),
    "conflict": ("!", "magenta"),
}
"""How changes of each type are marked, and their colours."""

COMMITS: Sequence[Column[CommitShown]] = (
    Column("commit", lambda commit: commit.id, "yellow", width=SHORT),
    Column("time", lambda commit: commit.time),
    Column("committer", lambda commit: commit.committer, "cyan"),
    Column("message", lambda commit: first_line(commit.message)),
)

ENTRIES: Sequence[Column[EntryShown | DirectoryShown]] = (
    Column("modified", lambda entry: entry.modified if isinstance(entry, EntryShown) else None, "dim"),
    Column("size", lambda entry: entry.size, right=True),
    Column("path", lambda entry: entry.path, lambda entry: "" if isinstance(entry, EntryShown) else "blue"),
)

CHANGES: Sequence[Column[ChangeShown]] = (
    Column("", lambda change: MARKS[change.type][0], lambda change: MARKS[change.type][1]),
    Column("type", lambda change: change.type, lambda change: MARKS[change.type][1]),
    Column("path", lambda change: change.path),
)

TAGS: Sequence[Column[Tag]] = (
    Column("tag", lambda tag: tag.name),
    Column("commit", lambda tag: tag.commit, "yellow", width=SHORT),
    Column("time", lambda tag: tag.time),
    Column("tagger", lambda tag: tag.tagger, "cyan"),
    Column("message", lambda tag: first_line(tag.message)),
)

REF_CHANGES: Sequence[Column[RefChange]] = (
    Column("change", lambda change: change.id, "yellow"),
    Column("time", lambda change: change.time),
    Column("by", lambda change: change.by, "cyan"),
    Column("action", lambda change: change.action),
    Column("kind", lambda change: change.kind),
    Column("name", lambda change: change.name),
    Column("before", lambda change: change.before or None, "dim", width=SHORT),
    Column("after", lambda change: change.after or None, "dim", width=SHORT),
)

BRANCHES: Sequence[Column[BranchShown]] = (
    Column("branch", lambda branch: branch.name),
    Column("commit", lambda branch: branch.commit.id, "yellow", width=SHORT),
    Column("time", lambda branch: branch.commit.time),
    Column("committer", lambda branch: branch.commit.committer, "cyan"),
    Column("message", lambda branch: first_line(branch.commit.message)),
)

NAMES: Sequence[Column[Named]] = (Column("name", lambda named: named.name),)
