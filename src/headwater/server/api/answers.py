"""What the API takes and answers, as clients know it: the names of the fields are theirs.

Times are in seconds since 1970, or ISO 8601 where a client expects that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Generic, TypeVar

import msgspec

from headwater import history
from headwater.engine.errors import BadRequest
from headwater.sdk.wire import errors
from headwater.server.limits import DEFAULT_PAGE, MAX_PAGE

Result = TypeVar("Result")
Item = TypeVar("Item")

Error = errors.Error
"""Why something was not done."""

_YEAR_10000 = 253_402_300_800

encode = msgspec.json.Encoder(decimal_format="number").encode


class Pagination(msgspec.Struct, frozen=True):
    """Where a page stands: *next_offset* is what to pass as `after` for the next one."""

    has_more: bool
    next_offset: str
    results: int
    max_per_page: int


class Page(msgspec.Struct, Generic[Result], frozen=True):
    """A page of results, in order."""

    pagination: Pagination
    results: list[Result]


class WrittenPage(msgspec.Struct, frozen=True):
    """A page whose results are written already: in JSON it is a `Page`."""

    pagination: Pagination
    results: msgspec.Raw


class PageQuery(msgspec.Struct, frozen=True):
    """Which page: at most *amount* results whose names begin with *prefix* and come after *after*."""

    prefix: str = ""
    after: str = ""
    amount: int = DEFAULT_PAGE

    @property
    def size(self) -> int:
        """How many results the page may have: the default for 0 and -1, and no more than the most there is."""
        return size_of(self.amount)


def size_of(amount: int) -> int:
    if amount < -1:
        raise BadRequest(f"amount={amount}: a page has 1 to {MAX_PAGE} results")
    return DEFAULT_PAGE if amount in (-1, 0) else min(amount, MAX_PAGE)


def page_of(
    found: Sequence[Item], amount: int, render: Callable[[Item], Result], offset: Callable[[Item], str]
) -> Page[Result]:
    """A page of what was *found* when one more than *amount* was asked for: so it is known whether there is more."""
    shown = found[:amount]
    more = len(found) > amount
    pagination = Pagination(more, offset(shown[-1]) if more else "", len(shown), MAX_PAGE)
    return Page(pagination, [render(each) for each in shown])


class Ref(msgspec.Struct, frozen=True):
    """A branch or tag, and the commit it stands for."""

    id: str
    commit_id: str


class Commit(msgspec.Struct, frozen=True):
    """A commit."""

    id: str
    parents: list[str]
    committer: str
    message: str
    creation_date: int
    meta_range_id: str
    metadata: dict[str, str]
    generation: int
    creation_time_ms: int
    """The same as *creation_date*, in milliseconds."""

    version: int = 1


def commit_answer(commit: history.Commit) -> Commit:
    return Commit(
        id=commit.id,
        parents=list(commit.parents),
        committer=commit.committer,
        message=commit.message,
        creation_date=commit.time // 1000,
        meta_range_id=commit.tree,
        metadata=dict(commit.metadata),
        generation=commit.generation,
        creation_time_ms=commit.time,
    )


def iso(milliseconds: int) -> datetime:
    """A moment, for where a client expects ISO 8601."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def moment_of(seconds: int, field: str) -> int:
    """Milliseconds since 1970, of the *seconds* that a client gives in *field*."""
    if not 0 <= seconds < _YEAR_10000:
        raise BadRequest(f"{field}={seconds}: give seconds since 1970, before the year 10000")
    return seconds * 1000
