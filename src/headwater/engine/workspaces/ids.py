"""What a workspace is called: its id says when it was begun, and on which commit, so that nothing else need."""

from __future__ import annotations

import re

import msgspec

from headwater.engine.errors import BadRequest
from headwater.history import is_name
from headwater.outside import Outside

_ID = re.compile(r"([0-9a-f]{12})-[0-9a-f]{8}-([0-9a-f]{64})")


class WorkspaceId(msgspec.Struct, frozen=True):
    """The parts of an id."""

    text: str
    started: int
    """Milliseconds since 1970, by the clock of whoever began it."""

    base: str
    """The commit that it was begun on."""


class WorkspaceRef(msgspec.Struct, frozen=True):
    """A workspace, and the branch that it is for: as a reference, `branch+id`."""

    branch: str
    id: str

    def __str__(self) -> str:
        return f"{self.branch}+{self.id}"


def new_id(outside: Outside, base: str) -> str:
    """An id that nobody else has, for a workspace on the commit *base*."""
    return f"{outside.now():012x}-{outside.random(4).hex()}-{base}"


def parse_id(text: str) -> WorkspaceId:
    """The parts of *text*, or `BadRequest`."""
    found = _ID.fullmatch(text)
    if found is None:
        raise BadRequest(f"{text[:120]!r} is not the id of a workspace: that is what beginning one answered")
    return WorkspaceId(text, int(found[1], 16), found[2])


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def workspace_of(ref: str) -> WorkspaceRef | None:
    """The workspace that *ref* names; None if it names something else."""
    branch, plus, id_ = ref.partition("+")
    return WorkspaceRef(branch, id_) if plus and is_name(branch) and is_id(id_) else None
