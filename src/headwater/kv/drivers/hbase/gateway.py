"""A connection to the gateway. It waits for each answer, so it is used in a thread."""

from __future__ import annotations

import asyncio
import random
import select
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from thriftpy2.protocol.cybin import TCyBinaryProtocol  # type: ignore[attr-defined]  # it is written in Cython
from thriftpy2.thrift import TClient
from thriftpy2.transport import TSocket
from thriftpy2.transport.buffered import TCyBufferedTransport  # type: ignore[attr-defined]  # likewise

from headwater.kv.drivers.hbase.failures import FAILURES, failure, never_ran, reason
from headwater.kv.drivers.hbase.service import thrift
from headwater.kv.drivers.sessions import Sessions
from headwater.kv.errors import StoreUnavailable

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
"""Seconds between two tries while a region moves."""


class Connection:
    """One socket, and one call at a time on it."""

    def __init__(self, host: str, port: int, timeout: float, encryption: ssl.SSLContext | None) -> None:
        plain = socket.create_connection((host, port), timeout=timeout)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket = encryption.wrap_socket(plain, server_hostname=host) if encryption else plain
        except BaseException:
            plain.close()
            raise
        wire = _wire(self._socket)
        self._client = TClient(thrift.THBaseService, TCyBinaryProtocol(TCyBufferedTransport(wire)))

    def call(self, name: str, *arguments: object) -> Any:
        return getattr(self._client, name)(*arguments)

    def is_quiet(self) -> bool:
        """Whether nothing has come that nobody asked for: the end of the connection, for one."""
        return not select.select([self._socket], [], [], 0)[0]

    def close(self) -> None:
        """Also wakes the thread that waits for an answer."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


class Gateway:
    """Calls to the Thrift server at *host*, as many at a time as there may be connections."""

    def __init__(
        self, host: str, port: int, *, connections: int, timeout: float, encryption: ssl.SSLContext | None
    ) -> None:
        self._where = host, port, timeout, encryption
        self._timeout = timeout
        self._threads = ThreadPoolExecutor(connections, thread_name_prefix="headwater-hbase")
        self._sessions = Sessions(self._connect, _usable, _close, most=connections, timeout=timeout)

    async def read(self, name: str, *arguments: object) -> Any:
        try:
            return await self.ask(name, *arguments)
        except FAILURES as error:
            raise failure(error, writes=False) from error

    async def write(self, name: str, *arguments: object) -> Any:
        try:
            return await self.ask(name, *arguments)
        except FAILURES as error:
            raise failure(error, writes=True) from error

    async def ask(self, name: str, *arguments: object) -> Any:
        """Make a call, and again, until the timeout, while no server looked at it because its region moves.

        For callers who know to read its failures: raises what the library does.
        """
        clock = asyncio.get_running_loop().time
        deadline, pause = clock() + self._timeout, FIRST_PAUSE
        while True:
            try:
                return await self._call(name, *arguments)
            except FAILURES as error:
                if not never_ran(error) or clock() + pause > deadline:
                    raise
            await asyncio.sleep(pause * random.uniform(0.5, 1))  # noqa: S311  (who waits how long is no secret)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def aclose(self) -> None:
        await self._sessions.aclose()
        self._threads.shutdown(wait=False)

    async def _call(self, name: str, *arguments: object) -> Any:
        loop = asyncio.get_running_loop()
        async with self._sessions.session() as connection, asyncio.timeout(self._timeout):
            return await loop.run_in_executor(self._threads, connection.call, name, *arguments)

    async def _connect(self) -> Connection:
        opening = asyncio.get_running_loop().run_in_executor(self._threads, Connection, *self._where)
        try:
            async with asyncio.timeout(self._timeout):
                return await asyncio.shield(opening)
        except BaseException as error:
            opening.add_done_callback(_drop)
            if isinstance(error, FAILURES):
                raise StoreUnavailable(f"no connection to HBase's gateway: {reason(error)}") from error
            raise


def _wire(plain: socket.socket) -> Any:
    untyped: Any = TSocket
    return untyped(sock=plain)


def _drop(opening: asyncio.Future[Connection]) -> None:
    """Close what nobody waits for any more."""
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


async def _usable(connection: Connection) -> bool:
    return connection.is_quiet()


async def _close(connection: Connection) -> None:
    connection.close()
