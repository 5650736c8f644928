"""Branches: created, listed, deleted, reset; and what is brought to one from elsewhere."""

from __future__ import annotations

from typing import Literal

import msgspec

from headwater.actions import Occasion
from headwater.engine import branches, merge, reset
from headwater.engine.commit import Description
from headwater.engine.diff import uncommitted
from headwater.engine.errors import BadRequest
from headwater.engine.looking import commit_of
from headwater.refs.branch import Branch
from headwater.server.api.answers import Commit, Page, PageQuery, Ref, commit_answer, page_of, size_of
from headwater.server.api.calling import Call
from headwater.server.api.commits import committing
from headwater.server.api.differences import Diff, detailed_answer, difference_answer, offset_of
from headwater.server.api.operation import BRANCH, REPOSITORY, Group, Needs, needs
from headwater.server.limits import DEFAULT_PAGE

group = Group("branches")
experimental = Group("experimental")

_NEW = "arn:lakefs:fs:::repository/{repository}/branch/{body.name}"


class BranchCreation(msgspec.Struct, frozen=True):
    """A branch to be, at the commit *source*. A *hidden* one is made all the same, and is listed."""

    name: str
    source: str
    force: bool = False
    hidden: bool = False


class ForceQuery(msgspec.Struct, frozen=True):
    """Clients may pass *force* for a repository that takes no writes; it takes none all the same."""

    force: bool = False


class ResetCreation(msgspec.Struct, frozen=True):
    """What of the staged is to be given up: all of it, what is under a prefix, or one object."""

    type: Literal["object", "common_prefix", "reset", "staged"]
    path: str = ""
    force: bool = False


class HardResetQuery(msgspec.Struct, frozen=True):
    """The commit that the branch is to stand at, and whether what is staged may be given up."""

    ref: str
    force: bool = False


class CommitOverrides(msgspec.Struct, frozen=True):
    """What a commit is to say instead of what it would."""

    message: str | None = None
    metadata: dict[str, str] | None = None


class RevertCreation(msgspec.Struct, frozen=True):
    """The commit to undo; of a merge, against which parent, from 1."""

    ref: str
    parent_number: int = 0
    commit_overrides: CommitOverrides | None = None
    force: bool = False
    allow_empty: bool = False


class CherryPickCreation(msgspec.Struct, frozen=True):
    """The commit to do again; of a merge, against which parent, from 1."""

    ref: str
    parent_number: int | None = None
    commit_overrides: CommitOverrides | None = None
    force: bool = False


class DiffQuery(msgspec.Struct, frozen=True):
    """Which page of what is different."""

    prefix: str = ""
    delimiter: str = ""
    after: str = ""
    amount: int = DEFAULT_PAGE
    details: bool = False


class BranchListQuery(PageQuery, frozen=True):
    """Which page of branches."""

    show_hidden: bool = False


def branch_answer(found: tuple[str, Branch]) -> Ref:
    name, branch = found
    return Ref(name, branch.commit)


@group.operation("GET", "/repositories/{repository}/branches", "listBranches", needs("fs:ListBranches", REPOSITORY))
async def list_branches(call: Call, query: BranchListQuery) -> Page[Ref]:
    """List branches"""
    repository = await call.repository()
    found = await branches.list_branches(repository, prefix=query.prefix, after=query.after, amount=query.size + 1)
    return page_of(found, query.size, branch_answer, lambda each: each[0])


@group.operation(
    "POST",
    "/repositories/{repository}/branches",
    "createBranch",
    (Needs("fs:CreateBranch", _NEW),),
    status=201,
)
async def create_branch(call: Call, body: BranchCreation) -> str:
    """Create a branch. Answers with the id of its commit"""
    repository = await call.repository()
    source = await commit_of(repository, body.source)
    async with call.around(repository, Occasion("create-branch", branch=body.name, commit=source.id)):
        created = await branches.create_branch(repository, body.name, source.id, by=call.caller.name)
    return created.commit


@group.operation("GET", "/repositories/{repository}/branches/{branch}", "getBranch", needs("fs:ReadBranch", BRANCH))
async def get_branch(call: Call) -> Ref:
    """A branch and its last commit"""
    repository = await call.repository()
    seen = await repository.branches.fresh(call["branch"])
    return Ref(seen.name, seen.branch.commit)


