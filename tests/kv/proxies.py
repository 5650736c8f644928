"""Proxies that stand between a driver and its real server, and do to the traffic what networks and throttling do."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from types import TracebackType
from typing import Self

READ = 1 << 20


class Fault(Enum):
    NONE = auto()
    LOSE_REQUEST = auto()
    """The connection breaks, and the server never saw the request."""
    LOSE_ANSWER = auto()
    """The connection is closed after the server answered, and the answer does not arrive."""
    RESET_INSTEAD_OF_ANSWER = auto()
    """The same, by a reset."""
    SILENCE = auto()
    """The answer does not arrive, and the connection stays."""


class Proxy:
    """A TCP proxy on 127.0.0.1. Set `fault` and the next traffic meets it, on every connection there is."""

    def __init__(self, port: int) -> None:
        self._server_port = port
        self._connections: set[asyncio.Task[None]] = set()
        self.fault = Fault.NONE
        self.spared = 0
        """Requests that get through before one is lost."""
        self.requests = 0
        """How often a client spoke that had been silent or answered: for one that waits for each answer, its round
        trips, in however many pieces a request comes."""
        self.heard = asyncio.Event()
        """Set whenever the client speaks."""

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port: int = self._listener.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.go_down()

    async def go_down(self) -> None:
        """Refuse new connections, and break those there are."""
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
            with suppress(ConnectionError, asyncio.CancelledError):
                await self._serve(client, to_client, server, to_server)
        finally:
            self._connections.discard(task)
            for writer in (to_client, to_server):
                writer.close()
                with suppress(ConnectionError):
                    await writer.wait_closed()

    async def _serve(
        self,
        client: asyncio.StreamReader,
        to_client: asyncio.StreamWriter,
        server: asyncio.StreamReader,
        to_server: asyncio.StreamWriter,
    ) -> None:
        answered = asyncio.Event()
        answered.set()
        pumps = {
            asyncio.create_task(self._pump_requests(client, to_server, answered)),
            asyncio.create_task(self._pump_answers(server, to_client, answered)),
        }
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _pump_requests(
        self, client: asyncio.StreamReader, to_server: asyncio.StreamWriter, answered: asyncio.Event
    ) -> None:
        while sent := await client.read(READ):
            if answered.is_set():
                self.requests += 1
                answered.clear()
            self.heard.set()
            if self.fault is Fault.LOSE_REQUEST:
                if not self.spared:
                    return
                self.spared -= 1
            to_server.write(sent)
            await to_server.drain()

    async def _pump_answers(
        self, server: asyncio.StreamReader, to_client: asyncio.StreamWriter, answered: asyncio.Event
    ) -> None:
        while answer := await server.read(READ):
            answered.set()
            match self.fault:
                case Fault.LOSE_ANSWER:
                    return
                case Fault.RESET_INSTEAD_OF_ANSWER:
                    to_client.get_extra_info("socket").setsockopt(
                        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                    )
                    return
                case Fault.SILENCE:
                    continue
                case _:
                    to_client.write(answer)
                    await to_client.drain()


Answer = Callable[[str, bytes], bytes | None]
"""From an operation and its body to a whole HTTP answer, or None to let the server give it."""


class HttpProxy(Proxy):
    """One that sees whole HTTP requests, keeps their operations and bodies, and may answer in the server's place."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.answer: Answer = lambda _operation, _body: None
        self.seen: list[tuple[str, bytes]] = []

    async def _serve(
        self,
        client: asyncio.StreamReader,
        to_client: asyncio.StreamWriter,
        server: asyncio.StreamReader,
        to_server: asyncio.StreamWriter,
    ) -> None:
        with suppress(asyncio.IncompleteReadError):
            while True:
                head, body = await _message(client)
                operation = _header(head, b"x-amz-target").rpartition(b".")[2].decode()
                self.seen.append((operation, body))
                answer = self.answer(operation, body)
                if answer is None:
                    to_server.write(head + body)
                    answer = b"".join(await _message(server))
                to_client.write(answer)
                await to_client.drain()


def http_answer(status: int, body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status} Made Up\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def _message(stream: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await stream.readuntil(b"\r\n\r\n")
    return head, await stream.readexactly(int(_header(head, b"content-length") or 0))


def _header(head: bytes, name: bytes) -> bytes:
    for line in head.split(b"\r\n")[1:]:
        found, _, value = line.partition(b":")
        if found.lower() == name:
            return value.strip()
    return b""
