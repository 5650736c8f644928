"""Handles of objects that are open: where the bytes are, and a code that only the servers of this lake can make.

So what is written to a path meanwhile makes no difference to who reads, and no server has to remember what is open.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode

import msgspec

from headwater.auth.directory.sealing import derive
from headwater.engine.errors import BadRequest
from headwater.engine.paths import key_of
from headwater.engine.repository import Repository
from headwater.index import Block, Entry

_CODE = 16
"""Bytes of the code of a handle: nobody guesses it."""


class _Held(msgspec.Struct, frozen=True, array_like=True):
    repository: str
    key: str
    blocks: tuple[Block, ...]
    size: int
    checksum: str | None
    modified: int
    content_type: str | None


class Handles:
    """Makes handles, and reads those that it or another server of the lake made."""

    def __init__(self, server_secret: bytes) -> None:
        self._key = derive(server_secret, "handles")

    def make(self, repository: Repository, entry: Entry) -> str:
        """A handle of *entry*. Who has it may read that content, if they may read what is at its path."""
        held = _Held(
            repository.record.id,
            entry.key,
            entry.blocks,
            entry.size,
            entry.checksum,
            entry.modified,
            entry.content_type,
        )
        packed = msgspec.msgpack.encode(held)
        return urlsafe_b64encode(self._code(packed) + packed).decode()

    def read(self, repository: Repository, path: str, handle: str) -> Entry:
        """The entry that *handle* was made of, if that was at *path*; else `BadRequest`."""
        told = _bytes_of(handle)
        if not hmac.compare_digest(told[:_CODE], self._code(told[_CODE:])):
            raise BadRequest("handle: it is none that this server gave; open the object anew")
        held = msgspec.msgpack.decode(told[_CODE:], type=_Held)
        if held.repository != repository.record.id or held.key != key_of(path):
            raise BadRequest("handle: it is of another object; open this one")
        return Entry(
            held.key,
            blocks=held.blocks,
            size=held.size,
            checksum=held.checksum,
            modified=held.modified,
            content_type=held.content_type,
        )

    def _code(self, packed: bytes) -> bytes:
        return hmac.digest(self._key, packed, hashlib.sha256)[:_CODE]


def _bytes_of(handle: str) -> bytes:
    try:
        return urlsafe_b64decode(handle.encode())
    except ValueError:
        return b""
