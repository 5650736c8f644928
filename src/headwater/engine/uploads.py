"""Objects that arrive in parts: an open upload is a record in the repository's partition, and so is each of its parts.

The bytes of a part are an object in the storage namespace, which no entry names before the upload is completed; then
they are blocks of one entry, and nothing is copied. Whoever looks for garbage has to keep what `addresses` tells, and
must ask it *before* reading what references hold: completing stages the entry first and forgets the upload then, so an
address is always in one of the two. Which are open, `open_uploads` lists.

What an upload becomes of, abort or completion, is decided by one swap of its record.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal, TypeAlias

import msgspec

from headwater.blob import BlobError
from headwater.engine.errors import UploadNotFound
from headwater.engine.limits import UPLOADS_SWEPT
from headwater.engine.open_uploads import OpenUpload, name_key
from headwater.engine.repository import Repository
from headwater.index import Block
from headwater.kv import Entry as Record
from headwater.kv import PredicateFailed, Set, Versioned

UPLOADS = b"upload/"
PARTS = b"part/"
ENDED = b"uploaded/"

KEPT = 86_400_000
"""Milliseconds for which it is known what a completed upload became, for clients that ask again: a day."""

State: TypeAlias = Literal["open", "closing", "aborted"]
"""*closing*: somebody is completing it. If they die, whoever completes it again goes on; and so may be aborted."""


class Upload(msgspec.Struct, frozen=True, omit_defaults=True):
    """An upload that was begun: what will be at *path*, and *where*, in the words of whoever began it."""

    id: str
    where: str
    path: str
    started: int
    by: str = ""
    content_type: str | None = None
    metadata: dict[str, str] = {}
    checksum: str = ""
    """What is to be computed of the parts, in the words of whoever began it."""

    state: State = "open"

    closings: int = 0
    """How many times somebody began to complete it."""

    @property
    def name(self) -> str:
        """Where it goes, as it is listed."""
        return f"{self.where}/{self.path}"


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part as it is stored."""

    number: int
    size: int
    md5: str
    at: int
    blocks: tuple[Block, ...]
    checksum: str = ""
    copied: bool = False
    """Whether the bytes are those of another object."""


class Ended(msgspec.Struct, frozen=True):
    """What a completed upload became, for whoever asks again."""

    where: str
    path: str
    at: int
    checksum: str
    metadata: Mapping[str, str]


class Found(msgspec.Struct, frozen=True):
    """An upload and what its record was when it was read."""

    upload: Upload
    record: Versioned


async def begin(
    repository: Repository,
    where: str,
    path: str,
    *,
    by: str,
    content_type: str | None,
    metadata: Mapping[str, str],
    checksum: str = "",
) -> Upload:
    """Open an upload. One trip."""
    repository.check_writable()
    now = repository.outside.now()
    identity = f"{now:012x}{repository.outside.random(10).hex()}"
    upload = Upload(identity, where, path, now, by, content_type, dict(metadata), checksum)
    listed = OpenUpload(upload.name, identity, now, by, checksum)
    both = {_key(identity): upload, name_key(upload.name, identity): listed}
    records = [Set(repository.partition, key, msgspec.msgpack.encode(value)) for key, value in both.items()]
    await repository.store.pipeline(records)
    return upload


async def find(repository: Repository, identity: str) -> Found:
    """The upload *identity*, or `UploadNotFound`: it was completed, aborted, or never begun."""
    found = await _read(repository, identity)
    if found.upload.state == "aborted":
        raise UploadNotFound(f"the upload {identity!r} was aborted")
    return found


async def _read(repository: Repository, identity: str) -> Found:
    record = None
    if identity.isascii() and identity.isalnum() and len(identity) <= 64:
        record = await repository.store.get(repository.partition, _key(identity))
    if record is None:
        raise UploadNotFound(f"there is no upload {identity[:100]!r}: it was completed, aborted, or never begun")
    return Found(msgspec.msgpack.decode(record.value, type=Upload), record)


async def ended(repository: Repository, identity: str) -> Ended | None:
    """What the upload *identity* became, if it was completed within a day."""
    record = await repository.store.get(repository.partition, ENDED + identity[:64].encode(errors="replace"))
    return None if record is None else msgspec.msgpack.decode(record.value, type=Ended)


async def add(repository: Repository, upload: Upload, part: Part) -> None:
    """Make *part* the part of its number. `UploadNotFound` if the upload was completed or aborted meanwhile.

    Nobody deletes the bytes, neither of this one then nor of one that was sent before it: somebody may have completed
    the upload with them. Those that nothing names are garbage.
    """
    key = _part_key(upload.id, part.number)
    await repository.store.set(repository.partition, key, msgspec.msgpack.encode(part))
    try:
        await find(repository, upload.id)
    except UploadNotFound:
        await repository.store.delete(repository.partition, key)
        raise


