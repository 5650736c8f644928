"""Which commits touched a path, as an index of its own: so the history of a path costs its touches, not all commits.

As in the clock index, a commit is entered by its child, in the pipeline that lands the child: then it has won for
certain, and what somebody who loses the race wrote is true all the same. Only append repositories have it.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator

import msgspec

from headwater.engine.repository import Repository
from headwater.history import Commit
from headwater.history.clock import CLOCK_PREFIX, Component, Span, clock_key, parse_clock_key
from headwater.kv import Set
from headwater.kv.limits import MAX_PAGE

TOUCH = b"touch/"
_DIGEST = 16
_MANY = bytes(_DIGEST)
"""In the place of a path: the commit changed more than it can tell path by path."""


class Touch(msgspec.Struct, frozen=True):
    """A commit, by its number in its incarnation, that touched a path; or *perhaps*, if it changed very much."""

    n: int
    commit: str
    perhaps: bool


def touches_of(repository: Repository, parent: Commit | None) -> list[Set]:
    """What enters *parent*, a commit that has landed. To be run ahead of the swap that lands its child."""
    if parent is None or not repository.grows:
        return []
    own = repository.index_at(parent).own
    paths = [_MANY] if own is None else map(_digest, own)
    value = bytes.fromhex(parent.id)
    return [Set(repository.partition, _place(path, parent.clock.last), value) for path in paths]


async def touches_within(repository: Repository, key: str, span: Span) -> AsyncIterator[Touch]:
    """The touches of *key* in *span*, newest first: two scans, whose pages hold touches and nothing else."""
    told = _scan(repository, _digest(key), span, perhaps=False)
    perhaps = _scan(repository, _MANY, span, perhaps=True)
    one, other = await anext(told, None), await anext(perhaps, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one.n > other.n):
            assert one is not None  # noqa: S101  (else both were None)
            yield one
            one = await anext(told, None)
        else:
            yield other
            other = await anext(perhaps, None)


async def _scan(repository: Repository, path: bytes, span: Span, *, perhaps: bool) -> AsyncIterator[Touch]:
    first = _place(path, Component(span.incarnation, span.newest))
    last = _place(path, Component(span.incarnation, span.oldest))
    async for page in repository.store.scan(repository.partition, first, page=min(len(span), MAX_PAGE, 100)):
        for entry in page:
            if entry.key > last:
                return
            component = parse_clock_key(CLOCK_PREFIX + entry.key[len(TOUCH) + _DIGEST :])
            yield Touch(component.n, entry.value.hex(), perhaps)


def _place(path: bytes, component: Component) -> bytes:
    return TOUCH + path + clock_key(component).removeprefix(CLOCK_PREFIX)


def _digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=_DIGEST).digest()
