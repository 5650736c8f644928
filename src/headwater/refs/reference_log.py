"""What the log of references is made of: changes that were made, and those that somebody has set out to make.

The log is a history of commits like any other, in a partition of its own, where users never see it. What a commit
changed is here a change of one reference. `docs/engine.md` tells how a change is made so that no crash can hide it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from headwater.refs.errors import CorruptRef

HEAD = b"head"
"""The key, in the partition of a log, of where it stands."""

Kind: TypeAlias = Literal["branch", "tag"]
Action: TypeAlias = Literal["create", "delete", "move"]


class Change(msgspec.Struct, frozen=True, array_like=True):
    """One creation, deletion or move of a reference. A commit on a branch is none."""

    mark: bytes
    """8 bytes that the record of the reference carries once this has been done, until the next change of it."""

    kind: Kind
    action: Action
    name: str
    before: str
    """The id of the commit that it stood for; empty: there was none of that name."""

    after: str
    """The id of the commit that it stands for; empty: it was deleted."""


class Intention(msgspec.Struct, frozen=True, array_like=True):
    """A change that somebody set out to make, has perhaps made, and has not yet logged."""

    change: Change
    by: str
    at: int
    """Milliseconds since 1970."""

    since: str
    """Where the log stood: if the change is logged, then in a commit after this one."""

    tokens: tuple[str, ...] = ()
    """Staging tokens that the change drops, to be cleaned up in due time."""


class LogHead(msgspec.Struct, frozen=True, array_like=True):
    """Where the log stands: changed by compare-and-swap of the whole."""

    commit: str
    """The newest commit of the log; empty: there is none yet."""

    incarnation: bytes
    pending: tuple[Intention, ...] = ()


_encoder = msgspec.msgpack.Encoder()
_changes = msgspec.msgpack.Decoder(Change)
_heads = msgspec.msgpack.Decoder(LogHead)


def partition_of(repository_id: str) -> bytes:
    """The partition of the log of a repository."""
    return b"reflog/" + repository_id.encode()


def encode(record: Change | LogHead) -> bytes:
    return _encoder.encode(record)


def decode_change(commit: str, own: bytes | None) -> Change:
    """What the log's *commit* says was changed."""
    try:
        return _changes.decode(own or b"")
    except msgspec.MsgspecError as error:
        raise CorruptRef(f"commit {commit} of the reference log cannot be read: {error}") from error


def decode_head(value: bytes) -> LogHead:
    try:
        return _heads.decode(value)
    except msgspec.MsgspecError as error:
        raise CorruptRef(f"the head of the reference log cannot be read: {error}") from error
