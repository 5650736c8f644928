"""The first-parent history of a commit: what a branch has been. Clocks tell where it all is, so nothing is walked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from headwater.history import clock
from headwater.history.clock import Component, Span
from headwater.history.commit import Commit
from headwater.history.commits import CommitStore
from headwater.history.errors import CorruptClock, NoSuchAncestor, NotAnAncestor
from headwater.history.limits import LOG_BATCH


async def is_first_parent_ancestor(commits: CommitStore, older: Commit, newer: Commit) -> bool:
    """Whether *older* is *newer* or in its first-parent history. Both have landed. No trip, as a rule.

    Three trips for every 32 incarnations by which *newer* is ahead.
    """
    while (told := clock.is_ancestor(older.clock, newer.clock)) is None:
        newer = await _beyond(commits, newer)
    return told


async def has_landed(commits: CommitStore, commit: Commit, head: Commit) -> bool:
    """Whether *commit* is in the first-parent history of the landed *head*; it may have lost a race. A trip or none.

    Commits that race have the same clock, so the clock is not enough: the index names the one that won.
    """
    if commit.id == head.id:
        return True
    if not await is_first_parent_ancestor(commits, commit, head):
        return False
    return await commits.clocks.at(commit.clock.last) == commit.id


async def nth_ancestor(commits: CommitStore, commit: Commit, n: int) -> Commit:
    """The commit *n* first parents back; 0 is *commit*. Two trips at any distance. Raises `NoSuchAncestor`.

    Three trips more for every 32 incarnations in between.
    """
    if n == 0:
        return commit
    left = n
    while True:
        for component in reversed(commit.clock.components):
            if left <= component.n:
                return await commits.at(Component(component.incarnation, component.n - left))
            left -= component.n + 1
        if not commit.clock.dropped:
            raise NoSuchAncestor(f"commit {commit.id} has {n - left - 1} first-parent ancestors, not {n}")
        commit = await _beyond(commits, commit)


async def as_of(commits: CommitStore, commit: Commit, time: int) -> Commit | None:
    """The newest of *commit* and its first-parent ancestors that was there at *time*; None if none was.

    It takes about 4 log2(n) trips to get n commits back, because it trusts that times do not run backwards along a
    history. Where they do, since somebody set them by hand, it is some commit not younger than *time* whose child is.
    """
    if commit.time <= time:
        return commit
    near, step = commit, 1
    while (far := await _ancestor_if_any(commits, near, step)) is not None and far.time > time:
        near, step = far, step * 2
    # what is sought is more than 0 and at most `step` behind `near`
    low, found = 0, far
    while step - low > 1:
        middle = (low + step) // 2
        probe = await _ancestor_if_any(commits, near, middle)
        if probe is not None and probe.time > time:
            low = middle
        else:
            step, found = middle, probe
    return found


async def between(commits: CommitStore, older: Commit, newer: Commit) -> AsyncIterator[Sequence[Commit]]:
    """The commits after *older* up to and including *newer*, newest first, in batches. Raises `NotAnAncestor`.

    One scan for each incarnation in between, and one `get_many` for each hundred commits.
    """
    if not await is_first_parent_ancestor(commits, older, newer):
        raise NotAnAncestor(f"commit {older.id} is not in the first-parent history of commit {newer.id}")
    if older.id == newer.id:
        return
    last = newer
    yield [newer]
    async for identities in _indexed_between(commits, older, newer):
        for start in range(0, len(identities), LOG_BATCH):
            batch = await commits.get_many(identities[start : start + LOG_BATCH])
            last = _checked_chain(last, batch)
            yield batch
    if last.parents[:1] != (older.id,):
        raise CorruptClock(f"the clock index lacks the parent of commit {last.id}: check the repository")


async def first_parent_spans(commits: CommitStore, commit: Commit) -> AsyncIterator[Span]:
    """Where *commit* and all its first-parent ancestors stand, newest first. Three trips for every 32 incarnations."""
    while True:
        for span in clock.history(commit.clock):
            yield span
        if not commit.clock.dropped:
            return
        commit = await _beyond(commits, commit)


async def _indexed_between(commits: CommitStore, older: Commit, newer: Commit) -> AsyncIterator[list[str]]:
    while True:
        for span in clock.between(older.clock, newer.clock):
            async for identities in commits.clocks.scan(span):
                yield identities
        if clock.is_ancestor(older.clock, newer.clock) is not None:
            return
        newer = await _beyond(commits, newer)
        if newer.id == older.id:
            return
        yield [newer.id]


async def _beyond(commits: CommitStore, commit: Commit) -> Commit:
    """The newest first-parent ancestor of which the clock of *commit* says nothing any more."""
    oldest = await commits.at(Component(commit.clock.components[0].incarnation, 0))
    return await commits.get(oldest.parents[0])


async def _ancestor_if_any(commits: CommitStore, commit: Commit, n: int) -> Commit | None:
    try:
        return await nth_ancestor(commits, commit, n)
    except NoSuchAncestor:
        return None


def _checked_chain(last: Commit, batch: Sequence[Commit]) -> Commit:
    """The end of *batch*, each commit of which must be the first parent of the one before."""
    for commit in batch:
        if last.parents[:1] != (commit.id,):
            raise CorruptClock(
                f"the clock index has commit {commit.id} as the parent of {last.id}: check the repository"
            )
        last = commit
    return last
