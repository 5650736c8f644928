"""`hw profile`: lakes by name, with the credentials for each, in a file of one's own."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from headwater.cli.commanding import group
from headwater.cli.options import confirm, yes_option
from headwater.cli.output import Column
from headwater.cli.session import session
from headwater.cli.settings import FILE, BadSettings, File, Settings, read_file
from headwater.cli.showing import Named


class Profile(msgspec.Struct, frozen=True):
    """A profile, but for its secret."""

    name: str
    in_force: bool
    lake: str | None
    endpoint: str | None
    kv: str | None
    storage: str | None
    access_key_id: str | None
    committer: str | None


COLUMNS: Sequence[Column[Profile]] = (
    Column("", lambda profile: "*" if profile.in_force else ""),
    Column("profile", lambda profile: profile.name),
    Column("lake", lambda profile: profile.endpoint or profile.lake or profile.storage),
    Column("access key id", lambda profile: profile.access_key_id),
)


@group("profile")
def profile() -> None:
    """Keep lakes by name, with credentials for each."""


@profile.command("list")
def list_all() -> None:
    """List the profiles of ~/.headwater.toml, and which one is in force."""
    written = read_file(_file())
    in_force = session().known.profile
    found = (_shown(name, written.profiles[name], in_force) for name in sorted(written.profiles))
    session().output.rows(found, COLUMNS)


@profile.command("show")
def show() -> None:
    """Show the settings in force, and where each comes from. A secret is not shown."""
    known = session().known
    values = {name: getattr(known.settings, name) for name in known.sources}
    shown = {name: "********" if name == "secret_access_key" else value for name, value in values.items()}
    output = session().output
    if output.json:
        output.document({name: {"value": value, "from": known.sources[name]} for name, value in shown.items()})
        return
    columns: Sequence[Column[str]] = (
        Column("setting", lambda name: name),
        Column("value", lambda name: shown[name]),
        Column("from", lambda name: known.sources[name], "dim"),
    )
    output.rows(shown, columns)


@profile.command("save")
@click.argument("name")
@click.option("--access-key-id", metavar="ID", help="Of whoever asks the server; its secret is asked for.")
@click.option("--committer", metavar="NAME", help="Who commits to an embedded lake.")
@click.option("--default", "default", is_flag=True, help="In force when no other is named.")
def save(name: str, access_key_id: str | None, committer: str | None, *, default: bool) -> None:
    """Save a lake under a name: hw profile save NAME --endpoint URL --access-key-id ID, or --lake DIR.

    The secret is asked for, or read from standard input: what stands in a command, everybody on the machine sees.
    """
    options = session().options
    if not {"lake", "endpoint"} & options.keys():
        raise click.UsageError("say where the lake is: --endpoint URL, or --lake DIR")
    lake = options.get("lake")
    made = Settings(
        lake=None if lake is None else str(Path(lake).expanduser().absolute()),
        endpoint=options.get("endpoint"),
        access_key_id=access_key_id,
        secret_access_key=None if access_key_id is None else _ask_secret(),
        committer=committer,
    )
    written = read_file(_file())
    profiles = {**written.profiles, name: made}
    in_force = name if default else written.profile
    _write(msgspec.structs.replace(written, profiles=profiles, profile=in_force))
    session().output.done(_shown(name, made, in_force), f"saved {name} in {_file()}")


@profile.command("delete")
@click.argument("name")
@yes_option
def delete(name: str, *, yes: bool) -> None:
    """Delete a profile, with its credentials."""
    written = read_file(_file())
    if name not in written.profiles:
        raise BadSettings(f"there is no profile {name!r} in {_file()}")
    confirm(f"Delete profile {name}, with its credentials?", yes=yes)
    rest = {other: settings for other, settings in written.profiles.items() if other != name}
    in_force = None if written.profile == name else written.profile
    _write(msgspec.structs.replace(written, profiles=rest, profile=in_force))
    session().output.done(Named(name), f"deleted {name}")


def readable_by_others(file: Path) -> bool:
    """Whether others on this machine may read *file*."""
    try:
        return bool(file.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))
    except FileNotFoundError:
        return False


def _ask_secret() -> str:
    if sys.stdin.isatty():
        answer: str = click.prompt("secret access key", hide_input=True, err=True)
        return answer
    return sys.stdin.readline().strip()


def _write(content: File) -> None:
    """Write the file for nobody but its owner, at once or not at all."""
    file = _file()
    growing = file.with_name(f"{file.name}-{secrets.token_hex(8)}")
    descriptor = os.open(growing, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(_toml(content).encode())
    growing.replace(file)


def _toml(content: File) -> str:
    """*content* as TOML: a line for each setting, a table for each profile."""
    lines = _lines(content)
    if content.profile is not None:
        lines.insert(0, f"profile = {_quoted(content.profile)}")
    for name, settings in sorted(content.profiles.items()):
        lines += ["", f"[profiles.{_quoted(name)}]", *_lines(settings)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _lines(settings: Settings) -> list[str]:
    default = Settings()
    values = {name: getattr(settings, name) for name in Settings.__struct_fields__}
    return [f"{name} = {_quoted(value)}" for name, value in values.items() if value != getattr(default, name)]


def _quoted(text: str) -> str:
    """*text* as a string of TOML: those of JSON are such, but for the delete character."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")


def _shown(name: str, settings: Settings, in_force: str | None) -> Profile:
    return Profile(
        name,
        name == in_force,
        settings.lake,
        settings.endpoint,
        settings.kv,
        settings.storage,
        settings.access_key_id,
        settings.committer,
    )


def _file() -> Path:
    return Path(FILE).expanduser()
