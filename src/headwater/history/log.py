"""The log: the history of a commit, newest first, in pages that cost what they hold and not what came before."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeAlias

import msgspec

from headwater.history.commit import Commit
from headwater.history.commits import CommitStore
from headwater.history.errors import BadCursor, LimitExceeded
from headwater.history.frontier import Frontier, Lineage, first_parent
from headwater.history.limits import LOG_BATCH, MAX_LOG_EXAMINED, MAX_LOG_PAGE
from headwater.history.lineage import as_of

Touched: TypeAlias = Callable[[Sequence[Commit]], Awaitable[Sequence[bool]]]
"""Which of some commits a log is to show, as those that touch certain paths. Asked about a batch at a time, so that
what is costly to find out is found out side by side; the commits come with their own changes, so it seldom is."""


_CURSOR = re.compile(r"[0-9a-f]{64}(,[0-9a-f]{64})*")


class LogPage(msgspec.Struct, frozen=True):
    """Some commits of a log, and what to pass as `after` for those that follow; None at the end.

    A page may hold fewer than were asked for, or none, before the end: a filtered log does not look for ever.
    """

    commits: tuple[Commit, ...]
    after: str | None


async def log(
    commits: CommitStore,
    start: Commit,
    *,
    after: str = "",
    amount: int = LOG_BATCH,
    lineage: Lineage = first_parent,
    since: int | None = None,
    until: int | None = None,
    stop_at: AbstractSet[str] = frozenset(),
    touched: Touched | None = None,
) -> LogPage:
    """At most *amount* commits: *start* and its ancestors, or those that follow the page that gave *after*.

    The log follows first parents unless *lineage* says otherwise, and comes in the order of `newest_first`, each commit
    once. It does not go on behind a commit older than *since* (which is not shown) or one of *stop_at* (which is), and
    leaves out what is younger than *until*. In a first-parent log *after* is the id of the last commit seen.

    One scan and one `get_many` for the page; in a filtered log, for each hundred commits looked at. Nothing for what is
    cached. Crossing from one incarnation to the next makes the scan a `get_many`, and costs no trip more.
    """
    if not 1 <= amount <= MAX_LOG_PAGE:
        raise LimitExceeded(f"amount={amount}: a page of a log has 1 to {MAX_LOG_PAGE} commits")
    onward = _bounded(lineage, since, stop_at)
    batch_size = amount if until is None and touched is None else LOG_BATCH
    frontier = Frontier(commits, onward, batch_size)
    passed: Commit | None = None
    if after:
        passed = await _resume(commits, frontier, after)
    elif (newest := await _youngest(commits, start, until, lineage)) is not None:
        frontier.add(newest)
    shown: list[Commit] = []
    batch: list[Commit] = []
    for _ in range(max(1, MAX_LOG_EXAMINED // batch_size)):
        batch = await _advance(frontier, passed, batch_size)
        places = await _chosen(batch, since, until, touched)
        room = amount - len(shown)
        shown += [batch[place] for place in places[:room]]
        if len(places) >= room:
            place = places[room - 1]
            return LogPage(tuple(shown), _cursor(batch[place], batch[place + 1 :], frontier, onward))
        if len(batch) < batch_size:
            return LogPage(tuple(shown), None)
        passed = batch[-1]
    return LogPage(tuple(shown), _cursor(batch[-1], (), frontier, onward))


def _bounded(lineage: Lineage, since: int | None, stop_at: AbstractSet[str]) -> Lineage:
    """*lineage*, but for commits that the log does not go on behind."""

    def onward(commit: Commit) -> Sequence[str]:
        ends = commit.id in stop_at or (since is not None and commit.time < since)
        return () if ends else lineage(commit)

    return onward


async def _youngest(commits: CommitStore, start: Commit, until: int | None, lineage: Lineage) -> Commit | None:
    """Where to begin: along first parents what is younger than *until* is leapt over, not walked through."""
    return start if until is None or lineage is not first_parent else await as_of(commits, start, until)


async def _advance(frontier: Frontier, passed: Commit | None, amount: int) -> list[Commit]:
    """The next *amount* commits behind *passed*. The parents of the last one are left for later, and not fetched."""
    batch: list[Commit] = []
    while len(batch) < amount:
        following = None if passed is None else frontier.follow(passed)
        if following is None:
            if passed is not None:
                await frontier.add_parents(passed)
            if not frontier:
                break
            following = frontier.pop()
        batch.append(following)
        passed = following
    return batch


async def _chosen(
    batch: Sequence[Commit], since: int | None, until: int | None, touched: Touched | None
) -> Sequence[int]:
    """The places in *batch* of the commits to be shown."""
    places = [
        place
        for place, commit in enumerate(batch)
        if (since is None or commit.time >= since) and (until is None or commit.time <= until)
    ]
    if touched is None or not places:
        return places
    verdicts = await touched([batch[place] for place in places])
    return [place for place, verdict in zip(places, verdicts, strict=True) if verdict]


def _cursor(passed: Commit, ahead: Sequence[Commit], frontier: Frontier, onward: Lineage) -> str | None:
    """What is still to come, in as few ids as say it: *passed*, whose parents come, then what they do not lead to.

    *ahead* was taken from the frontier and belongs to the next page.
    """
    reached = {parent for commit in (passed, *ahead) for parent in onward(commit)}
    others = {commit.id for commit in (*ahead, *frontier.waiting)} - reached
    if not others and not onward(passed):
        return None
    return ",".join([passed.id, *sorted(others)])


async def _resume(commits: CommitStore, frontier: Frontier, after: str) -> Commit:
    if _CURSOR.fullmatch(after) is None:
        raise BadCursor(f"after={after[:80]!r}: give what came with the page before, or the id of a commit")
    passed, *others = await commits.get_many(after.split(","))
    for commit in others:
        frontier.add(commit)
    return passed
