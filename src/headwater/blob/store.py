"""The object store as Headwater sees it: immutable-ish objects under names, in one order, with conditional puts.

Plain types, a handful of verbs, and the same behaviour on a local directory as on S3. What each kind of store does
beneath, and what it costs, is in `docs/blob.md`; `headwater.testing.BlobStoreSuite` checks it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Literal, Self, TypeAlias

import msgspec

from headwater.blob.errors import NotSupported
from headwater.blob.expiry import Expiry
from headwater.blob.limits import PAGE
from headwater.blob.multipart import Multipart

Body: TypeAlias = bytes | AsyncIterable[bytes]
"""What is put: all of it, or a stream of which only a bounded part is ever held in memory."""

Method: TypeAlias = Literal["GET", "HEAD", "PUT", "DELETE"]

NO_METADATA: Mapping[str, str] = MappingProxyType({})


class Stat(msgspec.Struct, frozen=True):
    """What a store knows of an object without reading it.

    *etag* changes when the content does, and on stores other than S3 with every write. *modified* is in milliseconds
    since 1970, as the store's clock had it. A listing leaves out *content_type* and *metadata*.
    """

    name: str
    size: int
    etag: str
    modified: int
    content_type: str | None = None
    metadata: dict[str, str] = {}


class Prefix(msgspec.Struct, frozen=True):
    """In a listing with a delimiter: all the objects whose names begin with *name*, which ends in a slash."""

    name: str


Listed: TypeAlias = Stat | Prefix


class Stored(msgspec.Struct, frozen=True):
    """What was put: its size and MD5 (hex), computed on the way, and the etag that a condition can name next."""

    size: int
    md5: str
    etag: str


class Fetched(msgspec.Struct, frozen=True):
    """Bytes of an object and what it was at that very moment."""

    body: bytes
    stat: Stat


class Always(msgspec.Struct, frozen=True):
    """The condition that always holds."""


class IfAbsent(msgspec.Struct, frozen=True):
    """The condition that holds while there is no such object."""


class IfMatch(msgspec.Struct, frozen=True):
    """The condition that holds while the object's etag is this one, as `put`, `get`, `fetch` or `stat` answered it."""

    etag: str


Condition: TypeAlias = Always | IfAbsent | IfMatch

ANY = Always()
IF_ABSENT = IfAbsent()


class Blob:
    """An object being read: what it is, and its bytes from *start* to *end* as an asynchronous iterator of chunks.

    The bytes are of one version of the object, whatever is put there meanwhile. Read it once; close it, or leave an
    `async with`, when not reading to the end.
    """

    def __init__(
        self, stat: Stat, start: int, end: int, chunks: AsyncGenerator[bytes, None], close: Callable[[], None] | None
    ) -> None:
        self.stat = stat
        self.start = start
        self.end = end
        self._chunks = chunks
        self._close = close

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._chunks

    async def aclose(self) -> None:
        """Let go of the file or connection behind it."""
        await self._chunks.aclose()
        if self._close is not None:
            self._close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class BlobStore(ABC):
    """Objects under names, each put and read as a whole or by ranges.

    Every store promises: a read or a listing sees every put and delete that finished before it began; nobody ever sees
    a part of an object; listings run in ascending byte order of the UTF-8 names. Names are UTF-8 paths: segments of 1
    to 255 bytes between single slashes, none of them `.`, `..` or `.headwater`, no control characters.
    """

    @abstractmethod
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
        """Write *body* as the object *name*, if *condition* holds; else raise `ConditionFailed`.

        A failing or cancelled stream leaves nothing: not the object, nor parts of it. Of several callers that put under
        the same condition, one succeeds. A body under a condition must fit one request, `MAX_CONDITIONAL`, and is
        sent once: an answer that never comes is an `OutcomeUnknown`. *tags* are for rules of the bucket, on S3;
        elsewhere there are none.
        """

    async def put_unseen(self, name: str, body: bytes) -> Stored:
        """Write *body* as the object *name*, which the caller has just made up: nobody else puts it, and nobody looks
        for it before this returns.

        So a store may write it where it stands, and only listings can tell: they may show a part of it, which is all
        that is left of it if the process is killed meanwhile.
        """
        return await self.put(name, body)

    @abstractmethod
    async def get(self, name: str, *, start: int = 0, end: int | None = None) -> Blob:
        """The object *name*, from byte *start* up to, not including, *end*, as a stream. `NotFound` when absent.

        An *end* beyond the object means its end. A *start* beyond the last byte is a `RangeNotSatisfiable`, except that
        an empty object can be read from 0.
        """

    @abstractmethod
    async def fetch(self, name: str, *, start: int = 0, end: int | None = None) -> Fetched:
        """What `get` gives, in memory and in one request: for small objects, whose etag is then a condition."""

    async def read(self, name: str, *, start: int = 0, end: int | None = None) -> bytes:
        """The bytes of `fetch` alone."""
        return (await self.fetch(name, start=start, end=end)).body

    @abstractmethod
    async def stat(self, name: str) -> Stat | None:
        """What the object *name* is, or None when there is none."""

    @abstractmethod
    def list(
        self, prefix: str = "", *, start_after: str = "", delimiter: bool = False, page: int = PAGE
    ) -> AsyncIterator[Sequence[Listed]]:
        """The objects whose names begin with *prefix*, any string, in ascending order, in pages of 1 to *page*.

        With *delimiter*, what has a slash after the prefix is rolled up into one `Prefix` that ends there, in one order
        with the objects. Only entries greater than *start_after* are listed, which may be the name of an object or of a
        `Prefix`. An object put or deleted meanwhile may or may not show.
        """

    @abstractmethod
    async def delete(self, name: str) -> None:
        """Remove the object *name*. Content when there is none."""

    @abstractmethod
    async def delete_many(self, names: Iterable[str]) -> None:
        """Remove every one of *names*, in as few requests as the store takes. When this fails, some may be gone."""

    @abstractmethod
    async def copy(self, source: str, target: str) -> None:
        """Make *target* what *source* is, without its bytes coming here. `NotFound` when there is no *source*."""

    @abstractmethod
    async def presign(self, name: str, method: Method, seconds: int) -> str:
        """A URL that lets whoever holds it do *method* on *name* for so long. It is a secret: keep it out of logs."""

    @property
    def directory(self) -> Path | None:
        """The directory of this machine below which objects are files, if they are: for tools that write there."""
        return None

    def multipart(self) -> Multipart:
        """Uploads in parts that others send, where the store has them; else `NotSupported`."""
        raise NotSupported(f"{self!r} takes no parts of an upload from others: upload as a whole, or through the API")

    def expiry(self) -> Expiry:
        """The rules by which the store deletes objects by itself, where it has some; else `NotSupported`."""
        raise NotSupported(f"{self!r} has no rules that delete objects after a time")

    def file(self, name: str) -> Path | None:  # noqa: ARG002  (most stores have no files)
        """The file of this machine that the object *name* is, if objects are files: for whoever can send it as one."""
        return None

    async def aclose(self) -> None:  # noqa: B027  (some stores hold nothing)
        """Let go of files, connections and threads. What is called later raises `BlobUnavailable`."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
