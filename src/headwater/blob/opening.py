"""Open the object store at a URI."""

from __future__ import annotations

from collections.abc import Mapping

from headwater.blob.errors import CannotOpen
from headwater.blob.gate import Gate
from headwater.blob.local import open_directory
from headwater.blob.providers import open_remote
from headwater.blob.store import BlobStore
from headwater.location import BadLocation, Location, parse


async def open(uri: str, *, credentials: Mapping[str, str] | None = None) -> BlobStore:  # noqa: A001  (reads `blob.open`)
    """The store at *uri*, and nothing outside its prefix: `file:`, `mem:`, `s3:`, `gs:` or `az:`.

    *credentials* go by the provider's own names, such as `access_key_id` and `secret_access_key`; without any, they
    come from the provider's standard chain. A remote store is not asked anything yet. Raises `CannotOpen`.
    """
    try:
        location = parse(uri, credentials)
    except BadLocation as error:
        raise CannotOpen(str(error)) from None
    return await open_location(location)


async def open_location(location: Location) -> BlobStore:
    """What `open` does, for who has taken the URI apart already."""
    try:
        if location.scheme == "file":
            return Gate(open_directory(location), "")
        store, prefix = open_remote(location)
    except BadLocation as error:
        raise CannotOpen(str(error)) from None
    return Gate(store, prefix)
