"""From a URI to a store: connect, make the table unless it is there, and see that it can be a store."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from headwater.kv.drivers import tls
from headwater.kv.drivers.hbase import service
from headwater.kv.drivers.hbase.failures import FAILURES, failure, reason, refused
from headwater.kv.drivers.hbase.gateway import Gateway
from headwater.kv.drivers.hbase.service import Durability, thrift
from headwater.kv.drivers.hbase.store import HBaseStore
from headwater.kv.errors import CannotOpen
from headwater.location import Location

PORT = 9090

_TABLE = re.compile(r"([A-Za-z0-9_]+:)?[A-Za-z0-9_][A-Za-z0-9_.-]*")


class Options(msgspec.Struct, forbid_unknown_fields=True):
    durability: Durability = "fsync"
    create: bool = True
    connections: int = 10
    timeout: float = 30.0
    ssl_mode: tls.Mode = "disabled"
    ssl_ca: str | None = None


async def connect(location: Location) -> HBaseStore:
    options = location.read_options(Options)
    table = location.path.strip("/")
    if not location.host or not _TABLE.fullmatch(table) or location.user:
        raise CannotOpen(f"{location}: write hbase://host/table, or hbase://host/namespace:table")
    if location.credentials:
        raise CannotOpen(f"{location}: hbase:// takes no credentials: let nobody else reach the gateway")
    if options.connections < 1 or options.timeout <= 0:
        raise CannotOpen(f"{location}: connections and timeout must be positive")
    gateway = Gateway(
        location.host,
        location.port or PORT,
        connections=options.connections,
        timeout=options.timeout,
        encryption=tls.context(location, options.ssl_mode, options.ssl_ca),
    )
    try:
        await _see_to_table(gateway, table, create=options.create)
    except FAILURES as error:
        await gateway.aclose()
        if refused(error):
            raise CannotOpen(f"{location}: HBase refused: {reason(error)}") from error
        raise failure(error, writes=False) from error
    except BaseException:
        await gateway.aclose()
        raise
    return HBaseStore(gateway, table, options.durability)


async def _see_to_table(gateway: Gateway, table: str, *, create: bool) -> None:
    name = service.table_name(table)
    if not await gateway.ask("tableExists", name):
        if not create:
            raise CannotOpen(f"there is no table {table} in this HBase, and create=false")
        await _create(gateway, table)
    if not service.is_fit(await gateway.ask("getTableDescriptor", name)):
        family = service.FAMILY.decode()
        raise CannotOpen(
            f"the table {table} is not one of Headwater's: it must have a column family {family!r} with "
            f"{service.KEEPS_ORDER.decode()} => 'true', or what is written after a delete would stay hidden"
        )


async def _create(gateway: Gateway, table: str) -> None:
    """Make it, unless somebody else was faster."""
    try:
        await gateway.ask("createTable", service.description_of(table), None)
    except thrift.TIOError as error:
        await _await_other(gateway, table, error)


async def _await_other(gateway: Gateway, table: str, error: Any) -> None:
    if not await gateway.ask("tableExists", service.table_name(table)):
        raise error
