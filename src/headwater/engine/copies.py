"""Copies leave a note of where the bytes are, so that garbage collection takes what was copied for new.

A copy makes an old object be referred to from a new place. With the old place deleted behind it, an object could hop
ahead of whoever looks for references, and be seen by nobody. `docs/garbage.md` has the whole argument.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from headwater.blob.namespace import HOUR, WORKSPACES, parse_data_name, span
from headwater.engine.addresses import is_foreign
from headwater.engine.limits import HOLD
from headwater.engine.read import stat
from headwater.engine.repository import Repository
from headwater.engine.workspaces.ids import workspace_of
from headwater.index import Entry
from headwater.kv import Entry as KeyValue
from headwater.kv.limits import MAX_KEY
from headwater.staging.tries import tries

COPIED = b"copied/"
"""What the keys of notes begin with, in a repository's partition: the time follows, and the address."""


async def held(repository: Repository, ref: str, path: str) -> Entry:
    """What is at *path*, to be staged somewhere else: its bytes stay for hours, whatever becomes of *path*.

    `PathNotFound` if nothing is there. A trip more than `stat` if the bytes are older than an hour.
    """
    async for _ in tries(repository.outside, f"copying {path!r}"):
        began = repository.outside.elapsed()
        found = await stat(repository, ref, path)
        await note(repository, [block.address for block in found.blocks])
        if is_in_time(repository, began):
            return found
    raise AssertionError("tries never end quietly")


def is_lasting(ref: str, found: Entry) -> bool:
    """Whether an entry that was *found* at *ref* can be staged elsewhere as it is.

    Not if it is an object of a workspace: that may be written over as long as no commit refers to it.
    """
    return workspace_of(ref) is None or not any(block.address.startswith(WORKSPACES) for block in found.blocks)


async def note(repository: Repository, addresses: Sequence[str]) -> None:
    """Have the objects at *addresses* count as written now. Those that are new anyway need no note."""
    now = repository.outside.now()
    notes = dict(
        note_of(now, address) for address in addresses if not is_foreign(address) and not _is_new(address, now)
    )
    if notes:
        await repository.store.set_many(repository.partition, notes)


def is_in_time(repository: Repository, began: float) -> bool:
    """Whether what was read since *began* was noted soon enough: before two looks can both have missed it."""
    return repository.outside.elapsed() - began <= HOLD


def note_of(now: int, address: str) -> tuple[bytes, bytes]:
    """The key and the value of a note. What is too long for a key is the value, and the key has its digest."""
    text = address.encode()
    at = COPIED + now.to_bytes(8, "big")
    if len(at) + len(text) <= MAX_KEY:
        return at + text, b""
    return at + hashlib.blake2b(text, digest_size=16).digest(), text


def noted(note: KeyValue) -> tuple[int, str]:
    """When (milliseconds since 1970) and what, from what `note_of` made."""
    rest = note.key.removeprefix(COPIED)
    return int.from_bytes(rest[:8], "big"), (note.value or rest[8:]).decode()


def _is_new(address: str, now: int) -> bool:
    name = parse_data_name(address)
    return name is not None and span(name.slice).start > now - HOUR
