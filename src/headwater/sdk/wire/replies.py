"""What the operations answer that lakeFS has not, where the SDK has no value of its own for it."""

from __future__ import annotations

import msgspec

from headwater.garbage.plan import Plan
from headwater.sdk.results import Entry
from headwater.sdk.wire.errors import Error


class Ancestry(msgspec.Struct, frozen=True):
    """How two commits are related: whether one led to the other, along first parents, and at all."""

    first_parents: bool
    at_all: bool


class Child(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is in a directory: a file with all that is known of it, or a directory, maybe with what is below it."""

    path: str
    entry: Entry | None = None
    size: int | None = None
    count: int | None = None


class IndexOf(msgspec.Struct, frozen=True):
    """What a commit is made of: its *tree*, if it has one, and the *delta* to be laid over it, encoded as what a commit
    inherits is. *repository* is the id of the repository, which no other of the same name will have."""

    repository: str
    commit: str
    tree: str
    delta: bytes


class Begun(msgspec.Struct, frozen=True):
    """A run of garbage collection: a plan with nothing in it yet, and the prefixes of the storage that are to be
    listed for it."""

    plan: Plan
    parts: list[str]


class End(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The last line of an answer of many lines. With an *error*, that is where it ended."""

    end: bool
    error: Error | None = None
    status: int = 200
