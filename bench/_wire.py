"""HTTP/1.1 at its barest: requests as bytes, and answers taken off a connection that stays open."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import cast

NO_HEADERS: Mapping[str, str] = {}


def request(method: str, target: str, headers: Mapping[str, str] = NO_HEADERS, body: bytes = b"") -> bytes:
    """A request as it goes over the wire."""
    lines = [f"{method} {target} HTTP/1.1", "host: 127.0.0.1", f"content-length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


class Connection(asyncio.Protocol):
    """One connection, and one request on it at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._answer: asyncio.Future[int] | None = None

    @staticmethod
    async def to(port: int) -> Connection:
        _, connection = await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", port)
        return connection

    async def ask(self, message: bytes) -> int:
        """Send *message*, and read all of the answer. Returns its status."""
        assert self._transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(message)
        return await self._answer

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one in all but name

    def data_received(self, data: bytes) -> None:
        self._received += data
        head = self._received.find(b"\r\n\r\n")
        if head < 0 or self._answer is None:
            return
        lower = bytes(self._received[:head]).lower()
        place = lower.find(b"\r\ncontent-length:")
        length = 0 if place < 0 else int(lower[place + 17 :].partition(b"\r\n")[0])
        if len(self._received) >= head + 4 + length:
            del self._received[: head + 4 + length]
            self._answer.set_result(int(lower[9:12]))

    def connection_lost(self, error: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error or ConnectionError("the server closed the connection"))
