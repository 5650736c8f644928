"""Asking for one thing by its name: a branch, a tag, a commit, or the commits between two."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from headwater.engine.looking import commit_of
from headwater.engine.repository import Repository
from headwater.history import Commit, Tag
from headwater.history import between as history_between
from headwater.refs.branch import Branch
from headwater.refs.errors import RefNotFound
from headwater.refs.tags import find_tag


async def get_branch(repository: Repository, name: str) -> Branch:
    """The branch *name* as it is now, or `RefNotFound`. One trip."""
    return (await repository.branches.fresh(name)).branch


async def get_tag(repository: Repository, name: str) -> Tag:
    """The tag *name*, or `RefNotFound`. One trip."""
    tag = await find_tag(repository.store, repository.partition, name)
    if tag is None:
        raise RefNotFound(f"there is no tag {name!r}")
    return tag


async def get_commit(repository: Repository, ref: str) -> Commit:
    """The commit that *ref* means, or `RefNotFound`. The trips of finding what it means, and at most one more."""
    return await commit_of(repository, ref)


async def between(repository: Repository, older: str, newer: str) -> AsyncIterator[Sequence[Commit]]:
    """The commits after *older* up to and including *newer*, newest first, in batches.

    *older* must be in the first-parent history of *newer*. One scan for each incarnation in between, and one `get_many`
    for each hundred commits.
    """
    first, last = await commit_of(repository, older), await commit_of(repository, newer)
    async for batch in history_between(repository.commits, first, last):
        yield batch
