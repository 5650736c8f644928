"""What a reference means to a reader: the index of a commit, and, on a branch, what is staged on top of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import msgspec

from headwater.engine.folding import FoldedLayer
from headwater.engine.repository import Repository
from headwater.engine.workspaces.grounds import ground_of_workspace
from headwater.engine.workspaces.ids import WorkspaceRef, workspace_of
from headwater.engine.workspaces.layer import WorkspaceLayer
from headwater.history import Commit, NotFound, is_name, parse, resolve
from headwater.index import Edit, Entry, Index, Layer
from headwater.refs.branch import Branch, is_hidden
from headwater.refs.errors import RefNotFound
from headwater.refs.tags import find_tag
from headwater.staging.staged import layers_of
from headwater.staging.viewing import tokens_to_read, view

Answer = TypeVar("Answer")


class Overlay(Layer, Protocol):
    """What is staged, as a layer that single keys can be looked up in."""

    passed: int

    async def get(self, key: str) -> Edit | None:
        """What it says of *key*, if anything."""


class Ground(msgspec.Struct, frozen=True):
    """What a reader sees: *overlays*, the newest first, on an index. They are what is staged under *tokens*."""

    index: Index
    overlays: tuple[Overlay, ...] = ()
    tokens: tuple[str, ...] = ()
    """The oldest first."""

    commit: str = ""
    """The committed head that all this is on top of."""

    workspace: WorkspaceLayer | None = None
    """The workspace that the overlay is, if it is one."""

    async def get(self, key: str) -> Entry | None:
        for overlay in self.overlays:
            if (edit := await overlay.get(key)) is not None:
                return edit if isinstance(edit, Entry) else None
        return await self.index.get(key)


async def look(
    repository: Repository, ref: str, operation: str, question: Callable[[Ground], Awaitable[Answer]]
) -> Answer:
    """The answer to *question* about what *ref* means: a branch with what is staged, a workspace, or a commit.

    On a clean branch one read of its record and none of staging; on a commit's id no read at all. *operation* is what
    metrics call it.
    """
    if (index := repository.known_index(ref)) is not None:
        return await question(Ground(index, commit=ref))
    if (workspace := workspace_of(ref)) is not None:
        return await question(await _ground_of_workspace(repository, workspace))
    if is_name(ref) or is_hidden(ref):
        try:
            return await look_at_branch(repository, ref, operation, question)
        except RefNotFound:
            pass
    commit = await commit_of(repository, ref)
    return await question(Ground(await repository.index_of(commit.id), commit=commit.id))


async def _ground_of_workspace(repository: Repository, workspace: WorkspaceRef) -> Ground:
    found = await ground_of_workspace(repository, workspace.id)
    return Ground(found.index, (found.layer,), commit=found.base, workspace=found.layer)


async def look_at_branch(
    repository: Repository, name: str, operation: str, question: Callable[[Ground], Awaitable[Answer]]
) -> Answer:
    """`look` at a branch, or `RefNotFound`."""

    async def answer(branch: Branch) -> Answer:
        return await question(await ground_of(repository, name, branch, operation))

    return await view(repository.branches, repository.outside, name, answer)


async def ground_of(repository: Repository, name: str, branch: Branch, operation: str) -> Ground:
    """What one record of a branch says, as a ground to read on."""
    if not repository.dirty_read_optimization:
        branch = msgspec.structs.replace(branch, dirty=True)
    tokens = tokens_to_read(branch)
    metrics, dirty = repository.metrics, "true" if branch.dirty else "false"
    metrics.count("graveler_branch_reads_total", repo=repository.name, branch=name, op=operation, dirty=dirty)
    if tokens:
        metrics.count("graveler_staging_read_attempts_total", repo=repository.name, branch=name, op=operation)
    index = await repository.index_of(branch.base or branch.commit)
    oldest_first = tokens[::-1]
    overlays: tuple[Overlay, ...] = layers_of(repository.store, tokens)
    if repository.grows and tokens:
        overlays = (FoldedLayer(repository.store, oldest_first, index, repository.block_lists),)
    return Ground(index, overlays, oldest_first, branch.commit)


async def commit_of(repository: Repository, ref: str) -> Commit:
    """The commit that *ref* means: a branch's head, a tag's target, an id or its prefix, with any steps behind it.

    Of a workspace, what it is based on.
    """

    async def resolve_name(name: str) -> str | None:
        seen = await repository.branches.find(name)
        if seen is not None and not seen.branch.dropped:
            return seen.branch.commit
        tag = await find_tag(repository.store, repository.partition, name)
        return None if tag is None else tag.target

    if (workspace := workspace_of(ref)) is not None:
        return await repository.commits.get((await ground_of_workspace(repository, workspace.id)).base)
    try:
        return await resolve(repository.commits, parse(ref), resolve_name)
    except NotFound as error:
        raise RefNotFound(str(error)) from error
