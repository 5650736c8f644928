"""What can be set of a server: by options, in the environment as `HEADWATER_…`, or in a TOML file, in this order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args, get_origin

import msgspec

from headwater.errors import HeadwaterError
from headwater.server.proxies import network_of

PREFIX = "HEADWATER_"
DEFAULT_DATA = "headwater-data"

Source: TypeAlias = Literal["option", "environment", "file", "default"]


class BadConfiguration(HeadwaterError):
    """A setting is unknown, of a wrong kind, or contradicts another. The message names it and where it stands."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that can be set. What is secret is never shown."""

    listen: str = "127.0.0.1:8000"
    """Where to answer: an address of this machine and a port."""

    data: str = DEFAULT_DATA
    """The directory of an embedded lake, and of what the server keeps for itself."""

    kv: str | None = None
    """The key-value store, as a URI; an embedded one in the data directory, unless set."""

    storage: str | None = None
    """Where repositories are kept unless told otherwise, as a URI; in the data directory, unless set."""

    durability: Literal["fsync", "os"] = "fsync"
    """Whether what is acknowledged by embedded stores survives the machine, or only the process."""

    workers: int = 1
    """Processes that answer."""

    admin_access_key_id: str | None = None
    admin_secret_access_key: str | None = None
    """The credentials of the first administrator, if they are not to be made up."""

    create_admin: bool = True
    """Whether the first server of a lake makes an administrator and shows its credentials; if not, a client does."""

    secret: str | None = None
    """What tokens are signed and secrets encrypted with; without it, one is made and kept in the data directory."""

    kv_credentials: dict[str, str] = {}
    storage_credentials: dict[str, str] = {}
    """How to get at stores, by their providers' own names; without them, the provider's standard chain is asked."""

    external_url: str = ""
    """How clients reach the server, if not where it listens: what the first administrator is told."""

    s3_domains: list[str] = []
    """Host names whose requests are S3: a bucket's name may stand before them, as in `sales.s3.example.org`."""

    access_log: str = ""
    """A file that a line of JSON is written to for every request; `-` is the standard error output."""

    trace: str = ""
    """The OTLP endpoint that traces are sent to; none are made without it."""

    tls_certificate: str = ""
    tls_key: str = ""
    """Files in PEM. With both, the server speaks HTTPS."""

    import_from: list[str] = []
    """Directories of this machine that clients may import objects from, and link to; none, unless set. What is in
    object stores may be imported by whoever has the permission, as far as the server's credentials reach."""

    max_upload: int = 5 * 1024**4
    """Bytes of one object that is uploaded."""

    max_requests: int = 1024
    """Requests that a worker works on at a time; others wait their turn."""

    request_seconds: int = 3600
    """Seconds that a request may take."""

    requests_per_second: float = 0
    """Requests a second that one address may make of one worker, with two seconds' worth at once; 0: any number."""

    trusted_proxies: list[str] = []
    """Addresses and networks of reverse proxies, whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed."""

    metrics: bool = True
    """Whether `/metrics` answers. It tells names of repositories and branches, to anybody who can reach it."""

    webhook_hosts: list[str] = []
    """Hosts, as `*.example.org` or `10.1.2.3:8080`, that hooks may send requests to although they are in a private
    network. What is public may be reached unless `webhooks` is off."""

    webhooks: bool = True
    """Whether hooks may send requests at all."""

    hook_environment: list[str] = msgspec.field(default_factory=lambda: ["LAKEFSACTIONS_*"])
    """Names of variables of the server's environment, as `HOOK_*`, that hooks may send along by `{{ ENV.NAME }}`."""

    experimental_graveler_dirty_read_optimization: bool = True
    """Whether a read of a branch that has nothing staged passes over staging. Off, every read looks there, too."""

    @property
    def endpoint(self) -> str:
        """Where clients reach the server, as far as is known here."""
        if self.external_url:
            return self.external_url.rstrip("/")
        host, _, port = self.listen.rpartition(":")
        return f"{'https' if self.tls_certificate else 'http'}://{_EVERYWHERE.get(host, host)}:{port}"


_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104  (what they mean to a client here)

MASK = "********"
_PASSWORD = re.compile(r"(://[^/:@]*:)[^/]*@")

SECRETS = ("admin_secret_access_key", "secret", "kv_credentials", "storage_credentials")


class Configuration(msgspec.Struct, frozen=True):
    """The settings in force, and where each comes from."""

    settings: Settings
    sources: Mapping[str, Source]

    def shown(self) -> dict[str, Any]:
        """The settings as they may be shown: of a secret, only that it is set."""
        values = msgspec.structs.asdict(self.settings)
        return {name: MASK if name in SECRETS and value else _without_password(value) for name, value in values.items()}


def _without_password(value: Any) -> Any:
    """*value* as it may be shown: the URI of a database may have a password in it."""
    return _PASSWORD.sub(rf"\1{MASK}@", value) if isinstance(value, str) else value


