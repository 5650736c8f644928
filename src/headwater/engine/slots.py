"""Where one reference is kept: the record of a branch or of a tag, read with what a swap of it needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import msgspec

from headwater.engine.repository import Repository
from headwater.kv import ABSENT, Operation, Predicate, SetIf
from headwater.refs.branch import Branch
from headwater.refs.branches import Seen
from headwater.refs.reference_log import Change, Kind
from headwater.refs.tags import TagRecord, decode_record, encode_record
from headwater.refs.tags import key_of as tag_key
from headwater.staging.tokens import new_token

Record = TypeVar("Record")


class Held(msgspec.Struct, Generic[Record], frozen=True):
    """A record as it was found, None if there never was one, and what holds until somebody writes it again."""

    record: Record | None
    predicate: Predicate
    at: float = 0.0


class Slot(Protocol[Record]):
    """One name of one kind. A slot knows how its records are read, swapped and marked, and nothing of why."""

    kind: Kind
    name: str

    async def read(self) -> Held[Record]:
        """The record, as a read that began after this call answered."""

    async def write(self, held: Held[Record], record: Record, after: Sequence[Operation] = ()) -> None:
        """Swap what is *held* for *record*, and then do what comes *after*, in one pipeline."""

    def mark(self, record: Record) -> bytes:
        """The mark of the last change of the reference: see `Change`."""

    def nothing(self) -> Record:
        """A record that says that there is nothing of that name."""

    def keepsake(self, record: Record) -> bytes | None:
        """What the log must keep for *record* to be brought back, beyond the commit that it stands for."""


class BranchSlot:
    """The slot of a branch: its incarnation is the mark, for it changes with every move that is not a commit."""

    kind: Kind = "branch"

    def __init__(self, repository: Repository, name: str) -> None:
        self.name = name
        self._repository = repository

    async def read(self) -> Held[Branch]:
        seen = await self._repository.branches.find(self.name)
        return Held(None, ABSENT) if seen is None else Held(seen.branch, seen.predicate, seen.at)

    async def write(self, held: Held[Branch], record: Branch, after: Sequence[Operation] = ()) -> None:
        seen = Seen(self.name, held.record or record, held.predicate, held.at)
        await self._repository.branches.swap_among((), seen, record, after)

    def mark(self, record: Branch) -> bytes:
        return record.incarnation

    def nothing(self) -> Branch:
        outside = self._repository.outside
        return Branch("", new_token(outside), outside.random(8), dirty=False, dropped=True)

    def keepsake(self, record: Branch) -> bytes | None:  # noqa: ARG002  (a branch is but its commit)
        return None


class TagSlot:
    """The slot of a tag."""

    kind: Kind = "tag"

    def __init__(self, repository: Repository, name: str) -> None:
        self.name = name
        self._repository = repository

    async def read(self) -> Held[TagRecord]:
        found = await self._repository.store.get(self._repository.partition, tag_key(self.name))
        return Held(None, ABSENT) if found is None else Held(decode_record(self.name, found.value), found.predicate)

    async def write(self, held: Held[TagRecord], record: TagRecord, after: Sequence[Operation] = ()) -> None:
        swap = SetIf(self._repository.partition, tag_key(self.name), encode_record(record), held.predicate)
        await self._repository.store.pipeline([swap, *after])

    def mark(self, record: TagRecord) -> bytes:
        return record.mark

    def nothing(self) -> TagRecord:
        return TagRecord(self._repository.outside.random(8), b"", b"", dropped=True)

    def keepsake(self, record: TagRecord) -> bytes | None:
        return encode_record(record) if record.dropped and record.id else None


def slot_of(repository: Repository, change: Change) -> BranchSlot | TagSlot:
    """The slot that *change* is about."""
    return BranchSlot(repository, change.name) if change.kind == "branch" else TagSlot(repository, change.name)
