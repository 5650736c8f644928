"""The history of a reference, all of it or of some paths; and all commits that there are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import partial

from headwater.drive import together
from headwater.engine.looking import commit_of
from headwater.engine.paths import key_of, prefix_of
from headwater.engine.repository import Repository
from headwater.history import Commit, LogPage, all_parents, first_parent
from headwater.history import log as history_log
from headwater.history.commit import decode as decode_commit
from headwater.index import diff
from headwater.kv.limits import MAX_PAGE

_COMMITS = b"commit/"


async def log(
    repository: Repository,
    ref: str,
    *,
    after: str = "",
    amount: int = 100,
    paths: Sequence[str] = (),
    first_parents: bool = True,
    since: int | None = None,
    until: int | None = None,
    stop_at: str | None = None,
) -> LogPage:
    """A page of commits, newest first. Of *paths*, those that end in a slash are prefixes: only commits that changed
    something there are shown, which costs their own changes and no tree."""
    stop = frozenset() if stop_at is None else frozenset({(await commit_of(repository, stop_at)).id})
    return await history_log(
        repository.commits,
        await commit_of(repository, ref),
        after=after,
        amount=amount,
        lineage=first_parent if first_parents else all_parents,
        since=since,
        until=until,
        stop_at=stop,
        touched=partial(_touched, repository, paths) if paths else None,
    )


async def all_commits(repository: Repository) -> AsyncIterator[Commit]:
    """Every commit that there is a record of, in no order: also of branches that are gone, and what never landed."""
    async for page in repository.store.scan(repository.partition, _COMMITS, page=MAX_PAGE):
        for entry in page:
            if not entry.key.startswith(_COMMITS):
                return
            yield decode_commit(entry.key.removeprefix(_COMMITS).hex(), entry.value)


async def _touched(repository: Repository, paths: Sequence[str], commits: Sequence[Commit]) -> Sequence[bool]:
    keys = frozenset(key_of(path) for path in paths if not path.endswith("/"))
    prefixes = tuple(prefix_of(path) for path in paths if path.endswith("/"))
    verdicts = [touches_itself(repository, commit, keys, prefixes) for commit in commits]
    unsure = [commit for commit, verdict in zip(commits, verdicts, strict=True) if verdict is None]
    if unsure:
        told = iter(await together([partial(touches, repository, commit, keys, prefixes) for commit in unsure]))
        return [next(told) if verdict is None else verdict for verdict in verdicts]
    return [bool(verdict) for verdict in verdicts]


def touches_itself(
    repository: Repository, commit: Commit, keys: frozenset[str], prefixes: tuple[str, ...]
) -> bool | None:
    """What `touches` answers, if the record of *commit* tells; else None."""
    own = repository.own_keys(commit)
    if own is None:
        return None
    return not keys.isdisjoint(own) or (bool(prefixes) and any(key.startswith(prefixes) for key in own))


async def touches(repository: Repository, commit: Commit, keys: frozenset[str], prefixes: tuple[str, ...] = ()) -> bool:
    """Whether *commit* changed something at one of *keys* or under one of *prefixes*, against its first parent."""
    told = touches_itself(repository, commit, keys, prefixes)
    if told is not None:
        return told
    index = await repository.index_of(commit.id)
    parent = await repository.index_of(commit.parents[0]) if commit.parents else repository.empty_index()
    for key in keys:
        if any(change.key == key for change in await diff(parent, index, prefix=key, amount=1)):
            return True
    for prefix in prefixes:
        if await diff(parent, index, prefix=prefix, amount=1):
            return True
    return False
