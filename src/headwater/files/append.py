"""Appending: one object with the bytes, and one record of it. The file is never read, however long it is."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from headwater.blob import Body
from headwater.blob.namespace import data_name
from headwater.engine.errors import BadRequest
from headwater.engine.folding import Appended
from headwater.engine.paths import check_journaled, key_of
from headwater.engine.repository import Repository
from headwater.files.errors import NotAppendable
from headwater.files.limits import APPEND_TRIES
from headwater.files.once import put_once
from headwater.index import Block, encode_edit
from headwater.kv import UnknownOutcome
from headwater.staging.journal import is_stamp, journal_key, moment_of
from headwater.staging.writing import write

NO_METADATA: Mapping[str, str] = {}


class Receipt(msgspec.Struct, frozen=True):
    """What was appended: *id* names this append, and no other, for ever."""

    id: str
    path: str
    size: int


async def append(
    repository: Repository,
    branch: str,
    path: str,
    body: Body,
    *,
    id: str | None = None,  # noqa: A002  (it is one)
    again: bool = False,
    content_type: str | None = None,
    metadata: Mapping[str, str] = NO_METADATA,
) -> Receipt:
    """Add *body* to the end of the file at *path*, which is made if need be. When this returns, all later reads see it.

    Two appends never conflict; those of one process are in the order in which they were made. An append counts once:
    one whose outcome is unknown is tried again under its *id*, here a few times, and by whoever gives that id with
    *again* and the same bytes, at any time. *content_type* and *metadata* are those of the file if this makes it.
    """
    repository.check_writable()
    check_grows(repository)
    key = key_of(path)
    check_journaled(key)
    if again and id is None:
        raise BadRequest("again=True repeats an append: say which, by its id")
    if id is not None and not is_stamp(id):
        raise BadRequest(f"id {id[:80]!r}: the id of an append is that of a receipt, or one of repo.new_append_id()")
    stamp = repository.stamps.take() if id is None else id
    await repository.branches.recent(branch)  # no bytes are sent for a branch that is not there
    block: Block | None = None
    if body != b"":
        address = data_name(moment_of(stamp), stamp)
        blobs = repository.blobs
        if id is not None:  # there may be something already
            size = await put_once(blobs, address, body, f"append {id} to {path!r}")
        else:
            stored = await (blobs.put_unseen(address, body) if isinstance(body, bytes) else blobs.put(address, body))
            size = stored.size
        block = Block(address, 0, size) if size else None
    appended = Appended(key, block, moment_of(stamp), content_type, dict(metadata))
    await stage_append(repository, branch, appended, stamp, again=again)
    return Receipt(stamp, path, 0 if block is None else block.length)


async def stage_append(
    repository: Repository, branch: str, appended: Appended, stamp: str, *, again: bool = False
) -> None:
    """Stage an append whose bytes are in place. What is tried again says so: who commits it looks if it is there."""
    for tried in range(APPEND_TRIES):
        try:
            await _stage(repository, branch, appended, stamp, again=again or tried > 0)
        except UnknownOutcome:
            if tried == APPEND_TRIES - 1:
                raise
        else:
            return


async def _stage(repository: Repository, branch: str, appended: Appended, stamp: str, *, again: bool) -> None:
    place = journal_key(appended.key, stamp)
    repeated = {place: encode_edit(appended.key, appended.staged(again=True))}
    first = repeated if again else {place: encode_edit(appended.key, appended.staged(again=False))}
    await write(repository.store, repository.branches, repository.outside, branch, first, again=repeated)


def check_grows(repository: Repository) -> None:
    """Raise `NotAppendable` unless files of *repository* grow by appends."""
    if not repository.grows:
        raise NotAppendable(
            f"repository {repository.name!r} is one of objects: files grow in a repository that is made for it, "
            "with mode='append'"
        )
