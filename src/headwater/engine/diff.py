"""What is different: between two commits, and between a branch's head and what is staged on it."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.engine.looking import Ground, commit_of, ground_of, look
from headwater.engine.paths import after_of, prefix_of
from headwater.engine.repository import Repository
from headwater.engine.workspaces.ids import workspace_of
from headwater.history import merge_base
from headwater.index import TOMBSTONE, Change, CommonPrefix, Edit, Index, Layer, diff_overlays
from headwater.index import diff as diff_indexes
from headwater.refs.branch import Branch
from headwater.staging.viewing import view

Differences = list[Change | CommonPrefix]


async def diff(
    repository: Repository,
    left: str,
    right: str,
    *,
    three_dot: bool = False,
    prefix: str = "",
    delimiter: str = "",
    after: str = "",
    amount: int = 1000,
) -> Differences:
    """A page of what is different on the way from *left* to *right*, both as committed.

    *three_dot* compares *right* with where the two parted, so it shows what right did, whatever left did since.
    """
    one, other = await commit_of(repository, left), await commit_of(repository, right)
    before = await repository.index_of(one.id)
    if three_dot:
        base = await merge_base(repository.commits, one, other)
        before = repository.empty_index() if base is None else await repository.index_of(base.id)
    return await diff_indexes(
        before,
        await repository.index_of(other.id),
        prefix=prefix_of(prefix),
        delimiter=delimiter,
        after=after_of(after),
        amount=amount,
    )


async def uncommitted(
    repository: Repository,
    branch: str,
    *,
    prefix: str = "",
    delimiter: str = "",
    after: str = "",
    amount: int = 1000,
) -> Differences:
    """A page of what is staged on *branch* and different from its head. A clean branch is not looked into.

    Of a workspace, `branch+id`, what is in it and different from what it is based on.
    """

    async def changes(record: Branch) -> Differences:
        if record.clean:
            return []
        head = await repository.index_of(record.commit)
        overlays: Sequence[Layer] = (await ground_of(repository, branch, record, "diff")).overlays
        if record.base:
            overlays = [*overlays, ChangesLayer(head, await repository.index_of(record.base))]
        return await diff_overlays(
            head,
            overlays,
            prefix=prefix_of(prefix),
            delimiter=delimiter,
            after=after_of(after),
            amount=amount,
        )

    async def changes_of_workspace(ground: Ground) -> Differences:
        return await diff_overlays(
            ground.index,
            ground.overlays,
            prefix=prefix_of(prefix),
            delimiter=delimiter,
            after=after_of(after),
            amount=amount,
        )

    if workspace_of(branch) is not None:
        return await look(repository, branch, "diff", changes_of_workspace)
    return await view(repository.branches, repository.outside, branch, changes)


class ChangesLayer:
    """What makes *left* into *right*, as a `Layer`."""

    def __init__(self, left: Index, right: Index) -> None:
        self._left = left
        self._right = right

    async def read(self, start: str, amount: int) -> list[tuple[str, Edit]]:
        """See `Layer`. A diff goes on after a key, and a layer begins at one: the key itself is looked up."""
        edits: list[tuple[str, Edit]] = []
        if start:
            there = await diff_indexes(self._left, self._right, prefix=start, amount=1)
            edits += [(change.key, change.right or TOMBSTONE) for change in _plain(there) if change.key == start]
        found = await diff_indexes(self._left, self._right, after=start, amount=amount)
        return edits + [(change.key, change.right or TOMBSTONE) for change in _plain(found)]


def _plain(found: Differences) -> list[Change]:
    return [change for change in found if isinstance(change, Change)]
