"""The commits that touched a path, along first parents: at the cost of the touches, however many commits there are."""

from __future__ import annotations

from collections.abc import AsyncIterator

from headwater.engine.log import log, touches
from headwater.engine.looking import commit_of
from headwater.engine.paths import key_of
from headwater.engine.repository import Repository
from headwater.engine.touches import touches_within
from headwater.files.limits import HISTORY_PAGE
from headwater.history import Commit, LogPage
from headwater.history.lineage import first_parent_spans


async def path_history(
    repository: Repository, ref: str, path: str, *, after: str = "", amount: int = HISTORY_PAGE
) -> LogPage:
    """A page of the commits that changed *path* against their first parent, newest first; *after* as in a log.

    In an append repository two scans for each incarnation of the branch, and a `get_many`. One of objects has no index
    of touches: there it is a log that is filtered.
    """
    if not repository.grows:
        return await log(repository, ref, after=after, amount=amount, paths=[path])
    start = await repository.commits.get(after) if after else await commit_of(repository, ref)
    found: list[str] = []
    async for identity in _touching(repository, start, key_of(path), itself=not after):
        found.append(identity)
        if len(found) == amount:
            break
    commits = tuple(await repository.commits.get_many(found)) if found else ()
    return LogPage(commits, found[-1] if len(found) == amount else None)


async def _touching(repository: Repository, start: Commit, key: str, *, itself: bool) -> AsyncIterator[str]:
    """The ids of those first-parent ancestors of *start* that changed *key*. Of *start* the index need not know."""
    if itself and await touches(repository, start, frozenset({key})):
        yield start.id
    async for span in first_parent_spans(repository.commits, start):
        async for touch in touches_within(repository, key, span):
            if touch.commit == start.id:
                continue
            if touch.perhaps:
                commit = await repository.commits.get(touch.commit)
                if not await touches(repository, commit, frozenset({key})):
                    continue
            yield touch.commit