@group.operation(
    "DELETE",
    "/repositories/{repository}/branches/{branch}",
    "deleteBranch",
    needs("fs:DeleteBranch", BRANCH),
    status=204,
)
async def delete_branch(call: Call, query: ForceQuery) -> None:  # noqa: ARG001  (clients may say it)
    """Delete a branch, and what is staged on it"""
    repository = await call.repository()
    name = call["branch"]
    if name == repository.record.default_branch:
        raise BadRequest(f"{name!r} is the default branch of {repository.name!r}, which cannot be deleted")
    async with call.around(repository, Occasion("delete-branch", branch=name)):
        await branches.delete_branch(repository, name, by=call.caller.name)


@group.operation(
    "PUT", "/repositories/{repository}/branches/{branch}", "resetBranch", needs("fs:RevertBranch", BRANCH), status=204
)
async def reset_branch(call: Call, body: ResetCreation) -> None:
    """Give up what is staged"""
    repository = await call.repository()
    name = call["branch"]
    if body.type in ("object", "common_prefix") and not body.path:
        raise BadRequest(f"path: say which, for a reset of type {body.type}")
    await call.services.rules.check_stageable(repository, name)
    match body.type:
        case "object":
            await reset.reset_path(repository, name, body.path)
        case "common_prefix":
            await reset.reset_prefix(repository, name, body.path)
        case _:
            await reset.reset(repository, name)


@experimental.operation(
    "PUT",
    "/repositories/{repository}/branches/{branch}/hard_reset",
    "hardResetBranch",
    needs("fs:RevertBranch", BRANCH),
    status=204,
)
async def hard_reset_branch(call: Call, query: HardResetQuery) -> None:
    """Make a branch stand at another commit. Refused if anything is staged, unless that may be given up"""
    repository = await call.repository()
    name = call["branch"]
    await call.services.rules.check_committable(repository, name)
    if not query.force and await uncommitted(repository, name, amount=1):
        raise BadRequest(f"branch {name!r} has uncommitted changes: commit or reset them, or give them up with force")
    await reset.hard_reset(repository, name, query.ref, by=call.caller.name)


@group.operation(
    "POST",
    "/repositories/{repository}/branches/{branch}/revert",
    "revertBranch",
    needs("fs:RevertBranch", BRANCH),
    status=204,
)
async def revert_branch(call: Call, body: RevertCreation) -> None:
    """Undo a commit, in a new one: on a protected branch, too"""
    repository = await call.repository()
    undone = await commit_of(repository, body.ref)
    overrides = body.commit_overrides or CommitOverrides()
    described = _described(call, overrides, f"Revert {undone.id}", {})
    async with call.around(repository, committing(call["branch"], described, "revert")) as done:
        made = await merge.revert(
            repository, undone.id, call["branch"], described, parent=body.parent_number or None, check=done.check
        )
        done.commit = made.id


@group.operation(
    "POST",
    "/repositories/{repository}/branches/{branch}/cherry-pick",
    "cherryPick",
    (Needs("fs:CreateCommit", BRANCH), Needs("fs:ReadCommit", REPOSITORY)),
    status=201,
)
async def cherry_pick(call: Call, body: CherryPickCreation) -> Commit:
    """Do on a branch what a commit did, in a new one"""
    repository = await call.repository()
    picked = await commit_of(repository, body.ref)
    await call.services.rules.check_committable(repository, call["branch"])
    overrides = body.commit_overrides or CommitOverrides()
    metadata = {
        **picked.metadata,
        ".lakefs.cherry-pick.origin": picked.id,
        ".lakefs.cherry-pick.committer": picked.committer,
    }
    described = _described(call, overrides, picked.message, metadata)
    async with call.around(repository, committing(call["branch"], described, "cherry-pick")) as done:
        made = await merge.cherry_pick(
            repository, picked.id, call["branch"], described, parent=body.parent_number, check=done.check
        )
        done.commit = made.id
    return commit_answer(made)


@group.operation(
    "GET",
    "/repositories/{repository}/branches/{branch}/diff",
    "diffBranch",
    needs("fs:ListObjects", REPOSITORY),
)
async def diff_branch(call: Call, query: DiffQuery) -> Page[Diff]:
    """What is staged, and different from the last commit"""
    repository = await call.repository()
    size = size_of(query.amount)
    found = await uncommitted(
        repository,
        call["branch"],
        prefix=query.prefix,
        delimiter=query.delimiter,
        after=query.after,
        amount=size + 1,
    )
    return page_of(found, size, detailed_answer if query.details else difference_answer, offset_of)


def _described(call: Call, overrides: CommitOverrides, message: str, metadata: dict[str, str]) -> Description:
    return Description(
        message if overrides.message is None else overrides.message,
        call.caller.name,
        call.services.outside.now(),
        metadata if overrides.metadata is None else overrides.metadata,
    )
