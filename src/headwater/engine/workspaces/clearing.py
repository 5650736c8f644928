"""Giving up what is in a workspace, or deleting by pattern. What a commit refers to is never touched."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.blob.namespace import workspace_gone_prefix, workspace_name, workspace_prefix
from headwater.engine.limits import MAX_DELETES
from headwater.engine.paths import FILES
from headwater.engine.patterns import check_pattern, matching
from headwater.engine.repository import Repository
from headwater.engine.workspaces.committing import is_under_way
from headwater.engine.workspaces.errors import WorkspaceBusy
from headwater.engine.workspaces.grounds import WorkspaceGround, ground_at
from headwater.engine.workspaces.listing import listed
from headwater.engine.workspaces.state import read_state, swap_state, writable
from headwater.engine.workspaces.writing import put_tombstones

EVERYTHING = ("**",)


async def revert(repository: Repository, id: str, patterns: Sequence[str] = EVERYTHING) -> int:  # noqa: A002
    """Give up what was written or deleted at paths that match one of *patterns*. How many objects that were."""
    repository.check_writable()
    for pattern in patterns:
        check_pattern(pattern)
    ground = await ground_at(repository, id, await writable(repository, id))
    names = [*await _loose(repository, id, ground, patterns), *await _tombstones(repository, id, patterns)]
    await repository.blobs.delete_many(names)
    await writable(repository, id)
    return len(names)


async def remove(repository: Repository, id: str, patterns: Sequence[str]) -> int:  # noqa: A002
    """Delete what matches one of *patterns*, in the workspace and of what is committed. How many paths that were."""
    repository.check_writable()
    for pattern in patterns:
        check_pattern(pattern)
    ground = await ground_at(repository, id, await writable(repository, id))
    loose = await _loose(repository, id, ground, patterns)
    below = {name.removeprefix(workspace_prefix(id)) for name in loose}
    committed: list[str] = []
    async for rows in ground.index.batches(FILES):
        paths = pc.utf8_slice_codeunits(rows.column("key"), len(FILES))
        committed += paths.filter(matching(paths, patterns)).to_pylist()
    for start in range(0, len(committed), MAX_DELETES):
        await put_tombstones(repository, id, committed[start : start + MAX_DELETES])
    await repository.blobs.delete_many(loose)
    await writable(repository, id)
    return len(below.union(committed))


async def discard(repository: Repository, id: str) -> None:  # noqa: A002  (it is one)
    """Give up the whole workspace, and close it. For one that nobody will go on with: what garbage collection calls.

    What was committed of it stays. Begun again after a crash, it ends as it would have.
    """
    repository.check_writable()
    seen = await read_state(repository, id)
    now = repository.outside.now()
    if is_under_way(seen.state, now):
        raise WorkspaceBusy(f"workspace {id} is being committed: it is not given up")
    if seen.state.phase != "closed":
        attempt = repository.outside.random(8).hex()
        closed = msgspec.structs.replace(seen.state, phase="closed", attempt=attempt, since=now)
        seen = await swap_state(repository, seen, closed)
    ground = await ground_at(repository, id, seen.state)
    names = [*await _loose(repository, id, ground, EVERYTHING), *await _tombstones(repository, id, EVERYTHING)]
    await repository.blobs.delete_many(names)


async def _loose(repository: Repository, id: str, ground: WorkspaceGround, patterns: Sequence[str]) -> list[str]:  # noqa: A002
    """The names of objects at paths that match, and that no commit of the workspace refers to."""
    objects = await listed(repository.blobs, workspace_prefix(id))
    paths = pc.utf8_slice_codeunits(objects.column("name"), len(workspace_prefix(id)))
    paths = paths.filter(matching(paths, patterns)).combine_chunks()
    for index in ground.layer.landed:
        rows = await index.rows(pc.binary_join_element_wise(pa.scalar(FILES), paths, ""))
        names = pc.binary_join_element_wise(pa.scalar(workspace_prefix(id)), paths, "")
        paths = paths.filter(pc.invert(pc.fill_null(pc.equal(rows.column("address"), names), fill_value=False)))
    return [workspace_name(id, path) for path in paths.to_pylist()]


async def _tombstones(repository: Repository, id: str, patterns: Sequence[str]) -> list[str]:  # noqa: A002
    prefix = workspace_gone_prefix(id)
    names = (await listed(repository.blobs, prefix)).column("name")
    found: list[str] = names.filter(matching(pc.utf8_slice_codeunits(names, len(prefix)), patterns)).to_pylist()
    return found
