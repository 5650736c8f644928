"""The ASGI application: one port, several protocols. A request goes to the room that speaks its protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec

from headwater.errors import HeadwaterError
from headwater.server.beginning import CannotStart
from headwater.server.http import ClientGone, Receive, Request, Response, Scope, Send, send
from headwater.server.limits import MAX_TARGET
from headwater.server.observing import Observed, Observer, Service
from headwater.server.proxies import Proxies
from headwater.server.rates import Rates
from headwater.server.refusals import Overdue, TargetTooLong, TooManyRequests

JSON = (b"content-type", b"application/json")


class Room(Protocol):
    """What answers the requests of one protocol, its errors in the words of that protocol."""

    async def __call__(self, request: Request) -> Response:
        """The answer to *request*."""

    def refuse(self, request: Request, why: HeadwaterError) -> Response:
        """The answer to a *request* that is not looked at, or not any longer."""


class Rooms(msgspec.Struct, frozen=True):
    """Who answers what."""

    api: Room
    s3: Room
    pages: Room
    """What is neither: health, metrics, documentation, the web page."""

    is_s3: Callable[[Request], bool]


class Running(msgspec.Struct, frozen=True):
    """A worker that answers."""

    rooms: Rooms
    observer: Observer
    rates: Rates
    proxies: Proxies
    stop: Callable[[], Awaitable[None]]


class Application:
    """What the ASGI server calls. *start* is called when a worker starts, its answer's *stop* when it stops.

    *start* may raise `CannotStart`; then the worker ends.
    """

    def __init__(self, start: Callable[[], Awaitable[Running]]) -> None:
        self._start = start
        self._running: Running | None = None

    async def __call__(self, scope: Scope, receive: Receive, send_message: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send_message)
        elif scope["type"] == "lifespan":
            await self._live(receive, send_message)
        else:  # a WebSocket: nothing here speaks it
            await send_message({"type": "websocket.close", "code": 1003})

    async def _live(self, receive: Receive, send_message: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                try:
                    self._running = await self._start()
                except CannotStart as error:
                    await send_message({"type": "lifespan.startup.failed", "message": str(error)})
                    return
                await send_message({"type": "lifespan.startup.complete"})
            else:
                if self._running is not None:
                    await self._running.stop()
                await send_message({"type": "lifespan.shutdown.complete"})
                return

    async def _answer(self, scope: Scope, receive: Receive, send_message: Send) -> None:
        running = self._running
        assert running is not None  # noqa: S101  (no server sends a request before the application has started)
        observer = running.observer
        running.proxies.see_through(scope)
        request = Request(scope, receive)
        room, service = room_of(running.rooms, request)
        observed = observer.begin(request, service)
        try:
            response = await self._response(running, room, observed)
            observed.status = response.status
            headers = [(b"x-request-id", request.id.encode())]
            if request.is_out_of_step:  # else what comes next would be taken for its body, or for its answer
                headers.append((b"connection", b"close"))
            observed.sent = await send(scope, send_message, response, *headers)
        except (ClientGone, ConnectionError):
            observed.status = 499
        except asyncio.CancelledError:
            observed.status = 504 if observed.overdue else 499
            raise
        except Exception as error:  # the head is sent: all that is left is to break the connection off
            observer.log.defect("a body that was being sent", error, request.id)
            raise
        finally:
            observer.end(observed)

    async def _response(self, running: Running, room: Room, observed: Observed) -> Response:
        request = observed.request
        if len(request.raw_path) + len(request.raw_query) > MAX_TARGET:
            return room.refuse(request, TargetTooLong())
        if not running.rates.admits(request.client):
            running.observer.refused("requests_per_second")
            return room.refuse(request, TooManyRequests())
        try:
            return await room(request)
        except asyncio.CancelledError:
            if not observed.overdue:
                raise
            observed.task.uncancel()
            return room.refuse(request, Overdue())
        except Exception as error:  # noqa: BLE001  (a defect must not take the worker down; it is told to its operator)
            running.observer.log.defect("a request", error, request.id)
            message = f"something went wrong that should not; the server's log has it as {request.id}"
            return Response(500, (JSON,), msgspec.json.encode({"message": message}))


def room_of(rooms: Rooms, request: Request) -> tuple[Room, Service]:
    """Where *request* belongs: a signature of S3 tells more than a path, for a bucket may be called `api`."""
    if rooms.is_s3(request):
        return rooms.s3, "gateway"
    if request.raw_path.startswith("/api/v1/"):
        return rooms.api, "api"
    return rooms.pages, "page"
