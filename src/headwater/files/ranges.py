"""What a range of commits added to a file: the file as it is at the end, without what it was at the beginning.

A file at a commit begins with all that it was at an earlier one, unless something cut it in between, and marks tell
which: so no commit in between is looked at, and no index of them is needed.
"""

from __future__ import annotations

from headwater.engine.errors import PathNotFound
from headwater.engine.looking import Ground, commit_of, look
from headwater.engine.paths import key_of
from headwater.engine.read import Reading, content
from headwater.engine.repository import Repository
from headwater.engine.weaving import begins_with
from headwater.history import Commit, NotAnAncestor, is_ancestor
from headwater.index import Entry


async def read_file(repository: Repository, path: str, *, since: str | None, until: str) -> Reading:
    """The bytes that were added to *path* after the commit *since*, an ancestor, up to *until*; else all of them.

    If the file was put or deleted in between, those of what came after. Of a branch, *until* includes what is staged on
    it. `PathNotFound` if there is nothing at the end, `NotAnAncestor` if *since* did not lead there.
    """
    key = key_of(path)
    older = None if since is None else await commit_of(repository, since)

    async def added(ground: Ground) -> tuple[Entry | None, int]:
        if older is not None:
            await _check_ancestor(repository, older, await repository.commits.get(ground.commit))
        entry = await ground.get(key)
        if entry is None or older is None:
            return entry, 0
        before = await (await repository.index_of(older.id)).get(key)
        if before is None or not await begins_with(repository.block_lists, entry, before):
            return entry, 0
        return entry, before.size

    entry, start = await look(repository, until, "get", added)
    if entry is None:
        raise PathNotFound(f"there is nothing at {path!r} in {until!r} of repository {repository.name!r}")
    if start == entry.size:
        return content(repository, entry, end=0)
    return content(repository, entry, start=start)


async def _check_ancestor(repository: Repository, older: Commit, newer: Commit) -> None:
    if not await is_ancestor(repository.commits, older, newer):
        raise NotAnAncestor(f"commit {older.id} is not in the history of commit {newer.id}: there is no range")
