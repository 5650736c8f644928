"""A proxy between a client and its server that sees each request, and can cut a connection where it hurts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import Enum, auto
from types import TracebackType
from typing import Self


class Cut(Enum):
    NONE = auto()
    BEFORE = auto()
    """The server never sees the request."""
    ANSWER = auto()
    """The server answers, and nothing of that arrives."""
    HALF = auto()
    """Half of the answer's body arrives."""
    UNAVAILABLE = auto()
    """The request gets no further than something that answers with 503."""
    TOO_MANY = auto()
    """It gets no further than something that counts requests."""
    OVERDUE = auto()
    """It gets no further than something that has waited long enough."""
    SILENCE = auto()
    """The request gets no further, and nothing is answered."""


Plan = Callable[[str], Awaitable[Cut]]
"""What is done to a request, by its method and target."""

ANSWERS = {
    Cut.UNAVAILABLE: b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n",
    Cut.TOO_MANY: b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n",
    Cut.OVERDUE: b"HTTP/1.1 504 Gateway Timeout\r\ncontent-length: 0\r\n\r\n",
}


async def none(_: str) -> Cut:
    return Cut.NONE


def first(cut: Cut, of: str = "") -> Plan:
    """*cut* for the first request that has *of* in its method or target, and nothing for those after it."""
    left = [cut]

    async def plan(request: str) -> Cut:
        return left.pop() if left and of in request else Cut.NONE

    return plan


def every(cut: Cut, of: str = "") -> Plan:
    async def plan(request: str) -> Cut:
        return cut if of in request else Cut.NONE

    return plan


class Cuts:
    """The proxy. *seen* are the requests, in the order in which they came."""

    def __init__(self, port: int) -> None:
        self._server_port = port
        self._connections: set[asyncio.Task[None]] = set()
        self.plan: Plan = none
        self.seen: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._listener.wait_closed()

    async def _accept(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        server, to_server = await asyncio.open_connection("127.0.0.1", self._server_port)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._pass(client, to_client, server, to_server):
                    pass
        finally:
            self._connections.discard(task)
            for writer in (to_client, to_server):
                writer.close()
                with suppress(ConnectionError):
                    await writer.wait_closed()

    async def _pass(
        self,
        client: asyncio.StreamReader,
        to_client: asyncio.StreamWriter,
        server: asyncio.StreamReader,
        to_server: asyncio.StreamWriter,
    ) -> bool:
        """One request and its answer. Whether the connection is to be kept."""
        head, body = await _message(client)
        request = head.partition(b" HTTP/1.1")[0].decode()
        self.seen.append(request)
        cut = await self.plan(request)
        if cut is Cut.BEFORE:
            return False
        if cut is Cut.SILENCE:
            await client.read()
            return False
        if cut in ANSWERS:
            to_client.write(ANSWERS[cut])
            await to_client.drain()
            return True
        to_server.write(head + body)
        head, body = await _message(server)
        if cut is Cut.ANSWER:
            return False
        to_client.write(head + (body[: len(body) // 2] if cut is Cut.HALF else body))
        await to_client.drain()
        return cut is Cut.NONE


async def _message(stream: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await stream.readuntil(b"\r\n\r\n")
    lines = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    headers = {name.strip().lower(): value.strip() for name, _, value in lines}
    if headers.get(b"transfer-encoding") != b"chunked":
        return head, await stream.readexactly(int(headers.get(b"content-length", b"0")))
    body = b""
    while not body.endswith(b"\r\n0\r\n\r\n"):
        line = await stream.readline()
        body += line + await stream.readexactly(int(line, 16) + 2)
        if line == b"0\r\n":
            break
    return head, body
