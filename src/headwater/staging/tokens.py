"""Staging tokens: each names a partition of its own, which holds what was staged while the token was in use."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.kv import Delete, Operation, Set
from headwater.outside import Outside

LEAVING = b"leaving/"
"""What the keys begin with that say, in a repository's partition, which tokens a branch is about to use no more, or
does not use already. The value is the branch's name."""

DROPPED = b"dropped/"
"""What the keys begin with that say which tokens were found to be in use no more, and when that was noticed."""


def new_token(outside: Outside) -> str:
    return outside.random(16).hex()


def partition_of(token: str) -> bytes:
    return b"stage/" + token.encode()


def leaving(partition: bytes, branch: str, tokens: Sequence[str]) -> tuple[Operation, ...]:
    """What says that *tokens* of *branch* are about to be dropped. Done ahead of the swap that drops them.

    So none is forgotten, whoever crashes when. That one is listed and in use after all is no harm: clean-up looks.
    """
    return tuple(Set(partition, LEAVING + token.encode(), branch.encode()) for token in tokens)


def dropped(partition: bytes, token: str, now: int) -> tuple[Operation, ...]:
    """What says that *token* was found in use no more at *now*, in milliseconds since 1970."""
    return (
        Set(partition, DROPPED + now.to_bytes(8, "big") + token.encode(), b""),
        Delete(partition, LEAVING + token.encode()),
    )


def dropped_at(key: bytes) -> tuple[int, str]:
    """When (milliseconds since 1970) and which, from a key that `dropped` wrote."""
    rest = key.removeprefix(DROPPED)
    return int.from_bytes(rest[:8], "big"), rest[8:].decode()
