"""How a repository is laid out in its storage namespace: names built, and taken apart again.

    data/<slice>/<id>                    what users wrote; <slice> is the hour, newest first
    meta/segments/<2 hex>/<hash>.parquet   immutable, named by content
    meta/trees/<2 hex>/<hash>.parquet      immutable, named by content
    meta/blocks/<2 hex>/<level>-<appends>-<mark>-<hash>   immutable: where the bytes of a file that grows are
    meta/runs/<run>/<hook>.log           what a hook said when it was run
    workspaces/<id>/<path>               what was written into a workspace, committed or not
    workspaces/<id>.gone/<path>          that it deletes what is committed at that path
    workspaces/<id>.state                how far it is, once something of it was committed

Pure functions: times (milliseconds since 1970) and ids are passed in. `docs/blob.md` has the layout for other readers.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from headwater.blob.errors import BadName

DATA = "data/"
SEGMENTS = "meta/segments/"
TREES = "meta/trees/"
BLOCKS = "meta/blocks/"
RUNS = "meta/runs/"
WORKSPACES = "workspaces/"

HOUR = 3_600_000
"""Milliseconds of one slice: the slices of a year are listed in nine requests, and one is listed at a time."""

LAST_HOUR = 0xFFFFFF
"""The last hour that a slice of six hex digits can name, in the year 3883."""

_SLICE = re.compile(r"[0-9a-f]{6}")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_HASH = re.compile(r"[0-9a-f]{32,128}")
_BLOCKS = re.compile(r"([1-9]\d?)-([1-9]\d{0,17})-([0-9a-f]{32})-([0-9a-f]{32})")


class DataName(msgspec.Struct, frozen=True):
    """The parts of the name of a data object."""

    slice: str
    id: str


class WorkspaceName(msgspec.Struct, frozen=True):
    """The parts of the name of an object in a workspace."""

    id: str
    path: str


class BlocksName(msgspec.Struct, frozen=True):
    """The parts of the name of a list of blocks."""

    level: int
    """1 for a list of blocks, more for one of lists."""

    appends: int
    mark: str
    """The mark of the file where this list ends, in hex."""

    hash: str


class Span(msgspec.Struct, frozen=True):
    """The time of a slice, from *start* up to, not including, *end*."""

    start: int
    end: int


def slice_of(moment: int) -> str:
    """The slice that holds *moment*. Of two slices, the one of the later hour sorts first."""
    hour = moment // HOUR
    if not 0 <= hour <= LAST_HOUR:
        raise BadName(f"{moment} ms: a slice is an hour between 1970 and 3883")
    return f"{LAST_HOUR - hour:06x}"


def span(part: str) -> Span:
    """The time of the slice *part*."""
    if not _SLICE.fullmatch(part):
        raise BadName(f"{part[:80]!r}: a slice is six hex digits")
    start = (LAST_HOUR - int(part, 16)) * HOUR
    return Span(start, start + HOUR)


def is_older(part: str, moment: int) -> bool:
    """Whether all of the slice *part* was before *moment*."""
    return span(part).end <= moment


def after_young(moment: int) -> str:
    """Where a listing of `DATA` starts after, to show just the slices that are older than *moment*, and all of them."""
    return f"{DATA}{slice_of(moment)}/"


def data_name(moment: int, id: str) -> str:  # noqa: A002  (it is one)
    """The name of the data object *id* that is written at *moment*."""
    return f"{DATA}{slice_of(moment)}/{_checked(_ID, id, 'an id')}"


def parse_data_name(name: str) -> DataName | None:
    """The parts of *name*, or None when it is not the name of a data object."""
    match name.split("/"):
        case ["data", part, id_] if _SLICE.fullmatch(part) and _ID.fullmatch(id_):
            return DataName(part, id_)
        case _:
            return None


def segment_name(hash: str) -> str:  # noqa: A002  (it is one)
    """The name of the segment whose content has *hash*."""
    return _hashed(SEGMENTS, hash)


def parse_segment_name(name: str) -> str | None:
    """The hash in *name*, or None when it is not the name of a segment."""
    return _hash_of(SEGMENTS, name)


def tree_name(hash: str) -> str:  # noqa: A002  (it is one)
    """The name of the tree whose content has *hash*."""
    return _hashed(TREES, hash)


def parse_tree_name(name: str) -> str | None:
    """The hash in *name*, or None when it is not the name of a tree."""
    return _hash_of(TREES, name)


def blocks_name(parts: BlocksName) -> str:
    """The name of a list of blocks."""
    return f"{BLOCKS}{parts.hash[:2]}/{parts.level}-{parts.appends}-{parts.mark}-{parts.hash}"


@lru_cache(4096)  # an entry that grew for long names dozens of lists, the same ones in each commit
def parse_blocks_name(name: str) -> BlocksName | None:
    """The parts of *name*, or None when it is not the name of a list of blocks."""
    if not name.startswith(BLOCKS):
        return None
    found = _BLOCKS.fullmatch(name.rpartition("/")[2])
    if found is None:
        return None
    level, appends, mark, hash_ = found.groups()
    parts = BlocksName(int(level), int(appends), mark, hash_)
    return parts if blocks_name(parts) == name else None


def run_output_name(run: str, hook: str) -> str:
    """The name of what a *hook* said in a *run*."""
    return f"{RUNS}{_checked(_ID, run, 'an id')}/{_checked(_ID, hook, 'an id')}.log"


def workspace_prefix(id: str) -> str:  # noqa: A002  (it is one)
    """What the names of all objects in the workspace *id* begin with."""
    return f"{WORKSPACES}{_checked(_ID, id, 'an id')}/"


def workspace_name(id: str, path: str) -> str:  # noqa: A002  (it is one)
    """The name of the object at *path* in the workspace *id*. The store says whether it can hold such a name."""
    return workspace_prefix(id) + path


def workspace_gone_prefix(id: str) -> str:  # noqa: A002  (it is one)
    """What the names of all tombstones of the workspace *id* begin with."""
    return f"{WORKSPACES}{_checked(_ID, id, 'an id')}.gone/"


def workspace_gone_name(id: str, path: str) -> str:  # noqa: A002  (it is one)
    """The name of the tombstone for *path* in the workspace *id*."""
    return workspace_gone_prefix(id) + path


def workspace_state_name(id: str) -> str:  # noqa: A002  (it is one)
    """The name of the object that says how far the workspace *id* is."""
    return f"{WORKSPACES}{_checked(_ID, id, 'an id')}.state"


def parse_workspace_name(name: str) -> WorkspaceName | None:
    """The parts of *name*, or None when it is not the name of an object in a workspace."""
    match name.split("/", 2):
        case ["workspaces", id_, path] if _ID.fullmatch(id_) and path:
            return WorkspaceName(id_, path)
        case _:
            return None


def _hashed(directory: str, hash_: str) -> str:
    return f"{directory}{_checked(_HASH, hash_, 'a hash')[:2]}/{hash_}.parquet"


def _hash_of(directory: str, name: str) -> str | None:
    hash_ = name.rpartition("/")[2].removesuffix(".parquet")
    return hash_ if _HASH.fullmatch(hash_) and _hashed(directory, hash_) == name else None


def _checked(pattern: re.Pattern[str], text: str, what: str) -> str:
    if not pattern.fullmatch(text):
        raise BadName(f"{text[:80]!r} is not {what}: that is {pattern.pattern}")
    return text
