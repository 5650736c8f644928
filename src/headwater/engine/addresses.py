"""Where the bytes of an entry are: a name in the repository's namespace, or the URI of an object anywhere else.

In a URI the characters `%`, `?` and `#` of an object's name are written `%25`, `%3F` and `%23`; no others
need be escaped.
"""

from __future__ import annotations

from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from headwater.blob import BlobStore
from headwater.engine.errors import BadRequest
from headwater.engine.repository import Repository


async def located(repository: Repository, address: str) -> tuple[BlobStore, str]:
    """The store that has the object at *address*, and its name there."""
    if not is_foreign(address):
        return repository.blobs, address
    place, name = split_address(address)
    return await repository.open_blobs(place), name


def is_foreign(address: str) -> bool:
    """Whether *address* is a URI. The names that the engine gives have no colon."""
    return "://" in address


def escaped(names: pa.Array) -> pa.Array:
    """Names of objects as they are written in a URI, all at once."""
    for character, escape in (("%", "%25"), ("?", "%3F"), ("#", "%23")):
        names = pc.replace_substring(names, character, escape)
    return names


def split_address(address: str) -> tuple[str, str]:
    """A store, of which there are to be few, and the object's name there: by bucket, or of files by directory."""
    scheme, _, rest = address.partition("://")
    if scheme == "file":
        place, _, name = address.rpartition("/")
    else:
        bucket, _, name = rest.partition("/")
        place = f"{scheme}://{bucket}"
    if not name:
        raise BadRequest(f"address {address!r} names no object")
    return place, unquote(name)
