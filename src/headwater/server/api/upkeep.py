"""Looking after a repository: what was done to its references and undoing it, checking it, compacting a branch."""

from __future__ import annotations

import msgspec

from headwater.actions import Occasion
from headwater.engine.check import check
from headwater.engine.compaction import compact
from headwater.engine.findings import Report
from headwater.engine.ref_log import ref_log, undo_ref
from headwater.refs.reference_log import Change, decode_change
from headwater.sdk.results import RefChange, ref_change_of
from headwater.server.api.answers import Page, Pagination, size_of
from headwater.server.api.calling import Call
from headwater.server.api.operation import BRANCH, REPOSITORY, Group, needs
from headwater.server.limits import DEFAULT_PAGE, MAX_PAGE

group = Group("upkeep")


class RefLogQuery(msgspec.Struct, frozen=True):
    """Which page."""

    after: str = ""
    amount: int = DEFAULT_PAGE


@group.operation("GET", "/repositories/{repository}/ref_log", "refLog", needs("fs:ListBranches", REPOSITORY))
async def list_ref_log(call: Call, query: RefLogQuery) -> Page[RefChange]:
    """How branches and tags were created, moved and deleted, the newest first"""
    repository = await call.repository()
    found = await ref_log(repository, after=query.after, amount=size_of(query.amount))
    pagination = Pagination(found.after is not None, found.after or "", len(found.entries), MAX_PAGE)
    return Page(pagination, [ref_change_of(entry) for entry in found.entries])


@group.operation(
    "POST",
    "/repositories/{repository}/ref_log/{change}/undo",
    "undoRefChange",
    needs("fs:ListBranches", REPOSITORY),
    status=204,
    checks_inside=True,
)
async def undo(call: Call) -> None:
    """Bring a branch or tag back, which also needs what creating it, or moving the branch, needs"""
    repository = await call.repository()
    logged = await repository.reference_log.get(call["change"])
    change = decode_change(logged.id, logged.own)
    call.require(_action(change), f"arn:lakefs:fs:::repository/{repository.name}/{change.kind}/{change.name}")
    if change.kind == "branch":
        await call.services.rules.check_committable(repository, change.name)
    if change.action != "delete":
        await undo_ref(repository, logged.id, by=call.caller.name)
        return
    async with call.around(repository, _making_again(change)):
        await undo_ref(repository, logged.id, by=call.caller.name)


@group.operation("GET", "/repositories/{repository}/check", "checkRepository", needs("fs:UpdateRepository", REPOSITORY))
async def check_repository(call: Call) -> Report:
    """Read anew all that branches and tags lead to, and tell what is not as it must be"""
    return await check(await call.repository())


@group.operation(
    "POST",
    "/repositories/{repository}/branches/{branch}/compact",
    "compactBranch",
    needs("fs:CreateCommit", BRANCH),
    status=204,
)
async def compact_branch(call: Call) -> None:
    """Make listings quick again where very much is staged; nobody sees a difference"""
    await compact(await call.repository(), call["branch"])


def _making_again(change: Change) -> Occasion:
    """What hooks are told of a branch or tag that comes back."""
    if change.kind == "tag":
        return Occasion("create-tag", tag=change.name, commit=change.before)
    return Occasion("create-branch", branch=change.name, commit=change.before)


def _action(change: Change) -> str:
    if change.kind == "tag":
        return "fs:CreateTag"
    return "fs:CreateBranch" if change.action == "delete" else "fs:RevertBranch"
