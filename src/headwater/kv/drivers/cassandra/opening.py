"""From a URI to a store: connect, and make the table unless it is there."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress

import msgspec
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import Cluster

from headwater.kv.drivers import tls
from headwater.kv.drivers.cassandra import statements
from headwater.kv.drivers.cassandra.failures import FAILURES, not_connected
from headwater.kv.drivers.cassandra.session import Session, cluster_of
from headwater.kv.drivers.cassandra.store import CassandraStore
from headwater.kv.errors import CannotOpen
from headwater.location import Location

PORT = 9042

_KEYSPACE = re.compile(r"[a-z][a-z0-9_]{0,47}")

_USED = [
    statements.GET, statements.GET_MANY, statements.PAGE, statements.SWAP, statements.CREATE,
    statements.PUT, statements.DELETE, statements.PUT + statements.ALWAYS, statements.DELETE + statements.ALWAYS,
]  # fmt: skip


class Options(msgspec.Struct, forbid_unknown_fields=True):
    datacenter: str | None = None
    replicas: int | None = None
    create: bool = True
    timeout: float = 10.0
    ssl_mode: tls.Mode = "disabled"
    ssl_ca: str | None = None


class Credentials(msgspec.Struct, forbid_unknown_fields=True):
    password: str | None = None


async def connect(location: Location) -> CassandraStore:
    options = location.read_options(Options)
    hosts = [host for host in location.host.split(",") if host]
    keyspace = location.path.strip("/")
    if not hosts or not _KEYSPACE.fullmatch(keyspace):
        raise CannotOpen(
            f"{location}: write cassandra://host/keyspace; further hosts follow after commas, and the name of a "
            "keyspace has 1 to 48 small letters, digits and _"
        )
    if options.timeout <= 0 or (options.replicas is not None and options.replicas < 1):
        raise CannotOpen(f"{location}: timeout and replicas must be positive")
    cluster = cluster_of(
        hosts,
        port=location.port or PORT,
        datacenter=options.datacenter,
        timeout=options.timeout,
        login=_login(location),
        encryption=tls.context(location, options.ssl_mode, options.ssl_ca),
    )
    opening = asyncio.ensure_future(asyncio.to_thread(_open, cluster, keyspace, options))
    try:
        return CassandraStore(await asyncio.shield(opening))
    except FAILURES as error:
        raise not_connected(error) from error
    except asyncio.CancelledError:
        opening.add_done_callback(lambda done: _drop(cluster, done))
        raise


def _open(cluster: Cluster, keyspace: str, options: Options) -> Session:
    """Wait, in a thread, until there is a session whose statements the cluster knows."""
    try:
        session = Session(cluster)
        if options.create and options.replicas is not None:
            session.run_now(statements.make_keyspace(keyspace, options.replicas))
        session.use(keyspace)
        if options.create and not session.knows(statements.GET):
            session.run_now(statements.MAKE_TABLE)
        session.prepare(_USED)
    except BaseException:
        cluster.shutdown()
        raise
    return session


def _drop(cluster: Cluster, opening: asyncio.Future[Session]) -> None:
    """Nobody waits for this session any more."""
    with suppress(*FAILURES):
        opening.result()
        asyncio.get_running_loop().run_in_executor(None, cluster.shutdown)


def _login(location: Location) -> PlainTextAuthProvider | None:
    try:
        password = msgspec.convert(location.credentials, Credentials).password
    except msgspec.ValidationError:
        raise CannotOpen(f"{location}: the credentials of cassandra:// are: password") from None
    if location.user is None:
        return None
    return PlainTextAuthProvider(location.user, (location.password if password is None else password) or "")
