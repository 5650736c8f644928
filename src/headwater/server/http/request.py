"""A request as it came: nothing of it is decoded before it is asked for, and its body is read at most once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from functools import cached_property
from urllib.parse import unquote, unquote_to_bytes

from headwater.errors import HeadwaterError
from headwater.server.http.asgi import Receive, Scope


class BodyTooLarge(HeadwaterError):
    """The body of a request is larger than may be sent there. Nothing was done."""


class ClientGone(HeadwaterError):
    """The client closed the connection before all of its request was here. Nothing of it is kept."""


class Request:
    """One request."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.method: str = scope["method"]
        self.id = ""
        """What the log, the answer and an error call this request; set as it comes in."""

        self.user = ""
        """Who asks, for the log; set when that is known."""

        self.operation = ""
        """What is asked, for the log and the metrics; set when that is known."""

        self.received = 0
        """Bytes of the body that were read."""

        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        self.raw_path = raw.partition(b"?")[0].decode("latin-1")
        """The path as it was written, with its escapes."""

        query: bytes = scope["query_string"]
        self.raw_query = query.decode("latin-1")

        self._ended = False
        self._scope = scope
        self._receive = receive
        self._headers: dict[str, str] | None = None

    @cached_property
    def path(self) -> str:
        """The path without escapes. Which of its slashes were escaped only `raw_path` can tell."""
        return unquote(self.raw_path)

    @cached_property
    def query(self) -> dict[str, str]:
        """The parameters of the query; of one that is repeated, the last."""
        return dict(self.query_pairs)

    @property
    def query_pairs(self) -> list[tuple[str, str]]:
        """The parameters of the query, in their order."""
        parts = [part.partition("=") for part in self.raw_query.split("&") if part]
        return [(_unescaped(name), _unescaped(value)) for name, _, value in parts]

    @property
    def raw_headers(self) -> Iterable[tuple[bytes, bytes]]:
        """The headers as they came, in their order."""
        raw: Iterable[tuple[bytes, bytes]] = self._scope["headers"]
        return raw

    @property
    def headers(self) -> dict[str, str]:
        """The headers by their names in lower case; of one that is repeated, all values with commas between."""
        if self._headers is not None:
            return self._headers
        pairs = self._scope["headers"]
        found: dict[str, str] = {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}
        if len(found) < len(pairs):
            found = {}
            for raw, value in pairs:
                name, text = raw.decode("latin-1"), value.decode("latin-1")
                found[name] = f"{found[name]}, {text}" if name in found else text
        self._headers = found
        return found

    def header(self, name: str) -> str | None:
        """The header *name*, which is in lower case."""
        return self.headers.get(name)

    @property
    def client(self) -> str:
        """The address that the connection comes from."""
        client = self._scope.get("client")
        return "" if client is None else str(client[0])

    @property
    def scheme(self) -> str:
        scheme: str = self._scope.get("scheme", "http")
        return scheme

    @property
    def host(self) -> str:
        return self.headers.get("host", "")

    @cached_property
    def content_length(self) -> int | None:
        """What the client says that its body is long; None if it does not say."""
        told = self.headers.get("content-length", "")
        return int(told) if told.isascii() and told.isdigit() else None

    @property
    def is_out_of_step(self) -> bool:
        """Whether the client may see otherwise than we what comes next on the connection.

        Something of the body was not read; or there is none, and the client waits to be told to go on, which is never
        said then: that of AWS takes the next answer for a part of this one.
        """
        has_body = bool(self.content_length or "transfer-encoding" in self.headers)
        return not self._ended if has_body else "expect" in self.headers

    async def body(self, limit: int) -> bytes:
        """All of the body, or `BodyTooLarge` if it has more than *limit* bytes."""
        if self.content_length is not None and self.content_length > limit:
            raise BodyTooLarge(f"the body has {self.content_length} bytes; {limit} at most may be sent here")
        chunks = [await self._next()]
        while not self._ended and self.received <= limit:
            chunks.append(await self._next())
        if self.received > limit:
            raise BodyTooLarge(f"the body has more than {limit} bytes, the most that may be sent here")
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def stream(self) -> AsyncIterator[bytes]:
        """The body in chunks, as they come. `ClientGone` if the rest will never come."""
        more = True
        while more:
            chunk = await self._next()
            more = not self._ended
            if chunk:
                yield chunk

    async def _next(self) -> bytes:
        """What comes next of the body."""
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientGone("the client closed the connection before it had sent its request")
        chunk: bytes = message.get("body", b"")
        self.received += len(chunk)
        if not message.get("more_body", False):
            self._ended = True
            told = self.content_length
            if told is not None and self.received < told:
                raise ClientGone(f"the client sent {self.received} bytes of {told}")
        return chunk


def _unescaped(text: str) -> str:
    """A name or value of a query without escapes. What is no UTF-8 becomes surrogates, which readers refuse."""
    if "+" in text:
        text = text.replace("+", " ")
    return unquote_to_bytes(text).decode(errors="surrogateescape") if "%" in text else text
