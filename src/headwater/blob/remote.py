"""Objects behind obstore: S3 and its kin, Google, Azure, and memory.

Two clients of the same place: one that tries again, and one that sends a request once, for puts under a condition:
such a put, applied and then repeated, would be refused, and the refusal believed.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, MutableSequence, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec
import obstore
from obstore.exceptions import BaseError
from obstore.store import AzureStore, GCSStore, MemoryStore, S3Store

from headwater.blob.errors import BlobError, LimitExceeded, NotFound, NotSupported, OutcomeUnknown, RangeNotSatisfiable
from headwater.blob.expiry import Expiry
from headwater.blob.limits import CALLS, CHUNK, DELETE_TRIES, MAX_STREAM, PAGE, PART, PARTS_IN_FLIGHT, STREAMS
from headwater.blob.measured import Measured
from headwater.blob.multipart import Multipart
from headwater.blob.refusals import Refusal
from headwater.blob.s3_expiry import S3Expiry
from headwater.blob.s3_multipart import S3Multipart
from headwater.blob.store import (
    ANY,
    NO_METADATA,
    Always,
    Blob,
    BlobStore,
    Body,
    Condition,
    Fetched,
    IfAbsent,
    IfMatch,
    Listed,
    Method,
    Prefix,
    Stat,
    Stored,
)
from headwater.blob.threads import Threads

if TYPE_CHECKING:
    from obstore import Attributes, BytesStream, GetOptions, GetResult, ObjectMeta, PutMode, PutResult

_NOT_METADATA = frozenset(
    {"Content-Disposition", "Content-Encoding", "Content-Language", "Content-Type", "Cache-Control", "Storage-Class"}
)


class Place(msgspec.Struct, frozen=True):
    """One bucket, container or memory, as the client reaches it; *name* is how messages call it, without secrets."""

    name: str
    retrying: S3Store | GCSStore | AzureStore | MemoryStore
    once: S3Store | GCSStore | AzureStore | MemoryStore
    tags: bool = False
    """Whether objects can have tags."""

    login: Mapping[str, str] = NO_METADATA
    """The credentials that were given, by our names for them."""

    def __repr__(self) -> str:
        return f"Place({self.name!r})"


class _Labels(msgspec.Struct, frozen=True):
    """What is said of an object beside its bytes."""

    attributes: Attributes
    tags: dict[str, str] | None


class RemoteStore(BlobStore):
    """Every verb is one blocking call of the client, made in a thread, or in place for memory."""

    def __init__(self, place: Place, prefix: str) -> None:
        self._place = place
        self._prefix = prefix
        in_place = isinstance(place.once, MemoryStore)
        self._calls = Threads(0 if in_place else CALLS, "blob-call")
        self._streams = Threads(0 if in_place else STREAMS, "blob-stream")
        self._conditions_by_version = isinstance(place.once, GCSStore)
        self._multipart: Multipart | None = None
        self._expiry: Expiry | None = None
        if isinstance(place.retrying, S3Store):
            self._multipart = S3Multipart(place.retrying, prefix, place.login)
            self._expiry = S3Expiry(place.retrying, place.login)

    def __repr__(self) -> str:
        return f"<BlobStore {self._place.name}/{self._prefix}>"

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
        labels = _Labels({**metadata, **({"Content-Type": content_type} if content_type else {})}, self._tags(tags))
        if isinstance(body, bytes):
            return await self._calls.run(self._put, name, body, condition, labels)
        return await self._streams.run_on_stream(lambda chunks: self._put_stream(name, chunks, labels), body)

    async def get(self, name: str, *, start: int = 0, end: int | None = None) -> Blob:
        result = await self._calls.run(self._get, name, start, end)
        first, last = result.range
        return Blob(self._described(result), first, last, self._chunks(name, result.stream(CHUNK)), None)

    async def fetch(self, name: str, *, start: int = 0, end: int | None = None) -> Fetched:
        return await self._calls.run(self._fetch, name, start, end)

    async def stat(self, name: str) -> Stat | None:
        return await self._calls.run(self._stat, name)

    async def list(
        self, prefix: str = "", *, start_after: str = "", delimiter: bool = False, page: int = PAGE
    ) -> AsyncIterator[Sequence[Listed]]:
        pages = self._level(prefix, start_after, page) if delimiter else self._listing(prefix, start_after, page)
        while (entries := await self._calls.run(next, pages, None)) is not None:
            yield entries

    async def delete(self, name: str) -> None:
        await self._calls.run(self._delete, name)

    async def delete_many(self, names: Iterable[str]) -> None:
        waiting = [*names]
        for first in range(0, len(waiting), 1000):
            await self._calls.run(self._delete_batch, waiting[first : first + 1000])

    async def copy(self, source: str, target: str) -> None:
        await self._calls.run(self._copy, source, target)

    async def presign(self, name: str, method: Method, seconds: int) -> str:
        return await self._calls.run(self._presign, name, method, seconds)

    def multipart(self) -> Multipart:
        if self._multipart is None:
            return super().multipart()
        return self._multipart

    def expiry(self) -> Expiry:
        return super().expiry() if self._expiry is None else self._expiry

    async def aclose(self) -> None:
        await self._streams.aclose()
        await self._calls.aclose()

    # What follows blocks, and runs in a thread.

    def _tags(self, tags: Mapping[str, str]) -> dict[str, str] | None:
        """What a request says of *tags*: nothing, not even that there are none, where they are not known."""
        return dict(tags) if tags and self._place.tags else None

    def _put(self, name: str, body: bytes, condition: Condition, labels: _Labels) -> Stored:
        measured = Measured(iter([body]))
        for _ in measured:
            pass
        store = self._place.retrying if isinstance(condition, Always) else self._place.once
        with self._writing(name):
            result = obstore.put(
                store,
                self._prefix + name,
                body,
                attributes=labels.attributes,
                tags=labels.tags,
                mode=self._mode(condition),
                chunk_size=PART,
                max_concurrency=PARTS_IN_FLIGHT,
            )
        return Stored(measured.size, measured.md5, self._etag(result))

    def _put_stream(self, name: str, chunks: Iterator[bytes], labels: _Labels) -> Stored:
        measured = Measured(chunks)
        first = _up_to(PART, measured)
        if len(first) <= PART:
            return self._put(name, first, ANY, labels)
        with self._writing(name):
            result = obstore.put(
                self._place.retrying,
                self._prefix + name,
                chain([first], _bounded(name, measured)),
                attributes=labels.attributes,
                tags=labels.tags,
                chunk_size=PART,
                max_concurrency=PARTS_IN_FLIGHT,
            )
        return Stored(measured.size, measured.md5, self._etag(result))

    def _get(self, name: str, start: int, end: int | None) -> GetResult:
        path = self._prefix + name
        with self._reading(name):
            try:
                return obstore.get(self._place.retrying, path, options=_range(start, end))
            except BaseError:
                if start == 0 and end is None:
                    raise
                size = obstore.head(self._place.retrying, path)["size"]
                if start < size:
                    raise
                if start:
                    raise RangeNotSatisfiable(f"{name!r} has {size} bytes: none from {start} on") from None
                return obstore.get(self._place.retrying, path)

    def _fetch(self, name: str, start: int, end: int | None) -> Fetched:
        result = self._get(name, start, end)
        with self._reading(name):
            return Fetched(result.bytes().to_bytes(), self._described(result))

    def _next(self, name: str, stream: BytesStream) -> bytes:
        with self._reading(name):
            return next(stream, b"")

    async def _chunks(self, name: str, stream: BytesStream) -> AsyncGenerator[bytes, None]:
        while chunk := await self._calls.run(self._next, name, stream):
            yield chunk

    def _stat(self, name: str) -> Stat | None:
        try:
            with self._reading(name):
                return self._described(obstore.get(self._place.retrying, self._prefix + name, options={"head": True}))
        except NotFound:
            return None

    def _listing(self, prefix: str, start_after: str, page: int) -> Iterator[Sequence[Listed]]:
        """All objects, from where the store could seek to; what it sends beside the wanted is left out here."""
        directory = self._prefix + prefix.rpartition("/")[0]
        after = max(start_after, _below(prefix))
        with self._reading(prefix):
            found = obstore.list(
                self._place.retrying, directory, offset=self._prefix + after if after else None, chunk_size=page
            )
            previous = ""
            for metas in found:
                entries: list[Stat] = []
                for entry in map(self._listed, metas):
                    if entry.name <= previous:
                        if entry.size == 0:  # it has a slash at its end, which the client drops: no object of ours
                            continue
                        raise BlobError(f"{self!r} lists {entry.name!r} after {previous!r}: it is not in byte order")
                    previous = entry.name
                    entries.append(entry)
                wanted = [entry for entry in entries if entry.name.startswith(prefix) and entry.name > start_after]
                if wanted:
                    yield wanted
                if previous > prefix and not previous.startswith(prefix):
                    return

    def _level(self, prefix: str, start_after: str, page: int) -> Iterator[Sequence[Listed]]:
        """One level, rolled up by the store itself, which is what passes over what lies beneath."""
        with self._reading(prefix):
            level = obstore.list_with_delimiter(self._place.retrying, self._prefix + prefix.rpartition("/")[0])
        cut = len(self._prefix)
        entries: MutableSequence[Listed] = [self._listed(meta) for meta in level["objects"]]
        entries += [Prefix(path[cut:] + "/") for path in level["common_prefixes"]]
        wanted = [entry for entry in entries if entry.name.startswith(prefix) and entry.name > start_after]
        wanted.sort(key=lambda entry: entry.name)
        for first in range(0, len(wanted), page):
            yield wanted[first : first + page]

    def _delete(self, name: str) -> None:
        with suppress(NotFound):
            self._delete_again([name])

    def _delete_batch(self, names: Sequence[str]) -> None:
        """S3 is content with absent names. Google and Azure stop at the first: then one by one, which always ends."""
        try:
            self._delete_again(names)
        except NotFound:
            for name in names:
                self._delete(name)

    def _delete_again(self, names: Sequence[str]) -> None:
        """Delete, and again if need be: it is a POST, which the client does not repeat of itself."""
        subject = names[0] if len(names) == 1 else f"{len(names)} names from {names[0]}"
        for tries_left in reversed(range(DELETE_TRIES)):
            try:
                with self._writing(subject):
                    obstore.delete(self._place.retrying, [self._prefix + name for name in names])
            except OutcomeUnknown:
                if not tries_left:
                    raise
            else:
                return

    def _copy(self, source: str, target: str) -> None:
        with self._writing(source):
            obstore.copy(self._place.retrying, self._prefix + source, self._prefix + target)

    def _presign(self, name: str, method: Method, seconds: int) -> str:
        store = self._place.retrying
        if isinstance(store, MemoryStore):
            raise NotSupported(f"{self!r} has no URLs to sign")
        path = self._prefix + name
        if isinstance(store, AzureStore) and quote(path) != path:  # the client signs the escaped path, Azure the plain
            raise NotSupported(f"{name!r}: on Azure a URL is signed only for names of letters, digits and '-._~/'")
        with self._reading(name):
            return obstore.sign(store, method, path, timedelta(seconds=seconds))

    def _mode(self, condition: Condition) -> PutMode:
        match condition:
            case IfAbsent():
                return "create"
            case IfMatch(etag):
                return {"version": etag} if self._conditions_by_version else {"e_tag": etag}
            case Always():
                return "overwrite"

    def _described(self, result: GetResult) -> Stat:
        attributes = result.attributes
        return msgspec.structs.replace(
            self._listed(result.meta),
            content_type=attributes.get("Content-Type"),
            metadata={key: value for key, value in attributes.items() if key not in _NOT_METADATA},
        )

    def _listed(self, meta: ObjectMeta) -> Stat:
        return Stat(
            name=meta["path"][len(self._prefix) :],
            size=meta["size"],
            etag=self._etag(meta),
            modified=int(meta["last_modified"].timestamp() * 1000),
        )

    def _etag(self, answer: PutResult | ObjectMeta) -> str:
        """What a condition can name: Google's generation, else the ETag, in the quotes that some listings drop."""
        version = answer["version"]
        if self._conditions_by_version and version:
            return version
        etag = answer["e_tag"] or ""
        return etag if etag.endswith('"') else f'"{etag}"'

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        try:
            yield
        except (BaseError, FileNotFoundError) as error:
            raise Refusal(error).as_read(f"{self._place.name}/{self._prefix}{name}") from None

    @contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        try:
            yield
        except (BaseError, FileNotFoundError) as error:
            raise Refusal(error).as_write(f"{self._place.name}/{self._prefix}{name}") from None


def _range(start: int, end: int | None) -> GetOptions | None:
    if end is not None:
        return {"range": (start, end)}
    return {"range": {"offset": start}} if start else None


def _up_to(size: int, chunks: Iterator[bytes]) -> bytes:
    """The first chunks, as many as make more than *size*, or all there are."""
    gathered = bytearray()
    for chunk in chunks:
        gathered += chunk
        if len(gathered) > size:
            break
    return bytes(gathered)


def _bounded(name: str, chunks: Measured) -> Iterator[bytes]:
    for chunk in chunks:
        if chunks.size > MAX_STREAM:
            raise LimitExceeded(f"{name!r}: a streamed put to a remote store takes at most {MAX_STREAM} bytes")
        if chunk:
            yield chunk


def _below(prefix: str) -> str:
    """A name that sorts closely before all that begin with *prefix*; or nothing, where none is so easy."""
    directory, _, last = prefix.rpartition("/")
    before = ord(last[-1]) - 1 if last else 0
    if before <= ord(" ") or 0x7F <= before <= 0x9F or 0xD800 <= before <= 0xDFFF:
        return ""
    return f"{directory}/{last[:-1]}{chr(before)}\U0010ffff".lstrip("/")
