"""`hw kv`: see to the database that keeps the records of lakes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, BinaryIO

import click
import msgspec

from headwater.cli.commanding import group
from headwater.cli.exits import Exit
from headwater.cli.output import Column
from headwater.cli.session import session
from headwater.errors import HeadwaterError
from headwater.location import parse

if TYPE_CHECKING:
    from headwater.testing.kv_check import Finding


class Unequipped(HeadwaterError):
    """What is wanted needs a package that is not installed."""


@group("kv")
def kv() -> None:
    """See to the database that keeps a lake's records."""


@kv.command("check")
@click.argument("uri")
@click.option(
    "--credentials",
    type=click.File("rb"),
    metavar="FILE",
    help="Credentials as a JSON object of texts; - reads standard input.",
)
def check(uri: str, credentials: BinaryIO | None) -> None:
    """Try the promises of a key-value store on a live database.

    Each is tried in tenants of its own, which are emptied again; nothing else in the database is touched. The status is
    8 if one is not kept, or a tenant could not be emptied.
    """
    login = _login(credentials)
    if parse(uri, login).scheme == "mem":
        raise click.UsageError("mem:// ends with the process: there is nothing to check")
    output = session().output
    found: list[Finding] = []
    output.rows(
        _kept_in(found, _findings(uri, login)),
        [
            Column("promise", lambda finding: finding.promise),
            Column("", lambda finding: _WORDS[finding.kept]),
            Column("seconds", lambda finding: f"{finding.seconds:.2f}", right=True),
            Column("", lambda finding: finding.detail, "red"),
        ],
    )
    left_behind = [tenant for finding in found for tenant in finding.left_behind]
    for tenant in left_behind:
        session().warn(f"tenant {tenant} could not be emptied: delete what is in it")
    tried = [finding.kept for finding in found if finding.kept is not None]
    if not output.json:
        output.say(f"all {len(tried)} promises kept" if all(tried) else f"{sum(tried)} of {len(tried)} promises kept")
    if left_behind or not all(tried):
        click.get_current_context().exit(Exit.DAMAGED)


_WORDS = {True: "kept", False: "BROKEN", None: "not tried"}


def _login(file: BinaryIO | None) -> dict[str, str]:
    if file is None:
        return {}
    try:
        return msgspec.json.decode(file.read(), type=dict[str, str])
    except msgspec.DecodeError:  # its words might repeat what was read
        raise click.UsageError("--credentials: not a JSON object whose values are texts") from None


def _kept_in(found: list[Finding], findings: Iterator[Finding]) -> Iterator[Finding]:
    """The same findings, as they come, each put into *found*."""
    for finding in findings:
        found.append(finding)
        yield finding


def _findings(uri: str, credentials: Mapping[str, str]) -> Iterator[Finding]:
    try:
        from headwater.testing.kv_check import promises, try_promise  # noqa: PLC0415  (pytest and the suite are large)
    except ModuleNotFoundError as missing:
        raise Unequipped(f"this needs {missing.name!r}: pip install 'headwater[testing]'") from missing
    with asyncio.Runner() as runner:
        for promise in promises():
            yield runner.run(try_promise(promise, uri, credentials))
