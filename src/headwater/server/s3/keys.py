"""Bucket and key of a request, in both styles; and a key as a reference and a path.

`sales/main/a/b` is the path `a/b` at the reference `main` of the repository `sales`. The names of references may have
slashes, and the first part of a key has none: there they are written `%2F`, which no name has in itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote_to_bytes

import msgspec

from headwater.server.http import Request
from headwater.server.s3.errors import S3Error
from headwater.server.s3.limits import MAX_KEY


class Target(msgspec.Struct, frozen=True):
    """What a request is about: the service, a bucket, or an object. *in_host* is the bucket if the host has it."""

    bucket: str = ""
    key: str = ""
    in_host: str | None = None


class Located(msgspec.Struct, frozen=True):
    """A key taken apart. *first* is the reference as it stands in the key; *path* is None if nothing follows it."""

    first: str
    path: str | None

    @property
    def ref(self) -> str:
        return ref_of(self.first)


def bucket_in(host: str, domains: Iterable[str]) -> str | None:
    """The bucket that *host* names in front of one of *domains*; empty for a domain itself, None for other hosts."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    name = name.lower()
    for domain in domains:
        if name == domain.lower():
            return ""
        if name.endswith(f".{domain.lower()}"):
            return name.removesuffix(f".{domain.lower()}")
    return None


def target_of(request: Request, domains: Iterable[str]) -> Target:
    """What *request* is about."""
    path = request.raw_path.removeprefix("/")
    bucket = bucket_in(request.host, domains) or None
    if bucket is None:
        raw_bucket, slash, raw_key = path.partition("/")
        if slash and not raw_bucket:
            raise S3Error("InvalidURI", "the path begins with //: the name of a bucket comes first")
        return Target(_plain(raw_bucket), checked(_plain(raw_key)))
    return Target(bucket, checked(_plain(path)), in_host=bucket)


def checked(key: str) -> str:
    """*key*, if it is one."""
    if len(key.encode()) > MAX_KEY:
        raise S3Error("KeyTooLongError", f"the key has {len(key.encode())} bytes; {MAX_KEY} at most")
    return key


def locate(key: str) -> Located:
    """*key* taken apart."""
    first, slash, path = key.partition("/")
    return Located(first, path if slash else None)


def ref_of(first: str) -> str:
    """The reference that the first part of a key stands for."""
    return first.replace("%2F", "/").replace("%2f", "/") if "%" in first else first


def first_of(ref: str) -> str:
    """The first part of a key that stands for *ref*."""
    return ref.replace("/", "%2F")


def source_of(header: str) -> Target:
    """What `x-amz-copy-source` names."""
    plain, _, query = header.partition("?")
    if query and query != "versionId=null":
        raise S3Error("InvalidArgument", "x-amz-copy-source: objects have no versions here; name another reference")
    bucket, slash, key = _plain(plain).removeprefix("/").partition("/")
    if not slash or not bucket or not key:
        raise S3Error("InvalidArgument", "x-amz-copy-source: write BUCKET/KEY, with the key escaped as in a URL")
    return Target(bucket, checked(key))


def _plain(raw: str) -> str:
    try:
        return unquote_to_bytes(raw.encode("latin-1")).decode()
    except UnicodeError:
        raise S3Error("InvalidURI", "the path is no text in UTF-8") from None
