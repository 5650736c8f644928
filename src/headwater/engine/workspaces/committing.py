"""Committing a workspace, or a part of it: a listing, an overlay, and one swap of the branch. No byte is copied."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.engine.advance import Made, advance
from headwater.engine.commit import Check, Description, told_by_a_diff
from headwater.engine.errors import BadRequest
from headwater.engine.limits import COMMITTING, PARTIAL_COMMITS
from headwater.engine.paths import FILES, path_of
from headwater.engine.patterns import check_pattern, matching
from headwater.engine.repository import Repository
from headwater.engine.workspaces.errors import ConcurrentCommit, WorkspaceBusy
from headwater.engine.workspaces.grounds import WorkspaceGround, ground_at
from headwater.engine.workspaces.ids import WorkspaceRef
from headwater.engine.workspaces.layer import steps
from headwater.engine.workspaces.state import Phase, SeenState, State, check_not_closed, read_state, swap_state
from headwater.history import Commit, NotAnAncestor, between
from headwater.index import Index, apply, diff_batches
from headwater.index.comparing import same_rows
from headwater.index.joining import as_side
from headwater.kv import UnknownOutcome
from headwater.refs.branch import Branch
from headwater.staging.errors import NothingToCommit

WORKSPACE = "headwater-workspace"
"""The key, in the metadata of a commit, of the id of the workspace that it was made of."""

SHOWN = 10
"""Paths that an error names."""


async def commit_workspace(
    repository: Repository,
    workspace: WorkspaceRef,
    description: Description,
    *,
    patterns: Sequence[str] | None = None,
    retry: bool = False,
    check: Check | None = None,
) -> Commit:
    """Commit *workspace* to its branch: all of it, which closes it, or what matches one of *patterns*; the rest stays.

    It is a commit on what the workspace is based on. If the branch is somewhere else by now, `ConcurrentCommit`; or
    with *retry*, on top of that, unless a path was changed by both. What was acknowledged before this call is in it. If
    an earlier call landed and nobody heard of it, that is found, and what landed is not committed again. *check* may
    refuse the commit before it lands.
    """
    repository.check_writable()
    for pattern in patterns or ():
        check_pattern(pattern)
    seen = await _begin(repository, workspace)
    attempt = _Attempt(repository, workspace, seen.state, patterns, retry=retry)
    try:
        landed = await attempt.land(description, check)
    except UnknownOutcome:  # it may land yet: writers go on waiting, and whoever commits next finds out
        await _leave(repository, seen, msgspec.structs.replace(attempt.state, since=0))
        raise
    except Exception:
        await _leave(repository, seen, msgspec.structs.replace(attempt.state, phase="open"))
        raise
    phase: Phase = "closed" if patterns is None else "open"
    await _leave(repository, seen, msgspec.structs.replace(attempt.state, phase=phase))
    return landed


async def _begin(repository: Repository, workspace: WorkspaceRef) -> SeenState:
    """Have writers wait, and other committers turn back."""
    seen = await read_state(repository, workspace.id)
    check_not_closed(workspace.id, seen.state)
    now = repository.outside.now()
    if is_under_way(seen.state, now):
        raise WorkspaceBusy(f"workspace {workspace.id} is being committed: try again when that is over")
    if len(seen.state.landed) >= PARTIAL_COMMITS:
        raise BadRequest(f"workspace {workspace.id} was committed in {PARTIAL_COMMITS} parts: begin another one")
    attempt = repository.outside.random(8).hex()
    state = msgspec.structs.replace(seen.state, phase="committing", attempt=attempt, since=now)
    return await swap_state(repository, seen, state)


def is_under_way(state: State, now: int) -> bool:
    """Whether somebody is committing, and has not been about it for longer than that ever takes."""
    return state.phase == "committing" and now - state.since < COMMITTING


async def _leave(repository: Repository, seen: SeenState, state: State) -> None:
    """Say how it ended; unless somebody took it for given up, and has taken over."""
    with suppress(WorkspaceBusy):
        await swap_state(repository, seen, state)


class _Attempt:
    """One attempt to commit a workspace. *state* tells what is known to have landed of it."""

    def __init__(
        self,
        repository: Repository,
        workspace: WorkspaceRef,
        state: State,
        patterns: Sequence[str] | None,
        *,
        retry: bool,
    ) -> None:
        self.state = state
        self._repository = repository
        self._workspace = workspace
        self._patterns = patterns
        self._retry = retry

    async def land(self, description: Description, check: Check | None) -> Commit:
        """Land it, once whatever was landed unheard is accounted for."""
        metadata = {**description.metadata, WORKSPACE: self._workspace.id}
        described = msgspec.structs.replace(description, metadata=metadata)
        while True:
            try:
                landed = await self._advance(described, check)
            except _LandedUnheard as found:
                self._account_for(found.commits, unheard=found.commits[-1].id)
            except NothingToCommit:
                if not self.state.unheard:
                    raise
                landed = await self._repository.commits.get(self.state.unheard)
                self._account_for([])
                return landed
            else:
                self._account_for([landed])
                return landed

    def _account_for(self, commits: Sequence[Commit], *, unheard: str = "") -> None:
        landed = (*self.state.landed, *(commit.id for commit in commits))
        self.state = msgspec.structs.replace(self.state, landed=landed, unheard=unheard)

    async def _advance(self, description: Description, check: Check | None) -> Commit:
        repository, workspace = self._repository, self._workspace
        head = (await repository.branches.fresh(workspace.branch)).branch.commit
        ground = await ground_at(repository, workspace.id, self.state)
        await self._check_unheard(ground, head)
        changes = [await _effective(ground.index, step) for step in steps(await ground.layer.edits())]
        chosen = [step if self._patterns is None else _matching(step, self._patterns) for step in changes]
        if not any(map(len, chosen)):
            raise NothingToCommit(f"workspace {workspace.id} has no change that was to be committed")

        async def make(branch: Branch) -> Made:
            index = await repository.index_of(branch.commit)
            if branch.commit != ground.base:
                await self._check_unheard(ground, branch.commit)
                await check_apart(ground, index, changes, workspace, retry=self._retry)
            return [branch.commit], await _applied(index, chosen, workspace)

        return await advance(repository, workspace.branch, description, make, check)

    async def _check_unheard(self, ground: WorkspaceGround, head: str) -> None:
        """Raise `_LandedUnheard` if there are commits of this workspace, up to *head*, that its state does not know."""
        found = await unheard_commits(self._repository, self._workspace, ground.base, head)
        if found:
            raise _LandedUnheard(found)


async def unheard_commits(repository: Repository, workspace: WorkspaceRef, base: str, head: str) -> list[Commit]:
    """The commits of *workspace* after *base* up to *head*, oldest first: those whose landing nobody heard of."""
    found: list[Commit] = []
    if head == base:
        return found
    try:
        older, newer = await repository.commits.get_many([base, head])
        async for batch in between(repository.commits, older, newer):
            found += [commit for commit in batch if commit.metadata.get(WORKSPACE) == workspace.id]
    except NotAnAncestor:  # the branch was moved: what landed there is not on it
        return []
    return found[::-1]


class _LandedUnheard(Exception):
    def __init__(self, commits: Sequence[Commit]) -> None:
        self.commits = commits


async def _effective(base: Index, step: pa.RecordBatch) -> pa.RecordBatch:
    """Those of *step* that are a change against *base*."""
    there = await base.rows(step.column("key"))
    return step.filter(pc.invert(same_rows(there, as_side(step))))


def _matching(step: pa.RecordBatch, patterns: Sequence[str]) -> pa.RecordBatch:
    return step.filter(matching(pc.utf8_slice_codeunits(step.column("key"), len(FILES)), patterns))


async def check_apart(
    ground: WorkspaceGround, head: Index, changes: Sequence[pa.RecordBatch], workspace: WorkspaceRef, *, retry: bool
) -> None:
    """Raise `ConcurrentCommit` unless it is to be tried again and no path was changed by both.

    All that the workspace changes counts, also what is not committed now: the rest is then based on this commit.
    """
    if not retry:
        raise ConcurrentCommit(
            f"branch {workspace.branch!r} is not at {ground.base} any more, where workspace {workspace.id} began: "
            "commit with retry=True to have it on top of what is there now"
        )
    apart = [await _effective(head, step) for step in changes]  # what both made equal is no clash
    ours = pa.chunked_array([step.column("key") for step in apart], pa.string())
    both: list[str] = []
    count = 0
    async for differences in diff_batches(ground.index, head):
        clashing = differences.keys.filter(pc.is_in(differences.keys, value_set=ours))
        both += [path_of(key) for key in clashing.slice(0, SHOWN - len(both)).to_pylist()]
        count += len(clashing)
    if count:
        raise ConcurrentCommit(
            f"{count} path(s) were changed on branch {workspace.branch!r} and in workspace {workspace.id}, "
            f"as {', '.join(map(repr, both[:3]))}: revert them in the workspace, or write them anew in another one",
            both,
        )


async def _applied(index: Index, changes: Sequence[pa.RecordBatch], workspace: WorkspaceRef) -> Index:
    """*index* with *changes*, which are told by a diff if they are too many to be applied at once."""
    changed, applied = 0, 0
    for step in changes:
        if len(step):
            index = await apply(index, step)
            changed += index.record.own_count
            applied += 1
    if not changed:
        raise NothingToCommit(f"branch {workspace.branch!r} has all that is in workspace {workspace.id} already")
    return index if applied == 1 else told_by_a_diff(index)
