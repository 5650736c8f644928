"""Addresses as clients write them, and as a lake keeps them.

Clients of lakeFS write `local://` for the directory where a server keeps repositories, and for a path of its machine
when they import. Those of object stores are the same on both sides, but that Azure's may be written as `https://`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from headwater.auth import Forbidden
from headwater.blob import NotFound
from headwater.engine.errors import BadRequest
from headwater.engine.repository import Repository
from headwater.index import Entry
from headwater.sdk.opening import Storage
from headwater.server.config import Settings

LOCAL = "local://"
_AZURE = re.compile(r"https://(?P<account>[a-z0-9]{3,24})\.blob\.core\.windows\.net/(?P<rest>.+)")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")
_NOT_IN_PLACES = re.compile(r"[?#\x00-\x1f\x7f]")
_REMOTE = ("s3", "gs", "az")
"""Object stores that a client may name."""

KINDS = {"file": "local", "mem": "mem", "s3": "s3", "gs": "gs", "az": "azure"}
"""What clients call each kind of storage."""


def kind_of(storage: Storage) -> str:
    """What clients call the kind of *storage*."""
    return KINDS[urlsplit(storage.uri).scheme]


def namespace_from_client(storage: Storage, name: str, told: str) -> str:
    """The storage namespace that a client means by *told* for the repository *name*."""
    if not told:
        return storage.namespace_of(name)
    found = _AZURE.fullmatch(told)
    told = f"az://{found['rest']}" if found else told
    if told.startswith(LOCAL):
        if kind_of(storage) != "local":
            raise BadRequest(
                f"storage_namespace {told!r}: this server keeps repositories in {storage.uri.partition('?')[0]}"
            )
        place = told.removeprefix(LOCAL).strip("/")
        if _NOT_IN_PLACES.search(place) or any(part in ("", ".", "..") for part in place.split("/")):
            raise BadRequest(f"storage_namespace {told!r}: write {LOCAL}NAME, a directory below the server's own")
        return f"{storage.uri.partition('?')[0].rstrip('/')}/{quote(place)}"
    scheme = told.partition("://")[0]
    if scheme not in _REMOTE and (scheme != "mem" or kind_of(storage) != "mem"):
        raise BadRequest(f"storage_namespace {told!r}: write {LOCAL}NAME, s3://BUCKET/PREFIX, gs://… or az://…")
    check_place(told)
    return told.rstrip("/")


def check_place(uri: str) -> None:
    """Raise `BadRequest` unless *uri*, which a client tells, names a place and nothing more. Options would be more: one
    is the server to ask, and the credentials of ours go to whatever is asked."""
    bucket = uri.partition("://")[2].partition("/")[0]
    if _NOT_IN_PLACES.search(uri):
        raise BadRequest(f"{uri[:300]!r}: a place has no options; write ? as %3F and # as %23 in names")
    if not _BUCKET.fullmatch(bucket) or ".." in bucket:
        raise BadRequest(f"{uri[:300]!r}: {bucket[:80]!r} is no bucket: those have letters, digits, '.', '_' and '-'")


def namespace_to_client(storage: Storage, namespace: str) -> str:
    """*namespace* as clients know it."""
    home = storage.uri.partition("?")[0].rstrip("/") + "/"
    if kind_of(storage) == "local" and namespace.startswith(home):
        return LOCAL + namespace.removeprefix(home)
    return namespace


def source_from_client(settings: Settings, told: str) -> str:
    """The URI of what is to be imported or linked, of the way that clients write it. Of this machine, only what is in a
    directory that the settings name."""
    if told.startswith(LOCAL):
        path = _importable(settings, "/" + told.removeprefix(LOCAL).lstrip("/"))
        return f"file://{path.replace('%', '%25').replace('?', '%3F').replace('#', '%23')}"
    found = _AZURE.fullmatch(told)
    uri = f"az://{found['rest']}" if found else told
    if uri.partition("://")[0] not in _REMOTE:
        raise BadRequest(
            f"{told[:300]!r}: write s3://BUCKET/…, gs://…, https://ACCOUNT.blob.core.windows.net/…, or local:///…"
        )
    check_place(uri)
    return uri


def check_addresses(settings: Settings, addresses: pa.ChunkedArray) -> None:
    """Raise unless all of *addresses*, as a lake keeps them, may be imported: what `source_from_client` lets through,
    and names in the repository's own namespace."""
    foreign = addresses.filter(pc.match_substring(addresses, "://"))
    for place in pc.unique(pc.replace_substring_regex(foreign, "[^/]*$", "")).to_pylist():
        scheme, _, path = place.partition("://")
        if scheme == "file":
            _importable(settings, unquote(path))
        elif scheme not in _REMOTE:
            raise BadRequest(f"{place[:300]!r}: an address is s3://BUCKET/…, gs://…, az://…, or file:///…")
        else:
            check_place(place)


def _importable(settings: Settings, path: str) -> str:
    """*path* without links in it, if it is in a directory that the settings name and that is there."""
    if "\0" in path:
        raise BadRequest("a path has no NUL character")
    if ".." in path.split("/"):  # else a policy for one directory would be one for its neighbours
        raise BadRequest(f"local://{path[:300]}: write the path without ..")
    real = os.path.realpath(path) + ("/" if path.endswith("/") else "")
    if not any(Path(real).is_relative_to(os.path.realpath(directory)) for directory in settings.import_from):
        raise Forbidden(f"local://{path}: nothing may be imported from there; the setting import_from says from where")
    if not Path(real.rpartition("/")[0] or "/").is_dir():
        raise NotFound(f"local://{path}: there is no such directory")
    return real


def name_from_client(storage: Storage, repository: Repository, told: str) -> str | None:
    """The name of an object in the namespace of *repository* that a client calls *told*; None of one elsewhere."""
    home = namespace_to_client(storage, repository.record.namespace) + "/"
    return told.removeprefix(home) if told.startswith(home) else None


def addresses_to_client(storage: Storage, repository: Repository) -> Callable[[Entry], str]:
    """What tells where the bytes of an entry are, of one that lies in one piece; else where its first piece is."""
    home = namespace_to_client(storage, repository.record.namespace)

    def address(entry: Entry) -> str:
        if not entry.blocks:
            return ""
        address = entry.blocks[0].address
        return address if "://" in address else f"{home}/{address}"

    return address
