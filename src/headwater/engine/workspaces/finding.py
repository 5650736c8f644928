"""Which workspaces there are, which of them nobody goes on with, and what each holds: for garbage collection."""

from __future__ import annotations

from functools import partial
from typing import Literal, TypeAlias

import msgspec
import pyarrow.compute as pc

from headwater.blob import Prefix
from headwater.blob.namespace import WORKSPACES, workspace_gone_prefix, workspace_prefix, workspace_state_name
from headwater.drive import together
from headwater.engine.repository import Repository
from headwater.engine.workspaces.ids import is_id, parse_id
from headwater.engine.workspaces.listing import listed
from headwater.engine.workspaces.state import read_state

Standing: TypeAlias = Literal["live", "abandoned", "closed"]


class FoundWorkspace(msgspec.Struct, frozen=True):
    """A workspace. What lies below its *prefixes* is kept while it is live; else, what some commit refers to is."""

    id: str
    standing: Standing
    base: str
    """The commit that it was begun on, which a live one needs. Empty if there is no such commit: anybody who may write
    to the bucket may make up an id."""

    landed: tuple[str, ...]
    """The commits that were made of it."""

    started: int
    prefixes: tuple[str, str]
    """Where its objects and its tombstones are, in the storage namespace."""

    state_name: str
    """The object that says how far it is, if there is one."""


async def list_workspaces(repository: Repository, *, idle_since: int) -> list[FoundWorkspace]:
    """All workspaces that something was written to, in the order in which they were begun.

    One is abandoned that is not closed, was begun before *idle_since*, and was not written to since. A listing of one
    level, a request for the state of each, and a listing of all that is in those that may be abandoned.
    """
    ids: set[str] = set()
    async for page in repository.blobs.list(WORKSPACES, delimiter=True):
        for each in page:
            name = each.name.removeprefix(WORKSPACES)
            ids.add(
                name.removesuffix("/").removesuffix(".gone") if isinstance(each, Prefix) else name[: -len(".state")]
            )
    known = sorted(id_ for id_ in ids if is_id(id_))
    return await together([partial(_found, repository, id_, idle_since) for id_ in known])


async def _found(repository: Repository, id: str, idle_since: int) -> FoundWorkspace:  # noqa: A002  (it is one)
    parsed = parse_id(id)
    state = (await read_state(repository, id)).state
    prefixes = workspace_prefix(id), workspace_gone_prefix(id)
    standing: Standing = "closed" if state.phase == "closed" else "live"
    if standing == "live" and max(parsed.started, state.since) < idle_since:
        written = [await _last_written(repository, prefix) for prefix in prefixes]
        standing = "abandoned" if max(written) < idle_since else "live"
    base = parsed.base if parsed.base in await repository.commits.find([parsed.base]) else ""
    return FoundWorkspace(id, standing, base, state.landed, parsed.started, prefixes, workspace_state_name(id))


async def _last_written(repository: Repository, prefix: str) -> int:
    objects = await listed(repository.blobs, prefix)
    return 0 if not len(objects) else int(pc.max(objects.column("modified")).as_py())
