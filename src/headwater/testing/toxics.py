"""What can go wrong between a client and its database, each by a name. `FaultyStore` pours them into a store.

Each strikes a request with its own *probability*. Of the toxics that make a request fail, the first that strikes
decides. What the client may conclude is exact: `StoreUnavailable` and `SlowDown` mean that certainly nothing was
written, `UnknownOutcome` that it may have been, or may be yet.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec


class Delay(msgspec.Struct, frozen=True):
    """Up to *longest* seconds pass: on the way there, between the operations of a bulk, or on the way back."""

    probability: float
    longest: float


class FailBefore(msgspec.Struct, frozen=True):
    """The request does not arrive: `StoreUnavailable`, and nothing was done."""

    probability: float


class Throttle(msgspec.Struct, frozen=True):
    """The database sends the request away: `SlowDown`, and nothing was done."""

    probability: float


class FailAfter(msgspec.Struct, frozen=True):
    """The request is done and its answer lost: `UnknownOutcome` for a write, `StoreUnavailable` for a read.

    A pipeline or a bulk may have stopped in the middle: something of it was applied, maybe not all.
    """

    probability: float


class ApplyLate(msgspec.Struct, frozen=True):
    """A write is still on its way when its client is told `UnknownOutcome`: it lands up to *longest* seconds later.

    Until then anything may happen, so a late `set_if` is applied only if its predicate still holds *then*. Of a
    pipeline or a bulk the first operations may be applied at once, and the others late. Reads pass unharmed.
    """

    probability: float
    longest: float


Toxic: TypeAlias = Delay | FailBefore | Throttle | FailAfter | ApplyLate