async def parts(repository: Repository, identity: str, *, after: int = 0, amount: int = 10_000) -> list[Part]:
    """A page of the parts of the upload *identity* with numbers above *after*, in order."""
    prefix = _part_prefix(identity)
    found: list[Part] = []
    async for record in _records(repository, prefix, _part_key(identity, after + 1), min(amount + 1, 1000)):
        if len(found) == amount:
            break
        found.append(msgspec.msgpack.decode(record.value, type=Part))
    return found


async def addresses(repository: Repository) -> AsyncIterator[tuple[str, str]]:
    """The id of each open upload, with every address that one of its parts needs. One scan: for garbage collection."""
    async for record in _records(repository, PARTS, PARTS):
        identity = record.key.removeprefix(PARTS).partition(b"/")[0].decode()
        for block in msgspec.msgpack.decode(record.value, type=Part).blocks:
            yield identity, block.address


async def abort(repository: Repository, identity: str) -> None:
    """Forget the upload, and delete what was stored for it alone; `UploadNotFound` if there is none.

    Bytes of an upload that somebody was completing stay: an entry may name them. So do those that a part shares with
    another object. What somebody else began to forget and did not end is forgotten, too.
    """
    before = await _aborted(repository, identity)
    stored = await parts(repository, identity)
    if before.state == "open":
        own = [block.address for part in stored if not part.copied for block in part.blocks]
        with suppress(BlobError):  # it is garbage, and would be collected
            await repository.blobs.delete_many(own)
    await _forget(repository, before, stored)
    if before.state == "aborted":
        raise UploadNotFound(f"the upload {identity!r} was aborted already")


async def _aborted(repository: Repository, identity: str) -> Upload:
    """The upload as it was before nobody could add to it or complete it any more."""
    while True:
        found = await _read(repository, identity)
        if found.upload.state == "aborted":
            return found.upload
        value = msgspec.msgpack.encode(msgspec.structs.replace(found.upload, state="aborted"))
        with suppress(PredicateFailed):  # somebody is completing it, or was aborting it, too
            await repository.store.set_if(repository.partition, _key(identity), value, found.record.predicate)
            return found.upload


async def close(repository: Repository, found: Found) -> Found:
    """Have nobody else abort the upload and take its bytes along. `PredicateFailed` if somebody was faster."""
    upload = msgspec.structs.replace(found.upload, state="closing", closings=found.upload.closings + 1)
    value = msgspec.msgpack.encode(upload)
    predicate = await repository.store.set_if(repository.partition, _key(upload.id), value, found.record.predicate)
    return Found(upload, Versioned(value, predicate))


async def reopen(repository: Repository, closed: Found) -> None:
    """Take `close` back, after it turned out that nothing was written.

    Only if nobody else ever began to complete it: of another one, who may have crashed or be under way, it is not known
    what they wrote. Then it stays as it is: it can be completed, and its bytes outlive an abort.
    """
    if closed.upload.closings > 1:
        return
    upload = msgspec.structs.replace(closed.upload, state="open", closings=0)
    with suppress(PredicateFailed):  # somebody else is completing it meanwhile
        value = msgspec.msgpack.encode(upload)
        await repository.store.set_if(repository.partition, _key(upload.id), value, closed.record.predicate)


async def end(repository: Repository, upload: Upload, became: Ended) -> None:
    """Remember what *upload* became, and forget the upload, in this order."""
    value = msgspec.msgpack.encode(became)
    await repository.store.set(repository.partition, ENDED + upload.id.encode(), value)
    await _forget(repository, upload, await parts(repository, upload.id))
    await _forget_old(repository)


async def _forget(repository: Repository, upload: Upload, stored: Sequence[Part]) -> None:
    """Delete the records of parts, and the upload's last: while it is there, somebody can come back for the rest."""
    keys = [_part_key(upload.id, part.number) for part in stored]
    await repository.store.delete_many(repository.partition, [*keys, name_key(upload.name, upload.id)])
    await repository.store.delete(repository.partition, _key(upload.id))


async def _forget_old(repository: Repository) -> None:
    """Forget what uploads of long ago became: a few at a time, so that it keeps up and costs nobody much."""
    old: list[bytes] = []
    before = repository.outside.now() - KEPT
    async for record in _records(repository, ENDED, ENDED, UPLOADS_SWEPT):
        if len(old) == UPLOADS_SWEPT or msgspec.msgpack.decode(record.value, type=Ended).at > before:
            break
        old.append(record.key)
    if old:
        await repository.store.delete_many(repository.partition, old)


async def _records(repository: Repository, prefix: bytes, start: bytes, page: int = 1000) -> AsyncIterator[Record]:
    """The records whose keys begin with *prefix*, from *start* on."""
    async for records in repository.store.scan(repository.partition, start, page=page):
        for record in records:
            if not record.key.startswith(prefix):
                return
            yield record


def _key(identity: str) -> bytes:
    return UPLOADS + identity.encode()


def _part_prefix(identity: str) -> bytes:
    return PARTS + identity.encode() + b"/"


def _part_key(identity: str, number: int) -> bytes:
    return _part_prefix(identity) + b"%05d" % number
