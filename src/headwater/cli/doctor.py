"""`hw doctor`: is everything here as it should be, so that a lake can be worked with?"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Literal

import click
import msgspec

import headwater
from headwater.cli.commanding import command
from headwater.cli.exits import Exit, in_a_line, status_of
from headwater.cli.output import Column
from headwater.cli.profile import readable_by_others
from headwater.cli.session import Session, session
from headwater.cli.settings import FILE
from headwater.cli.sizes import readable
from headwater.errors import HeadwaterError

State = Literal["ok", "note", "failed"]

EXTRAS = {
    "server": "granian",
    "spark": "pyspark",
    "fsspec": "fsspec",
    "postgresql": "asyncpg",
    "dynamodb": "aiobotocore",
    "mysql": "asyncmy",
    "redis": "redis",
    "etcd": "aetcd",
}
"""What each extra brings, by which it is known to be installed."""

SCARCE = 1024**3
"""Bytes of free space below which a lake in a directory is soon full."""

SKEW = 60
"""Seconds that clocks may differ: tokens and presigned URLs are good for minutes."""

ANSWER = 10
"""Seconds that a server has to answer whether it is well."""


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at."""

    check: str
    state: State
    detail: str


STYLES = {"ok": "green", "note": "yellow", "failed": "red"}


@command("doctor")
def doctor() -> None:
    """Look at settings, versions, the connection and the stores, and tell what is wrong.

    It changes nothing. The status is that of the first thing that failed.
    """
    asked = session()
    failures: list[Exit] = []

    def findings() -> Iterator[Finding]:
        yield from _here()
        for look in (_settings, _lake):
            try:
                yield from look(asked)
            except (HeadwaterError, OSError) as error:
                failures.append(status_of(error))
                yield Finding(look.__name__.strip("_"), "failed", in_a_line(error))

    columns: list[Column[Finding]] = [
        Column("state", lambda finding: finding.state, lambda finding: STYLES[finding.state]),
        Column("check", lambda finding: finding.check),
        Column("", lambda finding: finding.detail),
    ]
    asked.output.rows(findings(), columns)
    if failures:
        click.get_current_context().exit(failures[0])


def _here() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding(
        "headwater", "ok", f"{headwater.__version__}, Python {version}, {platform.system()} {platform.machine()}"
    )
    installed = [extra for extra, module in EXTRAS.items() if find_spec(module) is not None]
    yield Finding("extras", "ok", ", ".join(installed) or "none")


def _settings(asked: Session) -> Iterator[Finding]:
    known = asked.known
    place = next((name for name in ("endpoint", "lake", "kv") if name in known.sources), None)
    if place is not None:
        profile = f", profile {known.profile}" if known.sources[place] == "profile" else ""
        yield Finding("settings", "ok", f"{place} from the {known.sources[place]}{profile}")
    file = Path(FILE).expanduser()
    if readable_by_others(file):
        yield Finding("settings", "note", f"{file} can be read by others: chmod 600 {file}")


def _lake(asked: Session) -> Iterator[Finding]:
    settings = asked.settings
    if settings.endpoint is not None:
        yield from _server(settings.endpoint)
    elif settings.lake is not None:
        yield from _directory(asked.directory)
    yield _timed("repositories", lambda: f"{_some(asked)} to be seen")


def _some(asked: Session) -> str:
    names = list(islice(asked.lake.repos(), 1001))
    return f"{len(names)}" if len(names) < 1001 else "more than 1000"


def _timed(check: str, do: Callable[[], str]) -> Finding:
    begun = time.perf_counter()
    detail = do()
    return Finding(check, "ok", f"{detail}, in {(time.perf_counter() - begun) * 1000:.0f} ms")


def _directory(directory: Path) -> Iterator[Finding]:
    if not directory.exists():
        yield Finding("directory", "note", f"{directory} is not there yet: the first write makes it")
        directory = next(parent for parent in directory.absolute().parents if parent.exists())
    if not os.access(directory, os.W_OK):
        raise PermissionError(13, "it may not be written to", str(directory))
    free = shutil.disk_usage(directory).free
    yield Finding("directory", "ok" if free > SCARCE else "note", f"{directory}, {readable(free)} free")


def _server(endpoint: str) -> Iterator[Finding]:
    import httpx  # noqa: PLC0415  (only a server is asked by it)

    from headwater.kv import StoreUnavailable  # noqa: PLC0415

    try:
        begun = time.perf_counter()
        answer = httpx.get(f"{endpoint.rstrip('/')}/api/v1/healthcheck", timeout=ANSWER)
        took = time.perf_counter() - begun
    except httpx.HTTPError as error:
        raise StoreUnavailable(f"{endpoint} does not answer: {error}") from error
    if not answer.is_success:
        raise StoreUnavailable(f"{endpoint} answered with {answer.status_code}")
    yield Finding("server", "ok", f"{endpoint} answers in {took * 1000:.0f} ms")
    if "date" in answer.headers:
        there = parsedate_to_datetime(answer.headers["date"])
        apart = abs((datetime.now(UTC) - there).total_seconds())
        if apart > SKEW:
            yield Finding("clock", "note", f"it is {apart:.0f} s apart from the server's: set this machine's clock")
