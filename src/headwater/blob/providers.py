"""From a URI to the obstore clients of a provider, with the provider's own names for credentials."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

import msgspec
from obstore.exceptions import BaseError
from obstore.store import AzureStore, GCSStore, MemoryStore, S3Store

from headwater.blob.errors import BlobError, CannotOpen
from headwater.blob.names import check_name
from headwater.blob.remote import Place, RemoteStore
from headwater.blob.store import BlobStore
from headwater.location import Location

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig

ClientT = TypeVar("ClientT", S3Store, GCSStore, AzureStore)

# A server that says nothing for a minute is gone; one that goes on sending may take as long as the object is large.
# Idle connections are let go before servers do so (Node's after 5 s): a put under a condition that goes out on one just
# closed has an unknown outcome.
_PATIENCE: ClientConfig = {
    "connect_timeout": timedelta(seconds=5),
    "read_timeout": timedelta(seconds=60),
    "timeout": timedelta(days=1),
    "pool_idle_timeout": timedelta(seconds=4),
}
_RETRIES: RetryConfig = {"max_retries": 4, "retry_timeout": timedelta(seconds=60)}
_ONCE: RetryConfig = {"max_retries": 0}

_named: WeakValueDictionary[str, MemoryStore] = WeakValueDictionary()

# What a caller may name in credentials=, and what the client calls it.
_S3_LOGIN = {name: name for name in ("access_key_id", "secret_access_key", "session_token")}
_GOOGLE_LOGIN = {
    "service_account_key": "service_account_key",
    "service_account": "service_account",
    "token": "bearer_token",
}
_AZURE_LOGIN = {name: name for name in ("account_key", "client_id", "client_secret", "tenant_id", "token")} | {
    "sas": "sas_key"
}


class S3Options(msgspec.Struct, forbid_unknown_fields=True):
    """*path_style* false puts the bucket into the host's name, as some S3 servers want it; *tags* false puts no tags
    on objects, for servers that have none, and for who may put objects and not their tags."""

    endpoint: str | None = None
    region: str | None = None
    path_style: bool = True
    tags: bool = True


class GoogleOptions(msgspec.Struct, forbid_unknown_fields=True):
    endpoint: str | None = None


class AzureOptions(msgspec.Struct, forbid_unknown_fields=True):
    endpoint: str | None = None
    account: str | None = None


class MemoryOptions(msgspec.Struct, forbid_unknown_fields=True):
    """`mem://` has none."""


def open_remote(location: Location) -> tuple[BlobStore, str]:
    """The store at *location*, and the prefix that it puts before names. No request is made yet."""
    prefix = _prefix(location)
    match location.scheme:
        case "mem":
            place = _memory(location)
        case "s3":
            place = _s3(location)
        case "gs":
            place = _google(location)
        case "az":
            place = _azure(location)
        case other:
            raise CannotOpen(f"no object store is called {other}://: there are file:, mem:, s3:, gs: and az:")
    return RemoteStore(place, prefix), prefix


def _memory(location: Location) -> Place:
    location.read_options(MemoryOptions)
    store = _named.setdefault(location.host, MemoryStore()) if location.host else MemoryStore()
    return Place(f"mem://{location.host}", store, store)


def _s3(location: Location) -> Place:
    options = location.read_options(S3Options)
    endpoint = options.endpoint
    if endpoint is not None and not options.path_style:
        scheme, _, rest = endpoint.partition("://")
        endpoint = f"{scheme}://{_bucket(location)}.{rest}"
    place = _place(
        S3Store,
        location,
        endpoint,
        _S3_LOGIN,
        endpoint=endpoint,
        region=options.region,
        virtual_hosted_style_request=not options.path_style,
    )
    return msgspec.structs.replace(place, tags=options.tags)


def _google(location: Location) -> Place:
    options = location.read_options(GoogleOptions)
    return _place(GCSStore, location, options.endpoint, _GOOGLE_LOGIN, base_url=options.endpoint)


def _azure(location: Location) -> Place:
    options = location.read_options(AzureOptions)
    return _place(
        AzureStore, location, options.endpoint, _AZURE_LOGIN, endpoint=options.endpoint, account_name=options.account
    )


def _place(
    client: type[ClientT], location: Location, address: str | None, login: Mapping[str, str], **settings: Any
) -> Place:
    unknown = sorted(set(location.credentials) - set(login))
    if unknown:
        raise CannotOpen(f"{location}: there is no credential {unknown[0]!r}; there are: {', '.join(sorted(login))}")
    given = {name: value for name, value in settings.items() if value is not None}
    given |= {login[name]: value for name, value in location.credentials.items()}
    bucket = _bucket(location)
    http: ClientConfig = {**_PATIENCE, "allow_http": _is_plain(location, address)}
    try:
        return Place(
            f"{location.scheme}://{bucket}",
            client(bucket, client_options=http, retry_config=_RETRIES, **given),
            client(bucket, client_options=http, retry_config=_ONCE, **given),
            login=location.credentials,
        )
    except (BaseError, ValueError):
        raise CannotOpen(
            f"{location}: the client refuses this bucket, these options or credentials "
            f"(given: {', '.join(sorted(given)) or 'none'})"
        ) from None


def _is_plain(location: Location, endpoint: str | None) -> bool:
    """Whether to speak without encryption: only when that is what the endpoint says in so many letters."""
    if endpoint is None:
        return False
    scheme, host = urlsplit(endpoint)[:2]
    if scheme not in {"http", "https"} or not host or "@" in host:
        raise CannotOpen(f"{location}: endpoint must be https://host or http://host, with an optional port and path")
    return scheme == "http"


def _bucket(location: Location) -> str:
    if not location.host or location.port or location.user:
        raise CannotOpen(f"{location}: write {location.scheme}://bucket/prefix?endpoint=https://host:port")
    return location.host


def _prefix(location: Location) -> str:
    path = location.path.strip("/")
    if not path:
        return ""
    try:
        check_name(path)
    except BlobError as error:
        raise CannotOpen(f"{location}: its path cannot be a prefix: {error}") from None
    return path + "/"
