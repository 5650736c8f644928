"""`hw serve` and `hw config`: running a server, and seeing with what settings."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.commanding import command, group
from headwater.cli.output import Column
from headwater.cli.session import session

if TYPE_CHECKING:
    from headwater.server.config import Configuration

OPTIONS = {
    "listen": ("HOST:PORT", "Where to answer."),
    "data": ("DIR", "The directory of an embedded lake, and of what the server keeps for itself."),
    "kv": ("URI", "The key-value store, if it is not embedded."),
    "storage": ("URI", "Where repositories are kept unless told otherwise, if not in the data directory."),
    "durability": ("fsync|os", "Whether what embedded stores acknowledge survives the machine, or only the process."),
    "workers": ("N", "Processes that answer."),
    "external_url": ("URL", "How clients reach the server, if not where it listens."),
    "s3_domains": ("HOST,…", "Host names whose requests are S3, with buckets' names before them."),
    "access_log": ("FILE", "Where a line is written for every request; - is the standard error output."),
    "trace": ("URL", "The OTLP endpoint that traces are sent to."),
    "tls_certificate": ("FILE", "A certificate in PEM; with its key, the server speaks HTTPS."),
    "tls_key": ("FILE", "The key of the certificate."),
    "import_from": ("DIR,…", "Directories of this machine that objects may be imported from."),
    "trusted_proxies": ("NET,…", "Reverse proxies that are believed whom they ask for."),
    "max_upload": ("BYTES", "The size of an object that may be uploaded."),
    "max_requests": ("N", "Requests that a worker works on at a time."),
    "request_seconds": ("N", "How long a request may take."),
    "requests_per_second": ("N", "Requests a second that one address may make of one worker."),
}
"""The settings that are options, too. Secrets are not: everybody on a machine sees what a program was started with."""


def settings_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every setting, and the file that they may stand in."""
    file = click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="A TOML file with settings.")
    function = file(function)
    for name, (metavar, text) in reversed(OPTIONS.items()):
        function = click.option(f"--{name.replace('_', '-')}", name, metavar=metavar, help=text)(function)
    return function


@command("serve")
@settings_options
def serve(config: Path | None, **options: str | None) -> None:
    """Run a server.

    Each option is also a setting of the same name in the environment, as HEADWATER_LISTEN, and in a TOML file. Where no
    lake is yet, one is made, with a first administrator whose credentials are shown once.
    """
    configuration = _configuration(config, options)
    from headwater.server.serving import serve as run  # noqa: PLC0415  (the server need not be installed for the rest)

    settings = configuration.settings
    lake = settings.data if settings.storage is None else configuration.shown()["storage"]
    run(settings, lambda: click.echo(f"hw: serving {lake} on {settings.endpoint}"))


@group("config")
def config() -> None:
    """See the settings of a server."""


@config.command("show")
@settings_options
def show(config: Path | None, **options: str | None) -> None:
    """What is in force, and where it comes from. Secrets are masked."""
    configuration = _configuration(config, options)
    shown = configuration.shown()
    rows = [(name, shown[name], configuration.sources[name]) for name in shown]
    output = session().output
    if output.json:
        output.document({name: {"value": value, "from": source} for name, value, source in rows})
        return
    output.rows(
        rows,
        [
            Column("setting", lambda row: row[0]),
            Column("value", lambda row: row[1]),
            Column("from", lambda row: row[2], "dim"),
        ],
    )


def _configuration(file: Path | None, options: dict[str, str | None]) -> Configuration:
    from headwater.server.config import read_configuration  # noqa: PLC0415

    given = {name: value for name, value in options.items() if value is not None}
    return read_configuration(given, os.environ, file)
