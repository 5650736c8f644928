"""What the API answers, as far as a client looks at it, and what the SDK makes of that."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from headwater.engine.repository import Mode
from headwater.sdk import results
from headwater.sdk.ports import Found
from headwater.sdk.results import ChangeType, CommonPrefix, Entry, time_of
from headwater.sdk.wire.errors import Error
from headwater.sdk.wire.objects import Details, Sides
from headwater.sdk.wire.signatures import ToldSignature

Result = TypeVar("Result")

COMMON_PREFIX = "common_prefix"


class Pagination(msgspec.Struct, frozen=True):
    has_more: bool
    next_offset: str


class Page(msgspec.Struct, Generic[Result], frozen=True):
    pagination: Pagination
    results: list[Result]

    @property
    def after(self) -> str | None:
        return self.pagination.next_offset if self.pagination.has_more else None


class Named(msgspec.Struct, frozen=True):
    """Whatever is known by its id."""

    id: str


class Head(msgspec.Struct, frozen=True):
    """A branch, and the commit that it stands for."""

    id: str
    commit_id: str


class Repository(msgspec.Struct, frozen=True):
    id: str
    default_branch: str
    storage_namespace: str
    mode: Mode = "object"
    metadata: dict[str, str] = {}
    read_only: bool = False


class CurrentUser(msgspec.Struct, frozen=True):
    user: Named


class Tag(msgspec.Struct, frozen=True):
    id: str
    commit_id: str
    message: str
    tagger: str
    creation_time_ms: int
    metadata: dict[str, str]
    signature: ToldSignature | None = None


class Commit(msgspec.Struct, frozen=True):
    id: str
    parents: list[str]
    committer: str
    message: str
    creation_time_ms: int
    metadata: dict[str, str]
    generation: int
    meta_range_id: str = ""
    """Its tree."""


class Count(msgspec.Struct, frozen=True):
    count: int


class Merged(msgspec.Struct, frozen=True):
    commit: Commit


class Stats(msgspec.Struct, frozen=True):
    path: str
    path_type: str
    checksum: str
    physical_address: str = ""
    size_bytes: int = 0
    metadata: dict[str, str] = {}
    details: Details | None = None


class Diff(msgspec.Struct, frozen=True):
    type: str
    path: str
    path_type: str
    details: Sides | None = None


class ImportStatus(msgspec.Struct, frozen=True):
    """How far an import has come, and in the end its commit or why there is none."""

    completed: bool
    commit: Commit | None = None
    error: Error | None = None


class IngestStatus(msgspec.Struct, frozen=True):
    """How far an ingest has come, and in the end its commit or why there is none."""

    id: str
    completed: bool
    listed: int = 0
    commit: Commit | None = None
    error: Error | None = None


NO_REASON = Error("the server ended the task without a result, and did not say why")


class NotDone(msgspec.Struct, frozen=True):
    """Why something was not done at *path*."""

    status_code: int
    message: str
    path: str


class NotDoneList(msgspec.Struct, frozen=True):
    errors: list[NotDone]


def commit_of(told: Commit) -> results.Commit:
    return results.Commit(
        id=told.id,
        parents=tuple(told.parents),
        message=told.message,
        committer=told.committer,
        time=time_of(told.creation_time_ms),
        metadata=told.metadata,
        generation=told.generation,
    )


def commits_of(page: Page[Commit]) -> Found[results.Commit]:
    return [commit_of(each) for each in page.results], page.after


def tag_of(told: Tag) -> results.Tag:
    return results.Tag(
        told.id, told.commit_id, told.message, told.tagger, time_of(told.creation_time_ms), told.metadata
    )


def entry_of(told: Stats) -> Entry:
    details = told.details or Details(0)
    return Entry(
        path=told.path,
        size=told.size_bytes,
        checksum=told.checksum or None,
        modified=time_of(details.modified),
        content_type=details.content_type,
        metadata=told.metadata,
        kind=details.kind,
        blocks=details.blocks,
    )


def listed_of(told: Stats) -> Entry | CommonPrefix:
    return CommonPrefix(told.path) if told.path_type == COMMON_PREFIX else entry_of(told)


def change_of(told: Diff) -> results.Change | CommonPrefix:
    if told.path_type == COMMON_PREFIX:
        return CommonPrefix(told.path)
    sides = told.details or Sides()
    return results.Change(told.path, msgspec.convert(told.type, ChangeType), sides.left, sides.right)


def changes_of(page: Page[Diff]) -> Found[results.Change | CommonPrefix]:
    return [change_of(each) for each in page.results], page.after
