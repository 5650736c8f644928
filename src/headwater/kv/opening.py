"""Find the driver for a URI, and open the store behind the gate.

Drivers are entry points of the group `headwater.kv`, named by URI scheme; each is an `async def connect(location)` that
answers a `Store`. So a third party adds a database by installing a package.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import TypeAlias

import msgspec

from headwater.kv.errors import CannotOpen
from headwater.kv.gate import Gate, tenant_prefix
from headwater.kv.store import Store
from headwater.location import BadLocation, Location, parse

Connect: TypeAlias = Callable[[Location], Awaitable[Store]]

GROUP = "headwater.kv"


async def open(uri: str, *, credentials: Mapping[str, str] | None = None) -> Store:  # noqa: A001  (reads `kv.open`)
    """Open the store at *uri*, with every limit checked and `?tenant=NAME` kept apart from all others.

    *credentials* are for the databases whose secrets do not belong in a URI; what is left out comes from the provider's
    standard chain. Raises `CannotOpen`: unknown scheme (naming the extra to install), bad option, unfit database.
    """
    try:
        location = parse(uri, credentials)
        options = dict(location.options)
        prefix = tenant_prefix(options.pop("tenant", ""))
        connect = _driver(location.scheme)
        driver = await connect(msgspec.structs.replace(location, options=options))
    except BadLocation as error:
        raise CannotOpen(str(error)) from None
    return Gate(driver, prefix)


def _driver(scheme: str) -> Connect:
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    entry = found.get(scheme)
    if entry is None:
        raise CannotOpen(
            f"no driver for {scheme}://: installed are {', '.join(f'{name}://' for name in sorted(found))}; "
            f"others come with a package that registers an entry point {scheme!r} in the group {GROUP!r}"
        )
    try:
        connect: Connect = entry.load()
    except ModuleNotFoundError as error:
        raise CannotOpen(f"the driver for {scheme}:// needs the module {error.name!r}: {_remedy(entry)}") from error
    return connect


def _remedy(entry: EntryPoint) -> str:
    """Which package to install: ours by extra (named like the scheme), a third party's by its own name."""
    if entry.dist is None or entry.dist.name == "headwater":
        return f"pip install 'headwater[{entry.name}]'"
    return f"reinstall {entry.dist.name!r} with its dependencies"
