"""As whom clients are counted, where attempts and requests are."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import AddressValueError, IPv6Address, IPv6Network

from headwater.auth.limits import WATCHED

SITE = 64
"""Bits of an IPv6 address that say whose it is: whoever has one has all that begin so, a new one for every request."""


@lru_cache(WATCHED)
def counted_as(client: str) -> str:
    """*client* itself; of an IPv6 address the network that all of one site have, or the IPv4 address that it wraps."""
    try:
        address = IPv6Address(client)
    except AddressValueError:
        return client
    return str(address.ipv4_mapped or IPv6Network((int(address), SITE), strict=False))
