"""What can go wrong with a reference."""

from __future__ import annotations

from headwater.errors import HeadwaterError


class RefError(HeadwaterError):
    """The root of this layer's errors."""


class RefNotFound(RefError):
    """There is no branch or tag of that name."""


class RefExists(RefError):
    """There is a branch or tag of that name already."""


class CorruptRef(RefError):
    """A record of a reference cannot be understood. The message names it."""
