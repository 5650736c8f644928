"""Who asks through a reverse proxy: what it says of them, if it is one that the settings trust.

Without this, all who come through a proxy would have its address: in the log, in the conditions of policies, and where
attempts and requests are counted by address.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from headwater.server.http import Scope


class Proxies:
    """The proxies at addresses in *networks*. What anybody else says of whom they ask for is passed over."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks = tuple(network_of(each) for each in networks)

    def see_through(self, scope: Scope) -> None:
        """Make of a request what it was before proxies passed it on: its client, and whether it came over HTTPS.

        A proxy adds whom it heard from at the end of what it was told. So the last address that is none of a proxy
        is the client's; whatever stands before it, the client may have made up.
        """
        if not self._networks or scope.get("client") is None:
            return
        client = _address(scope["client"][0])
        if client is None or not self._trusts(client):
            return
        for told in reversed(_words(scope, b"x-forwarded-for")):
            heard = _address(told)
            if heard is None:
                break
            client = heard
            if not self._trusts(client):
                break
        scope["client"] = (str(client), 0)
        schemes = _words(scope, b"x-forwarded-proto")
        if schemes and schemes[-1] in ("http", "https"):
            scope["scheme"] = schemes[-1]

    def _trusts(self, address: IPv4Address | IPv6Address) -> bool:
        return any(address in network for network in self._networks)


def network_of(text: str) -> IPv4Network | IPv6Network:
    """The network, or the one address, that *text* names; else `ValueError`."""
    return ip_network(text, strict=False)


def _words(scope: Scope, name: bytes) -> list[str]:
    """What all headers of this name say, which have commas between."""
    told = b",".join(value for header, value in scope["headers"] if header.lower() == name)
    return [word.strip() for word in told.decode("latin-1").split(",") if word.strip()]


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text.strip("[]"))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
