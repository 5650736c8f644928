"""Writing: objects are put, copied, linked and deleted on a branch; all of it is staged until it is committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from headwater.blob import Body
from headwater.blob.namespace import data_name
from headwater.engine.conditional import Condition, write_if
from headwater.engine.copies import held, is_lasting
from headwater.engine.errors import BadRequest
from headwater.engine.limits import MAX_DELETES
from headwater.engine.paths import check_journaled, key_of, path_of
from headwater.engine.read import content, stat
from headwater.engine.repository import Repository
from headwater.engine.workspaces.ids import workspace_of
from headwater.engine.workspaces.writing import copy_object, delete_objects, put_object
from headwater.index import TOMBSTONE, Block, Edit, Entry, encode_edit
from headwater.staging.journal import journal_key
from headwater.staging.writing import write

NO_METADATA: Mapping[str, str] = {}


async def put(
    repository: Repository,
    branch: str,
    path: str,
    body: Body,
    *,
    content_type: str | None = None,
    metadata: Mapping[str, str] = NO_METADATA,
    condition: Condition | None = None,
) -> Entry:
    """Write *body* to *path*. One request for the bytes, then the entry is staged; readers see all of it or nothing.

    The bytes go where nothing else will ever be written, so a put that fails, or a condition that does not hold, leaves
    nothing but an object that no entry names.
    """
    repository.check_writable()
    if (workspace := workspace_of(branch)) is not None:
        _check_unconditional(path, condition)
        return await put_object(repository, workspace.id, path, body)
    key = key_of(path)
    await repository.branches.recent(branch)  # no bytes are sent for a branch that is not there
    stored = await store(repository, body)
    entry = msgspec.structs.replace(stored.entry(key), content_type=content_type, metadata=dict(metadata))
    await stage(repository, branch, entry, condition)
    return entry


class StoredBytes(msgspec.Struct, frozen=True):
    """Bytes that are in the storage namespace, and that no entry names so far."""

    block: Block
    md5: str
    at: int

    def entry(self, key: str) -> Entry:
        """The entry that *key* gets if these are all of its bytes."""
        return Entry(key, blocks=(self.block,), size=self.block.length, checksum=self.md5, modified=self.at)


async def store(repository: Repository, body: Body) -> StoredBytes:
    """Write *body* where nothing else will ever be written. One request."""
    repository.check_writable()
    now = repository.outside.now()
    address = data_name(now, repository.outside.random(16).hex())
    blobs = repository.blobs
    stored = await (blobs.put_unseen(address, body) if isinstance(body, bytes) else blobs.put(address, body))
    return StoredBytes(Block(address, 0, stored.size), stored.md5, now)


async def stage(repository: Repository, branch: str, entry: Entry, condition: Condition | None = None) -> None:
    """Stage *entry* as it is: its bytes are somewhere already, in the namespace or at a foreign address.

    In a workspace an object is what lies there: its bytes are copied to it.
    """
    repository.check_writable()
    if (workspace := workspace_of(branch)) is not None:
        _check_unconditional(path_of(entry.key), condition)
        await copy_object(repository, workspace.id, path_of(entry.key), entry, content(repository, entry).chunks)
    elif condition is None:
        await _write(repository, branch, {entry.key: entry})
    else:
        _check_conditional(repository, entry.key)
        await write_if(repository, branch, entry.key, entry, condition)


async def check_there(repository: Repository, branch: str) -> None:
    """Raise `RefNotFound` if there is no such branch. Of a workspace, it is told when something is written."""
    if workspace_of(branch) is None:
        await repository.branches.recent(branch)


async def link(
    repository: Repository,
    branch: str,
    path: str,
    address: str,
    *,
    size: int,
    checksum: str | None,
    content_type: str | None = None,
    metadata: Mapping[str, str] = NO_METADATA,
    condition: Condition | None = None,
) -> Entry:
    """Stage an object that is at *address* already. Nothing is read: what is told of it is believed."""
    if workspace_of(branch) is not None:
        raise BadRequest(
            f"{path!r}: a workspace holds objects, and none that are elsewhere: put it, or link it on a branch"
        )
    if size < 0:
        raise BadRequest(f"size={size}: an object has 0 bytes or more")
    entry = Entry(
        key_of(path),
        blocks=(Block(address, 0, size),),
        size=size,
        checksum=checksum,
        modified=repository.outside.now(),
        content_type=content_type,
        metadata=dict(metadata),
    )
    await stage(repository, branch, entry, condition)
    return entry


async def copy(repository: Repository, branch: str, path: str, source_ref: str, source: str) -> Entry:
    """Make *path* on *branch* what *source* is at *source_ref* of the same repository. No byte is copied, but to or
    from a workspace."""
    repository.check_writable()
    if (workspace := workspace_of(branch)) is not None:
        found = await stat(repository, source_ref, source)
        return await copy_object(repository, workspace.id, path, found, content(repository, found).chunks)
    found = await held(repository, source_ref, source)
    if not is_lasting(source_ref, found):
        return await put(repository, branch, path, content(repository, found).chunks)
    entry = msgspec.structs.replace(found, key=key_of(path), modified=repository.outside.now())
    await stage(repository, branch, entry)
    return entry


async def delete(repository: Repository, branch: str, paths: Sequence[str]) -> None:
    """Stage that there is nothing at *paths*. Content where there is nothing."""
    repository.check_writable()
    if len(paths) > MAX_DELETES:
        raise BadRequest(f"{len(paths)} paths to delete at once; {MAX_DELETES} at most: split them")
    if (workspace := workspace_of(branch)) is not None:
        await delete_objects(repository, workspace.id, paths)
        return
    keys = [key_of(path) for path in paths]
    if keys:
        await _write(repository, branch, dict.fromkeys(keys, TOMBSTONE))


async def delete_if(repository: Repository, branch: str, path: str, condition: Condition) -> None:
    """Stage that there is nothing at *path*, if *condition* holds of what is there; else `PreconditionFailed`."""
    repository.check_writable()
    if workspace_of(branch) is not None:
        _check_unconditional(path, condition)
    key = key_of(path)
    _check_conditional(repository, key)
    await write_if(repository, branch, key, TOMBSTONE, condition)


def _check_conditional(repository: Repository, key: str) -> None:
    if repository.grows:
        raise BadRequest(
            f"a condition on {path_of(key)!r}: {repository.name!r} is an append repository, and takes none; "
            "what must be written but once is written under a name that nobody else uses"
        )


def _check_unconditional(path: str, condition: Condition | None) -> None:
    if condition is not None:
        raise BadRequest(f"a condition on {path!r}: a workspace takes none; write to a branch, or without it")


async def _write(repository: Repository, branch: str, edits: Mapping[str, Edit]) -> None:
    values = staged_values(repository, edits)
    await write(repository.store, repository.branches, repository.outside, branch, values)


def staged_values(repository: Repository, edits: Mapping[str, Edit]) -> dict[bytes, bytes]:
    """What *edits* are as they are staged. In an append repository they come after all that is staged already."""
    if not repository.grows:
        return {key.encode(): encode_edit(key, edit) for key, edit in edits.items()}
    stamp = repository.stamps.take()
    for key in edits:
        check_journaled(key)
    return {journal_key(key, stamp): encode_edit(key, edit) for key, edit in edits.items()}
