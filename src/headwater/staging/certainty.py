"""Telling a failure that did nothing from one that may have done something: callers try the first again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from headwater.kv import StoreUnavailable, UnknownOutcome
from headwater.staging.errors import Contended


@contextmanager
def certainty(sent: Sequence[str], what: str) -> Iterator[None]:
    """Let `StoreUnavailable` and `Contended`, which say that nothing was done, through only while nothing was *sent*.

    Afterwards the same failure, of a look at what became of it, is an `UnknownOutcome`.
    """
    try:
        yield
    except (StoreUnavailable, Contended) as error:
        if is_certain(sent):
            raise
        raise UnknownOutcome(f"{what}: something was sent, and what became of it could not be read: {error}") from error


def is_certain(sent: Sequence[str]) -> bool:
    """Whether nothing was done: what was *sent* may have been, or may be yet."""
    return not sent
