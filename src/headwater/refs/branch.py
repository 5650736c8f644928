"""The branch record: the one small value that writers, readers and committers of a branch agree by.

Everything in it changes by compare-and-swap of the whole. `docs/protocol.md` tells who changes what, and why.
"""

from __future__ import annotations

import msgspec

from headwater.refs.errors import CorruptRef
from headwater.refs.limits import HEADS


class Head(msgspec.Struct, frozen=True, array_like=True):
    """A commit that the branch pointed at, and when it ceased to (milliseconds since 1970)."""

    commit: str
    until: int


class Branch(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a branch is, and where what is written to it and not yet committed is staged.

    *dirty* speaks of *token* alone: it may hold entries. It becomes true before the first of them is written, and false
    only together with a fresh token. A record that does not say is dirty.
    """

    commit: str
    """The id of the committed head."""

    token: str
    """The staging token: where writes go now."""

    incarnation: bytes
    """What the next commit's clock component is named by: 8 bytes, new whenever the head moves but by a commit."""

    sealed: tuple[str, ...] = ()
    """Tokens that a committer has taken out of use and not yet committed, oldest first."""

    dirty: bool = True

    base: str = ""
    """If staging was compacted: the internal commit that holds head and staged entries in one, to be read in the head's
    place. Empty otherwise."""

    heads: tuple[Head, ...] = ()
    """Earlier heads, the latest first."""

    dropped: bool = False
    """The branch was deleted. The record stays, so that a name that comes back is told from one that never went, and so
    that what was deleted can be brought back."""

    @property
    def clean(self) -> bool:
        """Nothing is staged: what is committed is all there is."""
        return not self.dirty and not self.sealed and not self.base

    def moved(self, commit: str, now: int) -> tuple[Head, ...]:
        """What *heads* becomes when the head becomes *commit*."""
        if commit == self.commit:
            return self.heads
        return (Head(self.commit, now), *self.heads)[:HEADS]


HIDDEN = "+"
"""What the names of branches begin with that no user named: a commit in progress is staged on one."""


def is_hidden(name: str) -> bool:
    """Whether *name* is that of a branch which no listing shows, and no reference can name by accident."""
    return name.startswith(HIDDEN)


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Branch)


def encode(branch: Branch) -> bytes:
    return _encoder.encode(branch)


def decode(name: str, value: bytes) -> Branch:
    try:
        return _decoder.decode(value)
    except msgspec.MsgspecError as error:
        raise CorruptRef(f"the record of branch {name!r} cannot be read: {error}") from error
