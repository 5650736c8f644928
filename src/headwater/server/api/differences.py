"""A difference as clients know it."""

from __future__ import annotations

import msgspec

from headwater.engine.paths import path_of
from headwater.index import Change, CommonPrefix
from headwater.sdk.results import entry_of
from headwater.sdk.wire.objects import Sides

_TYPES = {"added": "added", "changed": "changed", "removed": "removed", "conflict": "conflict"}
PREFIX_CHANGED = "prefix_changed"


class DiffObjectStat(msgspec.Struct, frozen=True):
    """What is there now."""

    checksum: str
    mtime: int
    content_type: str
    metadata: dict[str, str]


class Diff(msgspec.Struct, frozen=True, omit_defaults=True):
    """A path that is not the same on both sides, or a prefix under which something is not."""

    type: str
    path: str
    path_type: str
    size_bytes: int | None = None
    right: DiffObjectStat | None = None
    details: Sides | None = None


def detailed_answer(found: Change | CommonPrefix) -> Diff:
    """With all that is known of both sides."""
    answer = difference_answer(found)
    if isinstance(found, CommonPrefix):
        return answer
    left, right = (None if each is None else entry_of(each) for each in (found.left, found.right))
    return msgspec.structs.replace(answer, details=Sides(left, right))


def difference_answer(found: Change | CommonPrefix) -> Diff:
    if isinstance(found, CommonPrefix):
        return Diff(PREFIX_CHANGED, path_of(found.key), "common_prefix")
    entry = found.right or found.left
    right = found.right
    stat = None
    if right is not None:
        stat = DiffObjectStat(
            right.checksum or "",
            right.modified // 1000,
            right.content_type or "application/octet-stream",
            dict(right.metadata),
        )
    return Diff(_TYPES[found.type], path_of(found.key), "object", entry.size if entry else None, stat)


def offset_of(found: Change | CommonPrefix) -> str:
    return path_of(found.key)
