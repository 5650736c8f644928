"""What stands before every kind of store: names and limits, checked here once, so that all refuse alike."""

from __future__ import annotations

import re
from collections.abc import AsyncIterable, AsyncIterator, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from headwater.blob.errors import BlobUnavailable, LimitExceeded, RangeNotSatisfiable
from headwater.blob.expiry import Expiry
from headwater.blob.limits import MAX_CONDITIONAL, MAX_METADATA, MAX_NAME, MAX_PAGE, MAX_PRESIGNED, PAGE
from headwater.blob.multipart import Multipart
from headwater.blob.names import check_bound, check_name, check_prefix
from headwater.blob.store import (
    ANY,
    NO_METADATA,
    Blob,
    BlobStore,
    Body,
    Condition,
    Fetched,
    Listed,
    Method,
    Stat,
    Stored,
)

_METADATA_NAME = re.compile(r"[a-z][a-z0-9_]*")


class Gate(BlobStore):
    """A store that is asked only what it can answer. *prefix* is what it puts before names, of which it takes room."""

    def __init__(self, store: BlobStore, prefix: str) -> None:
        self._store = store
        self._room = MAX_NAME - len(prefix.encode())
        self._closed = False

    def __repr__(self) -> str:
        return repr(self._store)

    async def put(
        self,
        name: str,
        body: Body,
        *,
        condition: Condition = ANY,
        content_type: str | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
        tags: Mapping[str, str] = NO_METADATA,
    ) -> Stored:
        self._check(name)
        _check_metadata(name, content_type, metadata)
        if condition != ANY:
            body = await _gathered(name, body)
        return await self._store.put(
            name, body, condition=condition, content_type=content_type, metadata=metadata, tags=tags
        )

    def put_unseen(self, name: str, body: bytes) -> Coroutine[Any, Any, Stored]:
        self._check(name)
        return self._store.put_unseen(name, body)

    def get(self, name: str, *, start: int = 0, end: int | None = None) -> Coroutine[Any, Any, Blob]:
        self._check(name)
        _check_range(name, start, end)
        return self._store.get(name, start=start, end=end)

    def fetch(self, name: str, *, start: int = 0, end: int | None = None) -> Coroutine[Any, Any, Fetched]:
        self._check(name)
        _check_range(name, start, end)
        return self._store.fetch(name, start=start, end=end)

    def read(self, name: str, *, start: int = 0, end: int | None = None) -> Coroutine[Any, Any, bytes]:
        self._check(name)
        _check_range(name, start, end)
        return self._store.read(name, start=start, end=end)

    def stat(self, name: str) -> Coroutine[Any, Any, Stat | None]:
        self._check(name)
        return self._store.stat(name)

    def list(
        self, prefix: str = "", *, start_after: str = "", delimiter: bool = False, page: int = PAGE
    ) -> AsyncIterator[Sequence[Listed]]:
        self._check_open()
        check_prefix(prefix, self._room)
        check_bound(start_after, self._room)
        if not 1 <= page <= MAX_PAGE:
            raise LimitExceeded(f"page={page}: a page of a listing has 1 to {MAX_PAGE} entries")
        return self._store.list(prefix, start_after=start_after, delimiter=delimiter, page=page)

    def delete(self, name: str) -> Coroutine[Any, Any, None]:
        self._check(name)
        return self._store.delete(name)

    def delete_many(self, names: Iterable[str]) -> Coroutine[Any, Any, None]:
        distinct = list(dict.fromkeys(names))
        for name in distinct:
            self._check(name)
        return self._store.delete_many(distinct)

    def copy(self, source: str, target: str) -> Coroutine[Any, Any, None]:
        self._check(source)
        self._check(target)
        return self._store.copy(source, target)

    def presign(self, name: str, method: Method, seconds: int) -> Coroutine[Any, Any, str]:
        self._check(name)
        if not 1 <= seconds <= MAX_PRESIGNED:
            raise LimitExceeded(f"{seconds} s: a presigned URL lasts 1 to {MAX_PRESIGNED} seconds")
        return self._store.presign(name, method, seconds)

    @property
    def directory(self) -> Path | None:
        return self._store.directory

    def multipart(self) -> Multipart:
        self._check_open()
        return self._store.multipart()

    def expiry(self) -> Expiry:
        self._check_open()
        return self._store.expiry()

    def file(self, name: str) -> Path | None:
        self._check(name)
        return self._store.file(name)

    async def aclose(self) -> None:
        if not self._closed:
            self._closed = True
            await self._store.aclose()

    def _check(self, name: str) -> None:
        self._check_open()
        check_name(name, self._room)

    def _check_open(self) -> None:
        if self._closed:
            raise BlobUnavailable(f"{self!r} was closed: open it again")


async def _gathered(name: str, body: Body) -> bytes:
    """The whole of a body that goes out under a condition, which takes one request."""
    if isinstance(body, AsyncIterable):
        gathered = bytearray()
        async for chunk in body:
            gathered += chunk
            if len(gathered) > MAX_CONDITIONAL:
                break
        body = bytes(gathered)
    if len(body) > MAX_CONDITIONAL:
        raise LimitExceeded(f"{name!r}: a put under a condition takes at most {MAX_CONDITIONAL} bytes")
    return body


def _check_range(name: str, start: int, end: int | None) -> None:
    if start < 0 or (end is not None and end <= start):
        raise RangeNotSatisfiable(
            f"{name!r}: bytes {start} to {end} are none: a range starts at 0 or later, and ends after it"
        )


def _check_metadata(name: str, content_type: str | None, metadata: Mapping[str, str]) -> None:
    """Names and values as HTTP headers carry them, which is how every remote store is told."""
    size = len(content_type or "") + sum(len(key) + len(value) for key, value in metadata.items())
    if size > MAX_METADATA:
        raise LimitExceeded(f"{name!r}: metadata and content type have {size} bytes; {MAX_METADATA} at most")
    for text in (content_type or "", *metadata.values()):
        if not (text.isascii() and text.isprintable()):
            raise LimitExceeded(f"{name!r}: metadata and content type are printable ASCII, unlike {text[:80]!r}")
    for key in metadata:
        if not _METADATA_NAME.fullmatch(key):
            raise LimitExceeded(
                f"{name!r}: metadata {key[:80]!r}: its name must be lower-case letters, digits and '_', a letter first"
            )
