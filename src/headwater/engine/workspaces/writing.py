"""Writing to a workspace: an object where its path says, or a tombstone. Nobody's record is read or written.

Whoever may write to the bucket does the same without us; what is done here is that nothing is acknowledged which a
commit of the whole workspace left behind, and nothing is overwritten that a commit refers to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from headwater.blob import BlobStore, Body, NotFound, Stat, Stored
from headwater.blob.namespace import workspace_gone_name, workspace_name
from headwater.drive import together
from headwater.engine.addresses import is_foreign
from headwater.engine.errors import BadRequest
from headwater.engine.limits import MAX_DELETES
from headwater.engine.paths import key_of, path_of
from headwater.engine.repository import Repository
from headwater.engine.workspaces.errors import PathCommitted
from headwater.engine.workspaces.grounds import ground_at
from headwater.engine.workspaces.layer import WorkspaceLayer, entry_of
from headwater.engine.workspaces.state import State, check_base, writable
from headwater.index import Entry

MAX_TAGS = 10
"""Tags of an object: what S3 takes."""

MAX_COPY = 5 * 1024**3
"""Bytes that a store copies by itself: what S3 does in one request."""

_TAG = re.compile(r"[\w .:/=+@-]{1,256}")


async def put_object(repository: Repository, id: str, path: str, body: Body) -> Entry:  # noqa: A002  (it is one)
    """Have *body* at *path* in the workspace *id*. Three requests: the bytes, and a look before and after."""
    repository.check_writable()
    key = key_of(path)
    await check_base(repository, id)
    state = await writable(repository, id)
    await _check_free(repository, id, state, key)
    stored = await repository.blobs.put(workspace_name(id, path), body, tags=tags_of(path))
    await writable(repository, id)
    return _written(repository, id, key, stored)


async def copy_object(repository: Repository, id: str, path: str, source: Entry, body: Body) -> Entry:  # noqa: A002
    """Have at *path* what *source* is, whose bytes are *body*. Where its store can, they are not sent through here."""
    repository.check_writable()
    await check_base(repository, id)
    state = await writable(repository, id)
    await _check_free(repository, id, state, key_of(path))
    whole = len(source.blocks) == 1 and source.blocks[0].offset == 0 and not is_foreign(source.blocks[0].address)
    whole = whole and source.size <= MAX_COPY
    if not whole or not await _copied(repository.blobs, source, workspace_name(id, path)):
        return await put_object(repository, id, path, body)
    await writable(repository, id)
    found = await repository.blobs.stat(workspace_name(id, path))
    if found is None:
        raise NotFound(f"{path!r} was copied to workspace {id}, and deleted by somebody else")
    return entry_of(key_of(path), found)


async def delete_objects(repository: Repository, id: str, paths: Sequence[str]) -> None:  # noqa: A002  (it is one)
    """Have nothing at *paths*: tombstones for what is committed, and objects deleted that no commit refers to."""
    repository.check_writable()
    if len(paths) > MAX_DELETES:
        raise BadRequest(f"{len(paths)} paths to delete at once; {MAX_DELETES} at most: split them")
    state = await writable(repository, id)
    ground = await ground_at(repository, id, state)
    keys = [key_of(path) for path in paths]
    committed = await ground.index.get_many(keys)
    hidden = [path_of(key) for key, entry in zip(keys, committed, strict=True) if entry is not None]
    await put_tombstones(repository, id, hidden)
    await repository.blobs.delete_many(await _ours(ground.layer, keys))
    await writable(repository, id)


async def put_tombstones(repository: Repository, id: str, paths: Sequence[str]) -> None:  # noqa: A002  (it is one)
    """Say that *paths* are deleted: an empty object for each."""
    blobs = repository.blobs
    await together([partial(blobs.put, workspace_gone_name(id, path), b"", tags=tags_of(path)) for path in paths])


def tags_of(path: str) -> dict[str, str]:
    """The tags of what is written at *path*: `path.0` is its first segment, and so on, as far as tags can say them.

    A rule of a bucket goes by the beginning of a name, which here is that of a workspace, or by tags.
    """
    tags: dict[str, str] = {}
    for place, segment in enumerate(path.split("/")[:MAX_TAGS]):
        if not _TAG.fullmatch(segment):
            break
        tags[f"path.{place}"] = segment
    return tags


async def _check_free(repository: Repository, id: str, state: State, key: str) -> None:  # noqa: A002  (it is one)
    if state.landed and await (await ground_at(repository, id, state)).layer.refers(key):
        raise PathCommitted(
            f"{path_of(key)!r} was committed from workspace {id}: its bytes belong to that commit now; "
            "write it in another workspace"
        )


async def _ours(layer: WorkspaceLayer, keys: Sequence[str]) -> list[str]:
    """The names of what may lie at *keys* and is referred to by no commit."""
    return [workspace_name(layer.id, path_of(key)) for key in keys if not await layer.refers(key)]


async def _copied(blobs: BlobStore, source: Entry, target: str) -> bool:
    name = source.blocks[0].address
    found = await blobs.stat(name)
    if found is None or found.size != source.size:
        return False
    await blobs.copy(name, target)
    return True


def _written(repository: Repository, id: str, key: str, stored: Stored) -> Entry:  # noqa: A002  (it is one)
    """The entry of what was just put, as a look at it would tell."""
    found = Stat(workspace_name(id, path_of(key)), stored.size, stored.etag, repository.outside.now())
    return entry_of(key, found)
