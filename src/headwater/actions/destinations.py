"""Where hooks may send requests: whoever can write to a branch writes them, so not into the server's own network.

A name is looked up once, every address that it has is judged, and the connection goes to one of these addresses: a name
that means something else a moment later leads nowhere new. Redirects are not followed, proxies are not asked.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from headwater.actions.errors import HookFailed
from headwater.actions.limits import MAX_ANSWER

if TYPE_CHECKING:  # it takes a third of a second to import, and a server may never need it
    import httpx

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
"""IPv4 addresses in IPv6 ones, for networks that have no others."""

_NEVER = tuple(
    ipaddress.ip_network(text) for text in ("::/96", "64:ff9b:1::/48", "2001::/32", "3fff::/20", "5f00::/16")
)
"""What not every version of `ipaddress` knows to lead to private networks, or nowhere."""

_PORTS = {"http": 80, "https": 443}


class Destinations:
    """What may be reached: what is public, and the hosts in *inside*, as `*.example.org` or `10.1.2.3:8080`.

    Unless *enabled*, nothing.
    """

    def __init__(self, inside: Sequence[str] = (), *, enabled: bool = True) -> None:
        self._inside = tuple(pattern.lower() for pattern in inside)
        self._enabled = enabled

    @asynccontextmanager
    async def request(self, method: str, url: str, *, seconds: float, **options: Any) -> AsyncIterator[httpx.Response]:
        """The answer to a request, its body yet to be read. *options* are those of `httpx`.

        `HookFailed` if it is not to be sent there, or no answer comes within *seconds*.
        """
        import httpx  # noqa: PLC0415  (see above)

        target = parse(url)
        try:
            async with asyncio.timeout(seconds):
                addresses = await self.addresses(target)
                async with _client(seconds) as client:
                    response = await _sent(client, method, target, addresses, options)
                    try:
                        yield response
                    finally:
                        await response.aclose()
        except TimeoutError:
            raise HookFailed(f"no answer from {shown(target)} within {seconds:g} seconds") from None
        except httpx.ConnectError as error:
            raise HookFailed(f"{shown(target)} cannot be connected to: {error}") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:  # what it says may quote the request, and so a secret
            raise HookFailed(f"{shown(target)} gave no answer: {type(error).__name__}") from None

    async def addresses(self, target: httpx.URL) -> list[Address]:
        """The addresses that *target* may be reached at, or `HookFailed`."""
        if not self._enabled:
            raise HookFailed("hooks of this server send no requests: its setting webhooks is off")
        host, port = _host(target), target.port or _PORTS[target.scheme]
        found = await _resolved(host, port)
        if not self._is_inside(host, port):
            for address in found:
                if not is_public(address):
                    raise HookFailed(
                        f"{shown(target)} is at {address}, which is not public: hooks may reach it only if "
                        f"the server's setting webhook_hosts has {host}:{port}"
                    )
        return found

    def _is_inside(self, host: str, port: int) -> bool:
        names = (host, f"{host}:{port}") if ":" not in host else (host, f"[{host}]:{port}")
        return any(fnmatchcase(name, pattern.replace("[", "[[]")) for pattern in self._inside for name in names)


def parse(url: str) -> httpx.URL:
    """*url*, if it is one that a request can be sent to."""
    import httpx  # noqa: PLC0415  (see above)

    try:
        target = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise HookFailed(f"url: {error}") from None
    if target.scheme not in _PORTS or not target.host:
        raise HookFailed("url: write http:// or https://, and a host")
    return target


def shown(target: httpx.URL) -> str:
    """*target* as it may be told: its query and its user may be secret."""
    return str(target.copy_with(userinfo=b"", query=None, fragment=None))


def is_public(address: Address) -> bool:
    """Whether *address* is of the internet at large, whatever it is wrapped in."""
    if isinstance(address, ipaddress.IPv6Address):
        if any(address in network for network in _NEVER):
            return False
        inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None
        wrapped = inner or address.ipv4_mapped or address.sixtofour
        if wrapped is not None:
            return is_public(wrapped)
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_unspecified or address.is_loopback
    )


async def answer_text(response: httpx.Response) -> tuple[str, bool]:
    """The beginning of the body of *response*, and whether there is more."""
    read = bytearray()
    async for chunk in response.aiter_raw():
        read += chunk
        if len(read) > MAX_ANSWER:
            return read[:MAX_ANSWER].decode(errors="replace"), True
    return read.decode(errors="replace"), False


def _host(target: httpx.URL) -> str:
    return target.raw_host.decode("ascii").strip("[]").rstrip(".").lower()


async def _resolved(host: str, port: int) -> list[Address]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise HookFailed(f"{host}: its address cannot be found: {error}") from None
    return list(dict.fromkeys(ipaddress.ip_address(str(each[4][0]).partition("%")[0]) for each in found))


async def _sent(
    client: httpx.AsyncClient, method: str, target: httpx.URL, addresses: Sequence[Address], options: dict[str, Any]
) -> httpx.Response:
    """The answer of the first of *addresses* that can be connected to. To the other side, it was asked by its name."""
    import httpx  # noqa: PLC0415  (see above)

    headers = {**options.pop("headers", {}), "host": target.netloc.decode("ascii"), "accept-encoding": "identity"}
    failed: Exception = HookFailed(f"{shown(target)} has no address")
    for address in addresses:
        request = client.build_request(
            method,
            target.copy_with(host=str(address)),
            headers=headers,
            extensions={"sni_hostname": _host(target)},
            **options,
        )
        try:
            return await client.send(request, stream=True, follow_redirects=False)
        except httpx.ConnectError as error:
            failed = error
    raise failed


def _client(seconds: float) -> httpx.AsyncClient:
    import httpx  # noqa: PLC0415  (see above)

    return httpx.AsyncClient(verify=_trust(), trust_env=False, timeout=seconds, follow_redirects=False)


@cache
def _trust() -> ssl.SSLContext:
    """What the machine trusts. Read once: it is a large file."""
    return ssl.create_default_context()
