"""Uploads in parts that others send: begun here, each part put at a URL of its own by whoever holds it, ended here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec


class Part(msgspec.Struct, frozen=True):
    """A part that was sent: its number, from 1, and the etag that the store answered to it."""

    number: int
    etag: str


class Multipart(Protocol):
    """The uploads in parts of one store. A part may be sent again; the object is there only once all is completed.

    An upload that is neither completed nor aborted stays until the store's own rules of expiry remove it.
    """

    async def create(self, name: str, content_type: str | None = None) -> str:
        """Begin an upload of the object *name*. Returns its id."""

    async def part_urls(self, name: str, upload: str, numbers: Sequence[int], seconds: int) -> list[str]:
        """URLs that take the parts *numbers* with a PUT for so long. No request is made. They are secrets."""

    async def copy_part(self, name: str, upload: str, number: int, source: str, *, start: int, end: int) -> str:
        """Make part *number* of the bytes of the object *source* from *start* to *end*. Returns its etag."""

    async def complete(self, name: str, upload: str, parts: Sequence[Part]) -> None:
        """Make the object of *parts*. `RejectedParts` if it cannot be, `NotFound` if there is no such upload."""

    async def abort(self, name: str, upload: str) -> None:
        """Give the upload up, with what was sent of it. `NotFound` if there is no such upload."""
