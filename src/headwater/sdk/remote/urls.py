"""URLs: of a server, and of what is asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias
from urllib.parse import quote, urlencode, urlsplit

from headwater.engine.errors import BadRequest

Query: TypeAlias = Mapping[str, object]
"""Parameters: text, numbers, truths, and lists of text for what may be repeated. What is None is left out."""

API: Final = "/api/v1"


def endpoint_of(url: str) -> str:
    """The beginning of the URLs of a server: *url* may have the path of its API, as some clients want it."""
    try:
        parts = urlsplit(url)
        host, _ = (parts.hostname or "").encode("idna"), parts.port
    except ValueError:
        raise BadRequest(f"{url.rpartition('@')[2]!r}: a server's URL is http://HOST:PORT or https://HOST") from None
    if parts.username or parts.password:
        raise BadRequest("a server's URL has no credentials in it: give the access key id and its secret by themselves")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise BadRequest(f"{url.partition('?')[0]!r}: a server's URL is http://HOST:PORT or https://HOST")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix(API)}{API}"


def segment(name: str) -> str:
    """*name* as one segment of a path, whatever characters are in it."""
    escaped = quote(name, safe="", errors="surrogatepass")
    return escaped.replace(".", "%2E") if set(escaped) <= {"."} else escaped


def query_of(query: Query) -> str:
    """*query* as it follows a path."""
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        match value:
            case None:
                pass
            case bool():
                pairs.append((name, str(value).lower()))
            case str() | int():
                pairs.append((name, str(value)))
            case Iterable():
                pairs += [(name, str(each)) for each in value]
    return f"?{urlencode(pairs, errors='surrogatepass')}" if pairs else ""
