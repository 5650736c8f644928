"""Why a request is refused, or given up, before or around whatever it asks for: each room tells it in its own words."""

from __future__ import annotations

from headwater.errors import HeadwaterError
from headwater.server.limits import MAX_TARGET


class TargetTooLong(HeadwaterError):
    """The path and query of a request are longer than they may be."""

    def __init__(self) -> None:
        super().__init__(f"the path and query of a request have {MAX_TARGET} bytes at most")


class TooManyRequests(HeadwaterError):
    """Too many requests came from one address."""

    def __init__(self) -> None:
        super().__init__("too many requests from this address: wait")


class Overdue(HeadwaterError):
    """The request took longer than this server lets one take."""

    def __init__(self) -> None:
        super().__init__("the request took longer than this server lets one take; part may be done")
