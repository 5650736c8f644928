"""Requests to a server: sent over connections that are kept, sent again where that does no harm, errors made ours.

What may be sent again is decided by what the caller may conclude. A request that never left, or that was answered with
503, or with 429 before anybody looked at it, has done nothing. A read that got no answer is asked again, and so is a
write that means the same however often it is done; of any other write without an answer nobody knows whether it was
done, and that is `UnknownOutcome`.
"""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final, TypeAlias, TypeVar
from urllib.parse import urlsplit

import httpcore
import msgspec

import headwater
from headwater.kv import StoreUnavailable, UnknownOutcome
from headwater.outside import real_outside
from headwater.sdk.remote.limits import CONNECT, CONNECTIONS, FIRST_WAIT, IDLE, LONGEST_WAIT, TRIES
from headwater.sdk.remote.urls import Query, endpoint_of, query_of
from headwater.sdk.wire.errors import Error, error_of

Answer = TypeVar("Answer")

Sent: TypeAlias = bytes | AsyncIterable[bytes] | None
"""A body. A stream cannot be sent again."""

NOTHING: Mapping[str, str] = {}

_JSON: Final = {"content-type": "application/json"}
_NEVER_LEFT = (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.PoolTimeout)
_LOST = (httpcore.NetworkError, httpcore.RemoteProtocolError, httpcore.TimeoutException)
_FAILED = 300
_UNAVAILABLE = 503
_TOO_MANY = 429
_OVERDUE = 504


class Request(msgspec.Struct, frozen=True):
    """One request. *again*: having it done twice is having it done once. It is sent again with *repeated*, if given."""

    method: str
    path: str
    query: Query = NOTHING
    headers: Mapping[str, str] = NOTHING
    content: Sent = None
    again: bool = False
    repeated: Query | None = None

    @property
    def repeatable(self) -> bool:
        return self.content is None or isinstance(self.content, bytes)

    @property
    def writes(self) -> bool:
        return self.method != "GET"


