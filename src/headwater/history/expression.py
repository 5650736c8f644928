"""Reference expressions: a name or commit id, and steps from there, as in `main~2^2~1`, `main@` or `main@{2024-06-01}`.

| step | leads to |
| --- | --- |
| `~n`, `~` | the n-th ancestor along first parents; `~` is `~1`, `~0` the commit itself |
| `^n`, `^` | the n-th parent; `^` is `^1`, `^0` the commit itself |
| `@` | the commit itself: what is committed, without what is staged; right behind the name only |
| `@{time}` | the newest first-parent ancestor not younger than the time |
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import msgspec

from headwater.history.commit import Commit
from headwater.history.commits import CommitStore
from headwater.history.errors import BadExpression, NotFound
from headwater.history.limits import MAX_EXPRESSION, MAX_TIME, MIN_PREFIX
from headwater.history.lineage import as_of, nth_ancestor
from headwater.history.names import NAME_RULE, is_name

ResolveName: TypeAlias = Callable[[str], Awaitable[str | None]]
"""The id of the commit that a branch or tag of this name points at; None if there is none."""


class Ancestor(msgspec.Struct, frozen=True):
    """`~n`"""

    n: int


class Parent(msgspec.Struct, frozen=True):
    """`^n`"""

    n: int


class Committed(msgspec.Struct, frozen=True):
    """`@`"""


class AsOf(msgspec.Struct, frozen=True):
    """`@{time}`"""

    time: int
    """Milliseconds since 1970."""


Step: TypeAlias = Ancestor | Parent | Committed | AsOf


class Expression(msgspec.Struct, frozen=True):
    """An expression taken apart. Without steps it is a mere name, and of a branch also means what is staged."""

    text: str
    name: str
    steps: tuple[Step, ...] = ()
    ends: tuple[int, ...] = ()
    """Where in *text* each step ends, so that an error can name how far it got."""


_COMMIT_ID = re.compile(r"[0-9a-f]{64}")
_PREFIX = re.compile(rf"[0-9a-f]{{{MIN_PREFIX},64}}")
_BASE = re.compile(r"[^~^@]*")
_NUMBER = re.compile(r"[0-9]*")
_EPOCH = re.compile(r"[0-9]+(\.[0-9]*)?")
_1970 = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_MAX_DIGITS = 18
_MILLISECONDS_FROM = 10**11
"""An epoch as large as this is in milliseconds: in seconds it would be the year 5138, in milliseconds it is 1973."""


def parse(text: str) -> Expression:
    """Take *text* apart. Raises `BadExpression`, which tells where it went wrong."""
    if len(text) > MAX_EXPRESSION:
        raise BadExpression(text, MAX_EXPRESSION, f"an expression has at most {MAX_EXPRESSION} characters")
    found = _BASE.match(text)
    name = found.group() if found else ""
    if not (is_name(name) or _COMMIT_ID.fullmatch(name)):
        raise BadExpression(text, 0, f"expected a branch, tag or commit id; {NAME_RULE}")
    steps: list[Step] = []
    ends: list[int] = []
    place = len(name)
    while place < len(text):
        step, place = _step(text, place, first=not steps)
        steps.append(step)
        ends.append(place)
    return Expression(text, name, tuple(steps), tuple(ends))


async def resolve(commits: CommitStore, expression: Expression, resolve_name: ResolveName) -> Commit:
    """The commit that *expression* leads to. Raises `NotFound` or `AmbiguousPrefix`.

    A whole id is looked up as one, anything else as a name first and then as the beginning of an id: who names a branch
    `cafe` means the branch.
    """
    commit = await commits.get(await _base(commits, expression.name, resolve_name))
    for step, end in zip(expression.steps, expression.ends, strict=True):
        commit = await _follow(commits, commit, step, expression.text[:end])
    return commit


async def _base(commits: CommitStore, name: str, resolve_name: ResolveName) -> str:
    if _COMMIT_ID.fullmatch(name):
        return name
    identity = await resolve_name(name)
    if identity is not None:
        return identity
    if not _PREFIX.fullmatch(name):
        raise NotFound(f"there is no branch or tag {name!r}, and no commit id begins so")
    try:
        return await commits.resolve_prefix(name)
    except NotFound:
        raise NotFound(f"there is no branch, tag or commit {name!r}") from None


async def _follow(commits: CommitStore, commit: Commit, step: Step, so_far: str) -> Commit:
    match step:
        case Ancestor(n):
            if n >= commit.generation:  # no way back is longer than that
                raise NotFound(f"{so_far!r}: commit {commit.id} has fewer than {n} first-parent ancestors")
            return await nth_ancestor(commits, commit, n)
        case Parent(0) | Committed():
            return commit
        case Parent(n):
            if n > len(commit.parents):
                raise NotFound(f"{so_far!r}: commit {commit.id} has {len(commit.parents)} parents")
            return await commits.get(commit.parents[n - 1])
        case AsOf(time):
            found = await as_of(commits, commit, time)
            if found is None:
                raise NotFound(f"{so_far!r}: the history of commit {commit.id} begins later")
            return found


def _step(text: str, place: int, *, first: bool) -> tuple[Step, int]:
    """The step that begins at *place*, and where it ends."""
    match text[place]:
        case "~":
            n, end = _number(text, place + 1)
            return Ancestor(n), end
        case "^":
            n, end = _number(text, place + 1)
            return Parent(n), end
        case "@" if text.startswith("@{", place):
            end = text.find("}", place)
            if end < 0:
                raise BadExpression(text, place, "'@{' without a '}'")
            return AsOf(_time(text, place + 2, end)), end + 1
        case "@":
            if not first:
                raise BadExpression(text, place, "'@' belongs right behind a name; with a time it is '@{…}'")
            return Committed(), place + 1
        case _:
            raise BadExpression(text, place, "expected '~', '^', '@' or the end")


def _number(text: str, place: int) -> tuple[int, int]:
    found = _NUMBER.match(text, place)
    digits = found.group() if found else ""
    if len(digits) > _MAX_DIGITS:
        raise BadExpression(text, place, f"a number has at most {_MAX_DIGITS} digits")
    return int(digits or "1"), place + len(digits)


def _time(text: str, place: int, end: int) -> int:
    written = text[place:end].strip()
    try:
        time = _epoch(written) if _EPOCH.fullmatch(written) else _iso(written)
    except (ValueError, OverflowError):
        raise BadExpression(
            text, place, "expected a time, as 2024-06-01, 2024-06-01T12:00:00+02:00 or 1717200000 (UTC if not said)"
        ) from None
    if not 0 <= time <= MAX_TIME:
        raise BadExpression(text, place, "a time is after 1970 and before the year 10000")
    return time


def _epoch(written: str) -> int:
    whole, _, fraction = written.partition(".")
    if int(whole) >= _MILLISECONDS_FROM:
        return int(whole)
    return int(whole) * 1000 + int(fraction[:3].ljust(3, "0"))


def _iso(written: str) -> int:
    moment = datetime.fromisoformat(written)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _1970) // _MILLISECOND
