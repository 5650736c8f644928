"""From what a caller says of a lake to its stores: a directory that holds it all, or a database and object storage."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlsplit

import msgspec

from headwater import blob
from headwater import kv as key_value
from headwater.blob.metered import MeteredBlobs
from headwater.blob.threads import running_loop
from headwater.engine.errors import BadRequest
from headwater.engine.lake import Lake
from headwater.index import CacheDirectory, SegmentCache
from headwater.kv import Store
from headwater.kv.metered import MeteredStore
from headwater.metrics import Metrics
from headwater.outside import real_outside

Durability = Literal["fsync", "os"]


class Opened(msgspec.Struct, frozen=True):
    """A lake, and what the faces need to know of it."""

    lake: Lake
    store: Store
    storage: Storage
    immediate: bool
    """Whether nothing in it ever truly waits, so that a caller without an event loop needs none."""

    cache: SegmentCache


class Storage(msgspec.Struct, frozen=True):
    """Where repositories keep their objects unless told otherwise, and how to get there.

    *directory* is that of a lake which is one: namespaces in it are recorded relative to it, so that it can be moved.
    """

    uri: str
    credentials: Mapping[str, str] = {}
    directory: Path | None = None

    def namespace_of(self, repository: str) -> str:
        """Where the repository of this name goes by default. How to get there is not part of it, and may change."""
        return f"{self.uri.partition('?')[0].rstrip('/')}/{repository}"

    async def open(self, uri: str) -> blob.BlobStore:
        """The object store at *uri*. What is of the same kind as this storage is reached in the same way."""
        scheme = urlsplit(uri).scheme
        if scheme == "file":
            uri = self._absolute(uri)
        if scheme != urlsplit(self.uri).scheme:
            return await blob.open(uri)
        ours = urlsplit(self.uri).query
        if not urlsplit(uri).query and ours:
            uri = f"{uri}?{ours}"
        return await blob.open(uri, credentials=self.credentials if urlsplit(uri).query == ours else None)

    def _absolute(self, uri: str) -> str:
        """Of the path of a directory, in a URI, what is found from anywhere."""
        path = urlsplit(uri).path
        if path.startswith("/"):
            return uri
        if self.directory is None:
            raise BadRequest(f"{uri} is inside the directory of a lake: open the lake by that directory")
        return uri.replace(f"file:{path}", f"file://{quote(str(self.directory))}/{path}", 1)


async def open_stores(
    location: str | os.PathLike[str] | None = None,
    *,
    kv: str | None = None,
    storage: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    kv_credentials: Mapping[str, str] | None = None,
    storage_credentials: Mapping[str, str] | None = None,
    durability: Durability = "fsync",
    metrics: Metrics | None = None,
    dirty_read_optimization: bool = True,
) -> Opened:
    """The lake in the directory *location*, which is made if need be; or the one in the stores *kv* and *storage*."""
    if location is not None:
        if kv is not None or storage is not None:
            raise BadRequest("a lake is in one directory, or in kv= and storage=: give the one or the others")
        if "://" in os.fspath(location):
            raise BadRequest(f"{location} is no directory: for other stores, give kv= and storage=")
        directory = _absolute(location)
        kv = f"lmdb://{quote(str(directory / 'kv'))}?durability={durability}"
        place = Storage(f"file:objects?durability={durability}", directory=directory)
        cache = directory / "cache" if cache is None else cache
    elif kv is None or storage is None:
        raise BadRequest("say where the lake is: a directory, or kv= and storage=")
    else:
        place = Storage(storage, storage_credentials or {})
    outside = msgspec.structs.replace(real_outside(), sleep=_sleep)
    store = await key_value.open(kv, credentials=kv_credentials)
    open_blobs = place.open
    if metrics is not None:
        store = MeteredStore(store, metrics, urlsplit(kv).scheme)
        open_blobs = partial(_metered, metrics, place)
    kept = SegmentCache(None if cache is None else CacheDirectory(Path(cache)))
    immediate = store.immediate and urlsplit(place.uri).scheme in {"file", "mem"}
    lake = Lake(
        store, open_blobs, outside, cache=kept, metrics=metrics, dirty_read_optimization=dirty_read_optimization
    )
    return Opened(lake, store, place, immediate, kept)


KINDS = {"file": "local", "az": "azure"}
"""What object stores are called in metrics, if not by their schemes."""


async def _metered(metrics: Metrics, place: Storage, uri: str) -> blob.BlobStore:
    """The object store at *uri*, with its calls timed."""
    scheme = urlsplit(uri).scheme
    return MeteredBlobs(await place.open(uri), metrics, KINDS.get(scheme, scheme))


def _absolute(location: str | os.PathLike[str]) -> Path:
    """*location* from anywhere: the program may change its working directory."""
    return Path(location).absolute()


async def _sleep(seconds: float) -> None:
    """Wait: on the event loop, or where there is none, here and now."""
    if running_loop() is None:
        time.sleep(seconds)  # noqa: ASYNC251  (there is no loop that this would block)
    else:
        await asyncio.sleep(seconds)
