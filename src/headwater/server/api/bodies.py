"""The bytes of an upload: the body itself, or the field `content` of a form, streamed either way."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from headwater.blob import Body
from headwater.engine.errors import BadRequest
from headwater.server.http import BodyTooLarge, Request
from headwater.server.limits import GATHERED

FIELD = "content"


class Upload(msgspec.Struct, frozen=True):
    """What is to be written, and what kind of content it says it is."""

    body: Body
    content_type: str | None


async def uploaded(request: Request, limit: int) -> Upload:
    """The upload that *request* carries, of at most *limit* bytes. What is small is read first, and is one write."""
    if request.content_length is not None and request.content_length > limit:
        raise BodyTooLarge(f"the body has {request.content_length} bytes; an object may have {limit}")
    told = request.header("content-type")
    kind, options = parse_options_header(told) if told is not None and "multipart" in told.lower() else (b"", {})
    if kind == b"multipart/form-data":
        return await _from_form(request, options.get(b"boundary", b""), limit)
    if request.content_length is not None and request.content_length <= GATHERED:
        return Upload(await request.body(GATHERED), told)
    return Upload(_bounded(request.stream(), limit), told)


async def _bounded(chunks: AsyncIterator[bytes], limit: int) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise BodyTooLarge(f"the body has more than {limit} bytes, the most that an object may have")
        yield chunk


class _Parts:
    """Takes a form apart: keeps the bytes of the wanted field, and the headers before them."""

    def __init__(self, boundary: bytes) -> None:
        self.content_type: str | None = None
        self.found = False
        self.ended = False
        self.chunks: list[bytes] = []
        self._name, self._value = b"", b""
        self._wanted = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._header_name,
                "on_header_value": self._header_value,
                "on_header_end": self._header_end,
                "on_part_data": self._data,
                "on_part_end": self._end,
            },
        )

    def feed(self, chunk: bytes) -> None:
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise BadRequest(f"the form cannot be taken apart: {error}") from None

    def taken(self) -> list[bytes]:
        taken, self.chunks = self.chunks, []
        return taken

    def _begin(self) -> None:
        self._wanted = False

    def _header_name(self, chunk: bytes, start: int, end: int) -> None:
        self._name += chunk[start:end]

    def _header_value(self, chunk: bytes, start: int, end: int) -> None:
        self._value += chunk[start:end]

    def _header_end(self) -> None:
        name, value = self._name.lower(), self._value
        self._name, self._value = b"", b""
        if name == b"content-disposition":
            self._wanted = not self.found and parse_options_header(value)[1].get(b"name") == FIELD.encode()
            self.found = self.found or self._wanted
        elif name == b"content-type" and self._wanted:
            self.content_type = value.decode("latin-1")

    def _data(self, chunk: bytes, start: int, end: int) -> None:
        if self._wanted:
            self.chunks.append(chunk[start:end])

    def _end(self) -> None:
        self.ended = self.ended or self._wanted


async def _from_form(request: Request, boundary: bytes, limit: int) -> Upload:
    if not boundary:
        raise BadRequest("content-type: a form says what its boundary is")
    parts = _Parts(boundary)
    stream = _bounded(request.stream(), limit)
    async for chunk in stream:
        parts.feed(chunk)
        if parts.chunks or parts.ended:
            break
    if not parts.found:
        raise BadRequest(f"the form has no field {FIELD!r}: that is where the bytes of the object belong")

    async def content() -> AsyncIterator[bytes]:
        for piece in parts.taken():
            yield piece
        async for chunk in stream:
            parts.feed(chunk)
            for piece in parts.taken():
                yield piece
        if not parts.ended:
            raise BadRequest("the form ends in the middle of an object")

    if parts.ended or (request.content_length or GATHERED + 1) <= GATHERED:
        return Upload(b"".join([piece async for piece in content()]), parts.content_type)
    return Upload(content(), parts.content_type)
