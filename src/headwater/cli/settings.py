"""Where the lake is and who asks: from options, the environment, or `~/.headwater.toml`, in this order.

Where the lake is, is one question: whoever answers it first, by a directory, an endpoint or stores, answers it all. A
profile is a table of the file with settings that go together: one that is named as an option goes before the
environment, any other before the rest of the file. Credentials that stand in a file are sent to no other server than
the one that stands beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from headwater.errors import HeadwaterError

FILE = "~/.headwater.toml"
PREFIX = "HEADWATER_"
PLACES = ("lake", "endpoint", "kv", "storage")
CREDENTIALS = ("access_key_id", "secret_access_key")
PROFILE = "profile"

Source: TypeAlias = Literal["option", "environment", "profile", "file"]


class BadSettings(HeadwaterError):
    """A setting is missing, unknown, or contradicts another. The message names it and says where it is."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What can be set. In the environment each is in capitals, behind `HEADWATER_`."""

    lake: str | None = None
    """The directory of an embedded lake."""

    kv: str | None = None
    storage: str | None = None
    """The stores of a lake that is not in a directory, as for `headwater.open`."""

    endpoint: str | None = None
    """The URL of a server."""

    access_key_id: str | None = None
    secret_access_key: str | None = None

    committer: str | None = None
    """Who commits to an embedded lake; without it, the user of this machine. A server knows who asks."""

    durability: Literal["fsync", "os"] = "fsync"
    """Of a lake in a directory: whether a write waits for the disk."""


class File(Settings, frozen=True, forbid_unknown_fields=True):
    """`~/.headwater.toml`: settings, and profiles of them. *profile* is the one in force when none is named."""

    profile: str | None = None
    profiles: dict[str, Settings] = {}


class Known(msgspec.Struct, frozen=True):
    """The settings in force, who set each that is set, and the profile that was used, if one was."""

    settings: Settings
    sources: Mapping[str, Source]
    profile: str | None = None


def read_settings(options: Mapping[str, str], environment: Mapping[str, str], file: Path) -> Known:
    """The settings in force. `BadSettings` if one cannot be understood."""
    written = read_file(file)
    named = options.get(PROFILE)
    profile = named or environment.get(f"{PREFIX}{PROFILE.upper()}") or written.profile
    given: list[tuple[Source, Mapping[str, str]]] = [
        ("option", {name: value for name, value in options.items() if name != PROFILE}),
        ("environment", _in_environment(environment)),
        ("file", _values_of(written)),
    ]
    levels = given if profile is None else _with_profile(given, _profile(written, profile, file), named=bool(named))
    values: dict[str, str] = {}
    sources: dict[str, Source] = {}
    answered: set[str] = set()
    for source, level in levels:
        if source in {"profile", "file"} and answered.issuperset(PLACES):
            answered |= set(CREDENTIALS)
        for name, value in level.items():
            if name not in values and name not in answered:
                values[name], sources[name] = value, source
        for question in (PLACES, CREDENTIALS):
            if any(name in level for name in question):
                answered |= set(question)
    _check_place(values)
    try:
        return Known(msgspec.convert(values, Settings), sources, profile)
    except msgspec.ValidationError as error:
        raise BadSettings(f"a setting cannot be as it is: {error}") from None


def _in_environment(environment: Mapping[str, str]) -> dict[str, str]:
    names = {f"{PREFIX}{field.upper()}": field for field in Settings.__struct_fields__}
    return {names[name]: value for name, value in environment.items() if name in names and value}


def read_file(file: Path) -> File:
    """What stands in *file*; nothing if there is none."""
    try:
        return msgspec.toml.decode(file.read_bytes(), type=File)
    except FileNotFoundError:
        return File()
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadSettings(f"{file}: {error}") from None


def _profile(written: File, name: str, file: Path) -> Mapping[str, str]:
    if name not in written.profiles:
        known = ", ".join(sorted(written.profiles)) or "none"
        raise BadSettings(f"there is no profile {name!r} in {file} (there is: {known}): make it with hw profile save")
    return _values_of(written.profiles[name])


def _with_profile(
    levels: list[tuple[Source, Mapping[str, str]]], profile: Mapping[str, str], *, named: bool
) -> list[tuple[Source, Mapping[str, str]]]:
    """*levels* and a profile, which goes before the environment if it was *named* as an option."""
    place = 1 if named else 2
    return [*levels[:place], ("profile", profile), *levels[place:]]


def _values_of(settings: Settings) -> dict[str, str]:
    """What is set of *settings*."""
    default = Settings()
    found = {name: getattr(settings, name) for name in Settings.__struct_fields__}
    return {name: value for name, value in found.items() if value != getattr(default, name)}


def _check_place(values: Mapping[str, str]) -> None:
    places = [name for name in PLACES if name in values]
    if places in ([], ["lake"], ["endpoint"], ["kv", "storage"]):
        return
    raise BadSettings(
        f"{' and '.join(places)}: a lake is in one place; set lake, or endpoint, or kv together with storage"
    )
