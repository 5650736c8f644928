"""A commit: an immutable record of what changed, on top of what, when and by whom, named by its own hash.

What it changed and what it inherits are bytes to this layer; the index layer reads them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from headwater.history import record
from headwater.history.clock import Clock, next_clock
from headwater.history.errors import InvalidRecord, LimitExceeded
from headwater.history.limits import MAX_INHERITED, MAX_OWN, MAX_PARENTS
from headwater.history.signature import Signature, sign

FORMAT = 1
"""The format that is written, and the only one there is."""


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """One commit. Made by `create` or read by a `CommitStore`, so that the id is that of the rest."""

    id: str
    parents: tuple[str, ...]
    tree: str
    """The id of the tree that the changes are on top of; empty: none."""

    own: bytes | None
    """What this commit changed since its first parent; None: too much to be kept here, compare the two instead."""

    inherited: str
    """The SHA-256 of what it inherits since the tree, a value of its own; empty: nothing."""

    message: str
    committer: str
    time: int
    """Milliseconds since 1970, as the committer told: nothing guarantees that times grow along a history."""

    metadata: Mapping[str, str]
    generation: int
    """The length of the longest way to a first commit, which has 1: a commit's is above those of all its ancestors."""

    clock: Clock
    format: int = FORMAT
    signature: Signature | None = None
    """Beside what is hashed, so not in the id."""

    @classmethod
    def create(
        cls,
        parents: Sequence[Commit],
        incarnation: bytes,
        *,
        message: str,
        committer: str,
        time: int,
        metadata: Mapping[str, str] | None = None,
        tree: str = "",
        own: bytes | None = b"",
        inherited: bytes | None = None,
    ) -> Commit:
        """A commit on top of *parents*, the first of which is the head of the branch with this incarnation.

        The same arguments give the same commit: one that is made again after a failure is the one that was there.
        """
        _check_parents(parents)
        _check_changes(own, inherited)
        record.check_described(message, ("the committer", committer), time, metadata or {})
        commit = cls(
            id="",
            parents=tuple(parent.id for parent in parents),
            tree=tree,
            own=own,
            inherited="" if inherited is None else hashlib.sha256(inherited).hexdigest(),
            message=message,
            committer=committer,
            time=time,
            metadata=dict(record.in_order(metadata or {})),
            generation=max((parent.generation for parent in parents), default=0) + 1,
            clock=next_clock(parents[0].clock if parents else None, incarnation),
        )
        return msgspec.structs.replace(commit, id=record.name(canonical(commit)))

    def signed(self, private_key: bytes) -> Commit:
        """This commit with a signature. To be made before it is stored: what is stored may be cached anywhere."""
        return msgspec.structs.replace(self, signature=sign("commit", self.id, private_key))


class _Canonical(msgspec.Struct, frozen=True, array_like=True, tag="commit", forbid_unknown_fields=True):
    """The fields in the order in which they are hashed: `docs/formats.md`."""

    format: int
    parents: tuple[bytes, ...]
    tree: bytes
    own: bytes | None
    inherited: bytes
    message: str
    committer: str
    time: int
    metadata: tuple[tuple[str, str], ...]
    generation: int
    clock: Clock


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Canonical)


def canonical(commit: Commit) -> bytes:
    """The bytes that the commit's id is the SHA-256 of."""
    return _encoder.encode(
        _Canonical(
            format=commit.format,
            parents=tuple(record.identifier("parent", parent) for parent in commit.parents),
            tree=record.identifier("tree", commit.tree) if commit.tree else b"",
            own=commit.own,
            inherited=bytes.fromhex(commit.inherited),
            message=commit.message,
            committer=commit.committer,
            time=commit.time,
            metadata=record.in_order(commit.metadata),
            generation=commit.generation,
            clock=commit.clock,
        )
    )


def encode(commit: Commit) -> bytes:
    """The stored value of a commit."""
    hashed = canonical(commit)
    if record.name(hashed) != commit.id:
        raise InvalidRecord(f"commit {commit.id} is not what its id says: commits are made by Commit.create")
    return record.pack(hashed, commit.signature)


def decode(identity: str, value: bytes) -> Commit:
    """The commit with this id, from its stored value. Raises `CorruptRecord` if it is not that commit."""
    hashed, signature = record.unpack("commit", identity, value)
    found = record.read("commit", identity, hashed, FORMAT, _decoder)
    return Commit(
        id=identity,
        parents=tuple(parent.hex() for parent in found.parents),
        tree=found.tree.hex(),
        own=found.own,
        inherited=found.inherited.hex(),
        message=found.message,
        committer=found.committer,
        time=found.time,
        metadata=dict(found.metadata),
        generation=found.generation,
        clock=found.clock,
        format=found.format,
        signature=signature,
    )


def _check_parents(parents: Sequence[Commit]) -> None:
    if len(parents) > MAX_PARENTS:
        raise LimitExceeded(f"the commit has {len(parents)} parents, {MAX_PARENTS} at most")
    if len({parent.id for parent in parents}) != len(parents):
        raise InvalidRecord("the parents of a commit are distinct: one is named twice")


def _check_changes(own: bytes | None, inherited: bytes | None) -> None:
    if own is not None and len(own) > MAX_OWN:
        raise LimitExceeded(
            f"the commit's own changes have {len(own)} bytes, {MAX_OWN} at most: spill them into a tree"
        )
    if inherited is not None and len(inherited) > MAX_INHERITED:
        raise LimitExceeded(
            f"the inherited changes have {len(inherited)} bytes, {MAX_INHERITED} at most: spill them into a tree"
        )
