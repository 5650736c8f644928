"""Conditions of a statement: from which addresses a request must come, or must not, for the statement to apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from headwater.auth.errors import InvalidPolicy
from headwater.auth.limits import MAX_ADDRESSES

Condition: TypeAlias = Mapping[str, Mapping[str, Sequence[str]]]
"""By operator and field, as it is written: `{"IpAddress": {"SourceIp": ["10.0.0.0/8"]}}`."""

Networks: TypeAlias = tuple[IPv4Network | IPv6Network, ...]

OPERATORS = ("IpAddress", "NotIpAddress")
FIELD = "SourceIp"


class Conditions:
    """What a condition says, compiled. All of it must hold."""

    __slots__ = ("_inside", "_outside")

    def __init__(self, condition: Condition) -> None:
        self._inside = [networks(fields[FIELD]) for name, fields in condition.items() if name == "IpAddress"]
        self._outside = [networks(fields[FIELD]) for name, fields in condition.items() if name == "NotIpAddress"]

    def hold(self, source: str | None) -> bool | None:
        """Whether they hold for a request from *source*; None if it is not known where it comes from."""
        address = None if source is None else _address(source)
        if address is None:
            return None
        return all(_within(address, each) for each in self._inside) and not any(
            _within(address, each) for each in self._outside
        )


def check(condition: Condition) -> None:
    """Raise `InvalidPolicy` unless it can be followed to the letter: one that is not understood must not be skipped."""
    for operator, fields in condition.items():
        if operator not in OPERATORS:
            raise InvalidPolicy(f"condition {operator[:80]!r}: it can be {' or '.join(OPERATORS)}")
        if set(fields) != {FIELD}:
            raise InvalidPolicy(f"condition {operator!r} looks at {sorted(fields)}: it can look at {FIELD} only")
        networks(fields[FIELD])


def networks(addresses: Sequence[str]) -> Networks:
    if not 1 <= len(addresses) <= MAX_ADDRESSES:
        raise InvalidPolicy(f"a condition with {len(addresses)} addresses: it has 1 to {MAX_ADDRESSES}")
    try:
        return tuple(ip_network(address, strict=False) for address in addresses)
    except ValueError as error:
        raise InvalidPolicy(f"a condition with an address that is none: {error}") from error


def _address(source: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(source)
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def _within(address: IPv4Address | IPv6Address, networks: Networks) -> bool:
    return any(address in network for network in networks if network.version == address.version)
