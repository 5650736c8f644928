"""What hooks are run for, and how whoever does such a thing gives them the occasion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias

import msgspec

from headwater.engine.commit import Check

Verb: TypeAlias = Literal[
    "commit", "merge", "revert", "cherry-pick", "create-branch", "delete-branch", "create-tag", "delete-tag"
]

NO_METADATA: Mapping[str, str] = {}


class Occasion(msgspec.Struct, frozen=True):
    """What is about to be done: to which branch or tag, with which commit, from which source of a merge."""

    verb: Verb
    branch: str = ""
    tag: str = ""
    commit: str = ""
    source: str = ""
    message: str = ""
    metadata: Mapping[str, str] = NO_METADATA


class Done:
    """What whoever does it hands on, and what came of it.

    *check* is for the verb of the engine, if it makes a commit: the hooks that come before look at just that commit.
    Whoever did it sets *commit*, so that the hooks that come after can be told.
    """

    def __init__(self, check: Check | None = None) -> None:
        self.check = check
        self.commit = ""


class Doer(Protocol):
    """Whoever does it: hooks look at nothing that they may not."""

    name: str

    def may(self, action: str, resource: str) -> bool:
        """Whether they may do *action* on *resource*."""
