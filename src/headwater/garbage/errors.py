"""What can go wrong when garbage is collected."""

from __future__ import annotations

from headwater.errors import HeadwaterError


class GarbageError(HeadwaterError):
    """The root of this layer's errors."""


class SharedNamespace(GarbageError):
    """Another repository keeps its objects in the same place: each would take the other's for garbage."""


class NoSuchPlan(GarbageError):
    """There is no plan of that name, or it was never finished."""