class Connection:
    """A server, and as whom it is asked. It belongs to the event loop that first asks.

    It stands on httpcore, which is what httpx stands on: the rest of httpx is not needed here, and takes its time.
    """

    def __init__(
        self, endpoint: str, access_key_id: str, secret_access_key: str, *, silence: float, ca: str | None
    ) -> None:
        self._endpoint = endpoint_of(endpoint)
        self._outside = real_outside()
        parts = urlsplit(self._endpoint)
        self._scheme, self._host, self._port = parts.scheme.encode(), (parts.hostname or "").encode("idna"), parts.port
        self._prefix = parts.path
        self._headers = [
            (b"host", parts.netloc.encode("idna")),
            (b"user-agent", f"headwater/{headwater.__version__}".encode()),
            (b"authorization", b"Basic " + b64encode(f"{access_key_id}:{secret_access_key}".encode())),
        ]
        self._timeout = {"timeout": {"connect": CONNECT, "pool": silence, "read": silence, "write": silence}}
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=ssl.create_default_context(cafile=ca) if parts.scheme == "https" else None,
            max_connections=CONNECTIONS,
            keepalive_expiry=IDLE,
        )

    async def ask(self, kind: type[Answer], path: str, query: Query = NOTHING) -> Answer:
        """What the server answers to a read, as *kind*."""
        return _decoded(await self.send(Request("GET", path, query, again=True)), kind)

    async def tell(
        self,
        kind: type[Answer],
        method: str,
        path: str,
        query: Query = NOTHING,
        *,
        body: object = None,
        again: bool = False,
    ) -> Answer:
        """What the server answers to a write that *body* describes."""
        headers, content = (NOTHING, None) if body is None else (_JSON, msgspec.json.encode(body))
        return _decoded(await self.send(Request(method, path, query, headers, content, again)), kind)

    async def upload(self, kind: type[Answer], request: Request) -> Answer:
        """What the server answers to a write of bytes."""
        return _decoded(await self.send(request), kind)

    async def send(self, request: Request) -> httpcore.Response:
        """The answer, with its body read. Errors that the server tells are raised."""
        return await self._answer(request, whole=True)

    @asynccontextmanager
    async def stream(self, path: str, query: Query = NOTHING) -> AsyncIterator[AsyncIterator[bytes]]:
        """The body of the answer to a read, as it comes. It is to be read within the block."""
        response = await self._answer(Request("GET", path, query, again=True), whole=False)
        try:
            yield response.aiter_stream()
        except _LOST as error:
            raise StoreUnavailable(f"the connection was lost in the middle of an answer: {_why(error)}") from error
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        await self._pool.aclose()

    async def _answer(self, request: Request, *, whole: bool) -> httpcore.Response:
        """The answer, with its body if it is wanted *whole*."""
        query, lost = request.query, None
        for tried in range(1, TRIES + 1):
            last = tried == TRIES or not request.repeatable
            try:
                response = await self._sent(request, query, whole=whole)
            except _NEVER_LEFT as error:
                if last:
                    raise self._failed(request, error, lost) from error
            except _LOST as error:
                lost = error if request.writes else None
                if last or not request.again or isinstance(error, httpcore.TimeoutException):
                    raise self._failed(request, error, lost) from error
                query = request.query if request.repeated is None else request.repeated
            else:
                if response.status < _FAILED:
                    return response
                told = _error(response)
                if not _did_nothing(response, told):
                    raise _told(request, response, told)
                if last:
                    raise _told(request, response, told) if lost is None else _unknown(request, lost)
                await asyncio.sleep(_asked_to_wait(response))
            await self._wait(tried)
        raise AssertionError("the last try returns or raises")

    async def _sent(self, request: Request, query: Query, *, whole: bool) -> httpcore.Response:
        headers = [*self._headers, *((name.encode(), value.encode()) for name, value in request.headers.items())]
        match request.content:
            case bytes() as content:
                headers.append((b"content-length", b"%d" % len(content)))
            case None:
                if request.writes:
                    headers.append((b"content-length", b"0"))
            case _:
                headers.append((b"transfer-encoding", b"chunked"))
        target = f"{self._prefix}{request.path}{query_of(query)}".encode()
        url = httpcore.URL(scheme=self._scheme, host=self._host, port=self._port, target=target)
        response = await self._pool.handle_async_request(
            httpcore.Request(request.method, url, headers=headers, content=request.content, extensions=self._timeout)
        )
        if whole or response.status >= _FAILED:
            try:
                await response.aread()
            finally:
                await response.aclose()
        return response

    def _failed(self, request: Request, error: Exception, lost: Exception | None) -> Exception:
        """What no answer means: of a write, of which a try was *lost* on the way, that its outcome is unknown."""
        if lost is not None:
            return _unknown(request, lost)
        return StoreUnavailable(f"{self._endpoint} does not answer: {_why(error)}")

    async def _wait(self, tried: int) -> None:
        longest = min(FIRST_WAIT * 2**tried, LONGEST_WAIT)
        await asyncio.sleep(longest * self._outside.random(1)[0] / 255)


def _unknown(request: Request, error: Exception) -> UnknownOutcome:
    return UnknownOutcome(
        f"the answer to {request.method} {request.path} never came: look whether it was done ({_why(error)})"
    )


def _error(response: httpcore.Response) -> Error:
    """What the server, or something before it, says is wrong."""
    try:
        return msgspec.json.decode(response.content, type=Error)
    except msgspec.DecodeError:
        return Error(f"the server answered with {response.status}")


def _did_nothing(response: httpcore.Response, told: Error) -> bool:
    """Whether it was refused for what has nothing to do with it, and may not be the next time."""
    return response.status == _UNAVAILABLE or (response.status == _TOO_MANY and not told.kind)


def _asked_to_wait(response: httpcore.Response) -> float:
    """The seconds that the server wants to be left alone for, within reason."""
    told = next((value for name, value in response.headers if name.lower() == b"retry-after"), b"")
    return min(float(told), LONGEST_WAIT) if told.isdigit() else 0.0


def _told(request: Request, response: httpcore.Response, told: Error) -> Exception:
    if response.status == _OVERDUE and not request.writes:
        return StoreUnavailable(told.message)
    return error_of(told, response.status)


def _decoded(response: httpcore.Response, kind: type[Answer]) -> Answer:
    if kind is type(None):
        return None
    try:
        return msgspec.json.decode(response.content, type=kind)
    except msgspec.DecodeError as error:
        raise StoreUnavailable(f"the answer is none of a Headwater server's: {error}") from error


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__
