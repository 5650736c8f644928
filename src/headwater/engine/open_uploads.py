"""Which uploads are open, in the order of the names that they will have: a record beside each, sorted by name.

The record of an upload is found by its id. A second one has the name in its key, so that a page of a listing costs the
page, however many uploads are open. It is written after the first and deleted before it: what is listed is there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import takewhile

import msgspec

from headwater.engine.limits import LISTED_NAME, UPLOADS_PAGE
from headwater.engine.repository import Repository
from headwater.kv.limits import PAGE

NAMED = b"uploading/"


class OpenUpload(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a listing tells of an upload. *name* is where it goes: what stands before the path, a slash, the path."""

    name: str
    id: str
    started: int
    by: str = ""
    checksum: str = ""


class Beginning(msgspec.Struct, frozen=True):
    """Instead of uploads: there are some whose names begin with *name*, up to a delimiter."""

    name: str


def name_key(name: str, identity: str) -> bytes:
    """The key of the record of an upload to *name*. One that is too long for a key is cut: the record has it whole."""
    return _cut(name) + b"\0" + identity.encode()


async def list_open(
    repository: Repository,
    *,
    prefix: str = "",
    delimiter: str = "",
    after: str = "",
    after_id: str | None = None,
    amount: int = 1000,
) -> list[OpenUpload | Beginning]:
    """A page of the open uploads whose names begin with *prefix*, by name and then by age.

    Behind those to *after*, or, with *after_id*, behind that one of them. One scan; with a *delimiter*, one for each
    beginning that it makes.
    """
    found: list[OpenUpload | Beginning] = []
    start: bytes | None = _first_key(prefix, after, after_id)
    page = max(1, min(amount, UPLOADS_PAGE if delimiter else PAGE))
    while start is not None and len(found) < amount:
        scanned, start = start, None
        async for upload in _sorted(repository, scanned, prefix, page):
            if not _is_behind(upload, after, after_id):
                continue
            end = upload.name.find(delimiter, len(prefix)) if delimiter else -1
            rolled = Beginning(upload.name[: end + len(delimiter)])
            if end < 0:
                found.append(upload)
            elif rolled.name > after and found[-1:] != [rolled]:
                found.append(rolled)
            if end >= 0 and not _is_long(rolled.name):
                start = _cut(rolled.name) + b"\xff"  # behind all whose names begin so
                break
            if len(found) == amount:
                break
    return found


def _first_key(prefix: str, after: str, after_id: str | None) -> bytes:
    """Where what is wanted begins at the earliest."""
    behind = _cut(after)
    if not _is_long(after) and after:
        behind += b"\1" if after_id is None else b"\0" + after_id.encode(errors="replace")
    return max(_cut(prefix), behind)


def _is_behind(upload: OpenUpload, after: str, after_id: str | None) -> bool:
    if upload.name == after:
        return after_id is not None and upload.id > after_id
    return upload.name > after


async def _sorted(repository: Repository, start: bytes, prefix: str, page: int) -> AsyncIterator[OpenUpload]:
    """The uploads from the key *start* on whose names begin with *prefix*, those with names that were cut included."""
    alike: list[OpenUpload] = []
    cut = _cut(prefix)
    async for records in repository.store.scan(repository.partition, start, page=page):
        for record in takewhile(lambda each: each.key.startswith(cut), records):
            upload = msgspec.msgpack.decode(record.value, type=OpenUpload)
            if alike and _cut(alike[0].name) != _cut(upload.name):
                for each in _in_order(alike, prefix):
                    yield each
                alike = []
            if _is_long(upload.name):
                alike.append(upload)
            else:
                yield upload
        if not records[-1].key.startswith(cut):
            break
    for each in _in_order(alike, prefix):
        yield each


def _in_order(alike: Sequence[OpenUpload], prefix: str) -> list[OpenUpload]:
    return sorted((each for each in alike if each.name.startswith(prefix)), key=lambda each: (each.name, each.id))


def _is_long(name: str) -> bool:
    """Whether *name* may have been cut."""
    return len(name.encode()) >= LISTED_NAME


def _cut(name: str) -> bytes:
    return NAMED + name.encode()[:LISTED_NAME]
