"""What is told of an object that the API of lakeFS has no names for, or that a header cannot hold."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, unquote

import msgspec

from headwater.engine.errors import BadRequest
from headwater.index import Block, Kind
from headwater.sdk.results import Entry

DESCRIPTION = "x-headwater-object"
"""The header of an upload that describes the object: a `Description` as JSON, with escapes for what is not ASCII."""


class Details(msgspec.Struct, frozen=True, omit_defaults=True):
    """Of an entry, what lakeFS does not tell. *modified* is in milliseconds since 1970."""

    modified: int
    kind: Kind = Kind.OBJECT
    blocks: tuple[Block, ...] = ()
    content_type: str | None = None
    """As it is recorded, where lakeFS tells a default for none."""


class Sides(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a changed path is on each side."""

    left: Entry | None = None
    right: Entry | None = None


class Description(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an object that is written is said to be."""

    content_type: str | None = None
    metadata: Mapping[str, str] = {}


def described(content_type: str | None, metadata: Mapping[str, str]) -> str:
    """The header that says so."""
    return quote(msgspec.json.encode(Description(content_type, metadata)), safe=' {}[]":,/;=+')


def description_of(header: str) -> Description:
    """What the *header* says."""
    try:
        return msgspec.json.decode(unquote(header), type=Description)
    except msgspec.DecodeError as error:
        raise BadRequest(f"{DESCRIPTION}: {error}") from None


class Opened(msgspec.Struct, frozen=True):
    """An entry, and a *handle* by which its bytes can be read, whatever is written to its path meanwhile."""

    entry: Entry
    handle: str