def read_configuration(
    options: Mapping[str, str], environment: Mapping[str, str], file: Path | None = None
) -> Configuration:
    """The settings in force: *options* first, then *environment*, then *file*. Other names in the environment that
    begin with `HEADWATER_` belong to the command line, and are passed over."""
    levels: list[tuple[Source, Mapping[str, Any]]] = [
        ("option", options),
        ("environment", _in_environment(environment)),
        ("file", {} if file is None else _in_file(file)),
    ]
    values: dict[str, Any] = {}
    sources: dict[str, Source] = dict.fromkeys(Settings.__struct_fields__, "default")
    for source, level in levels:
        for name, value in level.items():
            if name not in values:
                values[name], sources[name] = value, source
    settings = _settings_of(values)
    _check(settings)
    return Configuration(settings, sources)


def hook_variables(settings: Settings, environment: Mapping[str, str]) -> dict[str, str]:
    """What of *environment* hooks may send along. What the server itself is set up with is never among it."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(PREFIX) and any(fnmatchcase(name, pattern) for pattern in settings.hook_environment)
    }


def address_of(listen: str) -> tuple[str, int]:
    """The host and the port of *listen*."""
    host, _, port = listen.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise BadConfiguration(f"listen={listen!r}: write HOST:PORT, as 127.0.0.1:8000")
    return host.strip("[]"), int(port)


def _settings_of(values: Mapping[str, Any]) -> Settings:
    return Settings(**{name: _understood(name, _parsed(name, value)) for name, value in values.items()})


def _understood(name: str, value: Any) -> Any:
    """*value* as what the setting *name* is."""
    kind = next(field.type for field in msgspec.structs.fields(Settings) if field.name == name)
    try:
        return msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError:
        told = name if name in SECRETS else f"{name}={value!r}"
        wanted = " or ".join(get_args(kind)) if get_origin(kind) is Literal else _WANTED.get(kind, "text")
        raise BadConfiguration(f"{told}: write {wanted}") from None


_WANTED: Mapping[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list[str]: "a list of words",
    dict[str, str]: "a table of words",
}
"""What a value is that can be understood, by the kind of the setting."""


def _parsed(name: str, value: Any) -> Any:
    """A list or a table as text: words with commas between, or `name=value` pairs."""
    if not isinstance(value, str):
        return value
    default = getattr(Settings(), name, None)
    parts = [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(default, list):
        return parts
    if isinstance(default, dict):
        if not all("=" in part for part in parts):
            raise BadConfiguration(f"{name}: write name=value, with commas between several")
        return dict(part.split("=", 1) for part in parts)
    return value


def _check(settings: Settings) -> None:
    address_of(settings.listen)
    if settings.workers < 1:
        raise BadConfiguration(f"workers={settings.workers}: at least one process has to answer")
    for name in ("max_upload", "max_requests", "request_seconds"):
        if getattr(settings, name) < 1:
            raise BadConfiguration(f"{name}={getattr(settings, name)}: it is 1 at least")
    if settings.requests_per_second < 0:
        raise BadConfiguration(f"requests_per_second={settings.requests_per_second}: it is 0, for any number, or more")
    for network in settings.trusted_proxies:
        try:
            network_of(network)
        except ValueError:
            raise BadConfiguration(
                f"trusted_proxies: {network!r}: write addresses and networks, as 10.0.0.0/8"
            ) from None
    if bool(settings.tls_certificate) != bool(settings.tls_key):
        raise BadConfiguration("tls_certificate and tls_key go together: set both, or none")
    if bool(settings.admin_access_key_id) != bool(settings.admin_secret_access_key):
        raise BadConfiguration("admin_access_key_id and admin_secret_access_key go together: set both, or none")
    if settings.kv is not None and settings.storage is None:
        raise BadConfiguration(
            "kv is set, and storage is not: other machines could not read what is stored on this one"
        )
    if settings.kv is not None and settings.secret is None:
        raise BadConfiguration("kv is set, and secret is not: all servers of one lake need to have the same secret")


def _in_environment(environment: Mapping[str, str]) -> dict[str, str]:
    names = {f"{PREFIX}{field.upper()}": field for field in Settings.__struct_fields__}
    return {names[name]: value for name, value in environment.items() if name in names and value}


def _in_file(file: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = msgspec.toml.decode(file.read_bytes(), type=dict)
    except OSError as error:
        raise BadConfiguration(f"{file}: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"{file}: {error}") from None
    found = dict(_flat(found))
    unknown = sorted(set(found) - set(Settings.__struct_fields__))
    if unknown:
        raise BadConfiguration(f"{file}: there is no setting {unknown[0]!r}; `hw config show` lists them all")
    return found


def _flat(found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The settings of a file. What stands in a table that is no setting has the name of the table before its own."""
    for name, value in found.items():
        if isinstance(value, dict) and name not in Settings.__struct_fields__:
            for inner, each in value.items():
                yield f"{name}_{inner}", each
        else:
            yield name, value
