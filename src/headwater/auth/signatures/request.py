"""A request as it came over the wire, which is what was signed: nothing decoded, nothing normalised."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote, unquote_to_bytes

import msgspec

from headwater.auth.signatures.errors import InvalidRequest
from headwater.auth.signatures.limits import MAX_PARAMETERS

_AS_IT_IS = re.compile(r"[A-Za-z0-9\-._~]*")
_PATH_AS_IT_IS = re.compile(r"[A-Za-z0-9\-._~/]*")


class SignedRequest(msgspec.Struct, frozen=True):
    """*path* and *query* are raw; *headers* have lower-case names, and values in Latin-1, which keeps every byte."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    bucket: str | None = None
    """The bucket, if the host names it: signatures of version 2 cover it as if it were in the path."""


def headers_of(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers as they come from a server: those of one name are joined, in their order."""
    found: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        found[name] = f"{found[name]},{value}" if name in found else value
    return found


def parameters(query: str) -> list[tuple[str, str]]:
    """Names and values of a query, escaped by the one rule. A name without a value has an empty one."""
    pieces = [piece for piece in query.split("&") if piece]
    if len(pieces) > MAX_PARAMETERS:
        raise InvalidRequest(f"the query has {len(pieces)} parameters, {MAX_PARAMETERS} at most")
    return [(escaped(name), escaped(value)) for name, _, value in (piece.partition("=") for piece in pieces)]


def plain(text: str) -> str:
    """What an escaped name or value stands for."""
    return unquote_to_bytes(text).decode(errors="replace")


def escaped(text: str) -> str:
    """A name or value of a query, escaped by the one rule, however it was escaped before."""
    if _AS_IT_IS.fullmatch(text):
        return text
    return quote(unquote_to_bytes(text.replace("+", " ").encode("latin-1", "replace")), safe="~")


def escaped_path(path: str) -> str:
    """A path, escaped by the one rule, however it was escaped before."""
    if _PATH_AS_IT_IS.fullmatch(path):
        return path
    return quote(unquote_to_bytes(path.encode("latin-1", "replace")), safe="/~")
