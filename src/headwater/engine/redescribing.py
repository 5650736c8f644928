"""Changing what an object has beside its bytes: its metadata, of which S3's tags are a part."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from headwater.engine.conditional import IfSame
from headwater.engine.copies import held
from headwater.engine.errors import BadRequest, PreconditionFailed
from headwater.engine.repository import Repository
from headwater.engine.workspaces.ids import workspace_of
from headwater.engine.write import stage
from headwater.index import Entry
from headwater.staging.tries import tries

Metadata = Mapping[str, str]


async def redescribe(repository: Repository, branch: str, path: str, change: Callable[[Metadata], Metadata]) -> Entry:
    """Give the object at *path* the metadata that *change* makes of what it has; `PathNotFound` if there is none.

    Whoever writes to the path meanwhile is not undone: what they wrote is read and gets the change instead. Where that
    cannot be told, in workspaces and append repositories, metadata is said when an object is put, and not changed.
    """
    repository.check_writable()
    if workspace_of(branch) is not None:
        raise BadRequest(f"{path!r}: an object in a workspace has no tags or metadata of its own")
    if repository.grows:
        raise BadRequest(
            f"{path!r}: {repository.name!r} is an append repository, where tags and metadata are given with what makes "
            "a file, and not changed"
        )
    async for _ in tries(repository.outside, f"describing {path!r}"):
        found = await held(repository, branch, path)
        entry = msgspec.structs.replace(found, metadata=dict(change(found.metadata)))
        try:
            await stage(repository, branch, entry, IfSame(found))
        except PreconditionFailed:  # somebody wrote there, or deleted it: look again
            continue
        return entry
    raise AssertionError("tries never end quietly")
