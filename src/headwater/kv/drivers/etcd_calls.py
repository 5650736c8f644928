"""Calls to etcd over gRPC, of which none is ever made twice, and what their failures mean.

gRPC's own retries are off: the second try of a compare-and-swap would find the first one's success and report a
failure. The messages are those of aetcd; its client is not used, because it knows no pages and no TLS.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
import msgspec
from aetcd import rpc  # type: ignore[import-untyped]

from headwater.kv.errors import CannotOpen, LimitExceeded, SlowDown, StoreError, StoreUnavailable, UnknownOutcome
from headwater.location import Location

LONGEST_ANSWER = 1 << 30
"""Bytes of an answer that are read: a page of the largest values is large, and gRPC's default is 4 MB."""

_CHANNEL: list[tuple[str, int]] = [
    ("grpc.enable_retries", 0),
    ("grpc.max_receive_message_length", LONGEST_ANSWER),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.use_local_subchannel_pool", 1),
]
"""Reconnect soon after a failure, and share no connection with other stores of the process."""

_NEVER_SENT = (
    "failed to connect to all addresses",
    "DNS resolution failed",
    "empty address list",
    "Stream removed (Transport closed",
)
"""What gRPC says when it made no connection, or began the call on one it knew to be closed: nothing went out."""

_OWN = "etcdserver: "
"""What etcd's own answers begin with."""

_STALE_TOKEN = ("etcdserver: invalid auth token", "etcdserver: user name is empty")

_UNFIT = (
    "etcdserver: authentication failed",
    "etcdserver: authentication is not enabled",
    "etcdserver: permission denied",
    "etcdserver: user name not found",
    "etcdserver: user name is empty",
)


_REFUSALS = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNAUTHENTICATED,
}
"""The codes of etcd's answers that say that it did nothing."""


class Login(msgspec.Struct, frozen=True):
    user: str
    password: str


class Refused(StoreUnavailable):
    """etcd would not do it, and trying again will not change that: no right, or a wrong password."""


class Calls:
    """Makes calls to one etcd. With a *login* each carries a token, which etcd forgets now and then."""

    def __init__(self, location: Location, *, timeout: float, login: Login | None, tls: bool, ca: str | None) -> None:
        self._timeout = timeout
        self._login = login
        host = f"[{location.host}]" if ":" in location.host else location.host
        target = f"{host}:{location.port or 2379}"
        if tls:
            credentials = grpc.ssl_channel_credentials(_authorities(location, ca))
            self._channel = grpc.aio.secure_channel(target, credentials, options=_CHANNEL)
        else:
            self._channel = grpc.aio.insecure_channel(target, options=_CHANNEL)
        self._metadata: tuple[tuple[str, str], ...] | None = None
        stub = rpc.KVStub(self._channel)
        self._range, self._put, self._delete, self._transact = stub.Range, stub.Put, stub.DeleteRange, stub.Txn
        self._authenticate = rpc.AuthStub(self._channel).Authenticate

    async def range(self, request: Any) -> Any:
        return await self._make(self._range, request, writes=False)

    async def put(self, request: Any) -> Any:
        return await self._make(self._put, request, writes=True)

    async def delete(self, request: Any) -> Any:
        return await self._make(self._delete, request, writes=True)

    async def transact(self, request: Any, *, writes: bool = True) -> Any:
        return await self._make(self._transact, request, writes=writes)

    async def log_in(self) -> None:
        """Get a token, if there is anybody to log in."""
        if self._login is None:
            return
        request = rpc.AuthenticateRequest(name=self._login.user, password=self._login.password)
        try:
            answer = await self._authenticate(request, timeout=self._timeout)
        except grpc.aio.AioRpcError as error:
            raise _failure(error, writes=False) from error
        self._metadata = (("token", answer.token),)

    async def aclose(self) -> None:
        await self._channel.close()

    async def _make(self, call: Callable[..., Awaitable[Any]], request: Any, *, writes: bool) -> Any:
        try:
            return await call(request, timeout=self._timeout, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            if self._login is None or not _says(error, _STALE_TOKEN):
                raise _failure(error, writes=writes) from error
        await self.log_in()  # etcd did not look at the request: it does not know the token any more
        try:
            return await call(request, timeout=self._timeout, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            raise _failure(error, writes=writes) from error


def _authorities(location: Location, ca: str | None) -> bytes | None:
    try:
        return None if ca is None else Path(ca).read_bytes()
    except OSError as error:
        raise CannotOpen(f"{location}: ssl_ca={ca}: {error}") from error


def _says(error: Any, beginnings: tuple[str, ...]) -> bool:
    return str(error.details() or "").startswith(beginnings)


def _failure(error: Any, *, writes: bool) -> StoreError:
    """What a call that failed means: by what etcd says where it answered, else by whether anything was sent."""
    code, said = error.code(), str(error.details() or error.code().name)
    if said.startswith(_OWN) and code in _REFUSALS:
        return _refusal(said)
    if code is grpc.StatusCode.UNAVAILABLE and said.startswith(_NEVER_SENT):
        return StoreUnavailable(f"no connection to etcd: {said}")
    if writes:
        return UnknownOutcome(f"the answer of etcd to a write never came: {said}")
    return StoreUnavailable(f"the answer of etcd never came: {said}")


def _refusal(said: str) -> StoreError:
    """What it means that etcd said no. That it timed out or lost its leader is not a no, and not among these."""
    if "too large" in said:
        return LimitExceeded(f"a limit of etcd (--max-request-bytes): {said}")
    if "too many requests" in said:
        return SlowDown(f"etcd: {said}")
    if said.startswith(_UNFIT):
        return Refused(f"etcd refused: {said}")
    return StoreUnavailable(f"etcd refused: {said}")
