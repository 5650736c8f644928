"""Where a store is: one URI, taken apart and checked, that never shows its secrets.

`scheme://user:password@host:port/path?option=value`. Options are plain words and numbers; credentials come beside the
URI (`credentials={"secret_access_key": …}`) or from the provider's standard chain, because URIs end up in logs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from headwater.errors import HeadwaterError

OptionsT = TypeVar("OptionsT", bound=msgspec.Struct)

_SECRET = re.compile(r"secret|password|token|credential|signature|\bsig\b|account_key|access_key", re.IGNORECASE)


class BadLocation(HeadwaterError):
    """A URI that cannot be understood, or an option that is unknown, of a wrong kind, or does not belong in a URI."""


class Location(msgspec.Struct, frozen=True):
    """The parts of a URI. Its text, `str` and `repr` alike, leaves out the password and the credentials."""

    scheme: str
    host: str = ""
    port: int | None = None
    user: str | None = None
    password: str | None = None
    path: str = ""
    options: dict[str, str] = {}
    credentials: dict[str, str] = {}

    def __str__(self) -> str:
        port = f":{self.port}" if self.port else ""
        user = f"{self.user}@" if self.user else ""
        return f"{self.scheme}://{user}{self.host}{port}{self.path}"

    def __repr__(self) -> str:
        return f"<Location {self}>"

    def read_options(self, kind: type[OptionsT]) -> OptionsT:
        """The options as *kind*, a struct that forbids unknown fields, so that a misspelt option is an error."""
        try:
            return msgspec.convert(self.options, kind, strict=False)
        except msgspec.ValidationError as error:
            known = ", ".join(field.encode_name for field in msgspec.structs.fields(kind)) or "none"
            raise BadLocation(f"{self}: {error}; the options of {self.scheme}:// are: {known}") from None

    def local_path(self) -> str:
        """The path of a location on this machine; a host in it is a slash too few."""
        if self.host or not self.path:
            raise BadLocation(f"{self}: write {self.scheme}:///absolute/path or {self.scheme}:relative/path")
        return self.path


def parse(uri: str, credentials: Mapping[str, str] | None = None) -> Location:
    """Take *uri* apart. Raises `BadLocation`, without repeating what might be a secret."""
    try:
        parts = urlsplit(uri)
        port = parts.port
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError as error:
        raise BadLocation(f"not a URI of the form scheme://host/path?option=value: {error}") from None
    if not parts.scheme:
        raise BadLocation("not a URI: it must start with a scheme, as in lmdb:///path or postgresql://host/database")
    if parts.fragment:
        raise BadLocation(f"{parts.scheme}://…: a URI of a store has no #fragment; write # as %23")
    for name, _ in options:
        if _SECRET.search(name):
            raise BadLocation(
                f"{parts.scheme}://…: {name} does not belong in a URI; pass it as credentials={{{name!r}: …}}"
            )
    repeated = sorted({name for name, _ in options if [n for n, _ in options].count(name) > 1})
    if repeated:
        raise BadLocation(f"{parts.scheme}://…: option {repeated[0]} is given more than once")
    return Location(
        scheme=parts.scheme,
        host=_host(parts.netloc),
        port=port,
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
        path=unquote(parts.path),
        options=dict(options),
        credentials=dict(credentials or {}),
    )


def _host(netloc: str) -> str:
    """The host as it was written: a name of a table, unlike one of DNS, may differ from another in case alone."""
    host = netloc.rpartition("@")[2]
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
