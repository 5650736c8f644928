"""A session with a Redis that is fit to be a store: the primary, which keeps what it has said it has."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec
from redis import exceptions as redis
from redis.asyncio.connection import Connection, SSLConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.maint_notifications import MaintNotificationsConfig

from headwater.kv.drivers import tls
from headwater.kv.drivers.sessions import Sessions
from headwater.kv.errors import CannotOpen, SlowDown, StoreError, StoreUnavailable
from headwater.location import Location

FAILURES = (redis.RedisError, OSError)
"""All that the client library raises. A `TimeoutError` is an `OSError`."""

Durability: TypeAlias = Literal["fsync", "server"]


class Options(msgspec.Struct, forbid_unknown_fields=True):
    durability: Durability = "fsync"
    connections: int = 10
    timeout: float = 10.0
    ssl_mode: tls.Mode = "disabled"
    ssl_ca: str | None = None


class Credentials(msgspec.Struct, forbid_unknown_fields=True):
    password: str | None = None


def sessions(location: Location, options: Options) -> Sessions[Connection]:
    """Sessions with the server at *location*, each of which is looked at before it is used."""
    kind, settings = _settings(location, options)

    async def open_session() -> Any:
        session: Any = kind(**settings)  # its methods have types only in part
        try:
            async with asyncio.timeout(options.timeout):
                await session.connect()
                await _check(session, options.durability)
        except FAILURES as error:
            await close(session)
            raise _not_connected(error) from error
        except BaseException:
            await close(session)
            raise
        return session

    async def usable(session: Connection) -> bool:
        """Whether nothing has come that nobody asked for: the end of the connection, for one."""
        try:
            return bool(session.is_connected) and not await session.can_read()
        except FAILURES:
            return False

    async def close(session: Connection) -> None:
        await session.disconnect(nowait=True)

    return Sessions(open_session, usable, close, most=options.connections, timeout=options.timeout)


def _settings(location: Location, options: Options) -> tuple[type[Connection], dict[str, Any]]:
    """What kind of connection, and with what. None is ever made anew, and nothing sent again, behind our back."""
    try:
        password = msgspec.convert(location.credentials, Credentials).password
    except msgspec.ValidationError:
        raise CannotOpen(f"{location}: the credentials of redis:// are: password") from None
    number = location.path.strip("/") or "0"
    if not location.host or not number.isdecimal():
        raise CannotOpen(f"{location}: write redis://host:port, or redis://host:port/7 for the database of that number")
    settings: dict[str, Any] = {
        "host": location.host,
        "port": location.port or 6379,
        "db": int(number),
        "username": location.user,
        "password": location.password if password is None else password,
        "protocol": 2,
        "socket_timeout": None,
        "socket_connect_timeout": options.timeout,
        "retry": Retry(NoBackoff(), 0),
        "driver_info": None,
        "maint_notifications_config": MaintNotificationsConfig(enabled=False),
    }
    if tls.context(location, options.ssl_mode, options.ssl_ca) is None:
        return Connection, settings
    known = options.ssl_mode == "verify_identity"
    settings |= {
        "ssl_cert_reqs": "required" if known else "none",
        "ssl_check_hostname": known,
        "ssl_ca_certs": options.ssl_ca,
    }
    return SSLConnection, settings


async def _check(session: Connection, durability: Durability) -> None:
    """`CannotOpen` if what is written here could be lost, or read late.

    Each session looks: after a failover the same name may lead to another server, with settings of its own.
    """
    role, *_ = await ask(session, "ROLE")
    if role != b"master":
        raise CannotOpen("this Redis is a replica, whose answers are late: name the primary")
    if durability == "server":
        return
    try:
        log = await _configured(session, "append*")
        memory = await _configured(session, "maxmemory*")
    except redis.ResponseError as error:
        raise CannotOpen(
            f"this Redis does not tell how durable it is ({error}): let the user call CONFIG GET, "
            "or take the server as it is by durability=server"
        ) from error
    if (log.get("appendonly"), log.get("appendfsync")) != ("yes", "always"):
        raise CannotOpen(
            "this Redis answers before a write is on disk: set appendonly yes and appendfsync always, "
            "or accept by durability=server that a crash loses what was acknowledged (docs/kv/redis.md)"
        )
    if memory.get("maxmemory") != "0" and memory.get("maxmemory-policy") != "noeviction":
        raise CannotOpen(
            f"this Redis throws keys away when its memory is full ({memory.get('maxmemory-policy')}): "
            "set maxmemory-policy noeviction"
        )


async def _configured(session: Connection, pattern: str) -> Mapping[str, str]:
    found = [each.decode() for each in await ask(session, "CONFIG", "GET", pattern)]
    return dict(zip(found[::2], found[1::2], strict=True))


async def ask(session: Connection, *command: str | bytes | int) -> Any:
    """The answer to *command*. One that is an error is raised."""
    await session.send_command(*command)
    return await session.read_response()


def _not_connected(error: Exception) -> StoreError:
    """What it means that there is no session: nothing was sent."""
    said = reason(error)
    if isinstance(error, (redis.AuthenticationError, redis.NoPermissionError)) or said.startswith(
        ("NOAUTH", "WRONGPASS", "invalid username-password", "DB index", "Authentication required")
    ):
        return CannotOpen(f"Redis: {said}")
    if "max number of clients" in said:
        return SlowDown(f"Redis takes no more connections: {said}")
    return StoreUnavailable(f"no connection to Redis: {said}")


def reason(error: Exception) -> str:
    return str(error) or type(error).__name__
