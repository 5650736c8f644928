"""The log of references: who made, moved and deleted which, newest first, and bringing one back."""

from __future__ import annotations

import msgspec

from headwater.engine.branches import existing_record, put_tag
from headwater.engine.errors import BadRequest
from headwater.engine.ref_changes import Planned, change_reference, overdue, read_log_head, settle
from headwater.engine.repository import Repository
from headwater.engine.slots import BranchSlot
from headwater.history import Commit
from headwater.history import log as history_log
from headwater.refs.branch import Branch
from headwater.refs.errors import RefExists, RefNotFound
from headwater.refs.reference_log import Change, decode_change
from headwater.refs.tags import decode_record
from headwater.staging.tokens import new_token


class RefLogEntry(msgspec.Struct, frozen=True):
    """One change of a reference."""

    id: str
    change: Change
    by: str
    time: int
    """Milliseconds since 1970."""


class RefLogPage(msgspec.Struct, frozen=True):
    """Some entries of the log, and what to pass as `after` for those that follow; None at the end."""

    entries: tuple[RefLogEntry, ...]
    after: str | None


async def ref_log(repository: Repository, *, after: str = "", amount: int = 100) -> RefLogPage:
    """A page of what was done to references, newest first. Ordinary commits are not in it.

    The head of the log, one scan and one `get_many`. Changes that somebody began long ago and did not end are settled
    on the way.
    """
    head, _ = await read_log_head(repository)
    forgotten = overdue(repository, head)
    for intention in forgotten:
        await settle(repository, intention)
    if forgotten:
        head, _ = await read_log_head(repository)
    if not head.commit:
        return RefLogPage((), None)
    log = repository.reference_log
    page = await history_log(log, await log.get(head.commit), after=after, amount=amount)
    return RefLogPage(tuple(_entry(commit) for commit in page.commits), page.after)


async def undo_ref(repository: Repository, entry: str, *, by: str = "") -> None:
    """Bring a branch or tag back to what it was before the change with this id in the log. That is logged, too.

    A branch comes back at its commit; what was staged on it when it was deleted or moved is gone. A tag comes back as
    it was, signature and all. What was created is not deleted by this: say so yourself.
    """
    repository.check_writable()
    commit = await repository.reference_log.get(entry)
    change = decode_change(commit.id, commit.own)
    if change.action == "create":
        raise BadRequest(f"{change.kind} {change.name!r} was created then: there is nothing to bring back; delete it")
    if change.kind == "tag":
        await _restore_tag(repository, commit, change, by)
    elif change.action == "delete":
        await _restore_branch(repository, change, by)
    else:
        await _move_back(repository, change, by)


async def _restore_branch(repository: Repository, change: Change, by: str) -> None:
    def plan(record: Branch | None, mark: bytes) -> Planned[Branch]:
        if record is not None and not record.dropped:
            raise RefExists(f"there is a branch {change.name!r} again: choose a new name, and create it at that commit")
        heads = record.heads if record is not None else ()
        branch = Branch(change.before, new_token(repository.outside), mark, dirty=False, heads=heads)
        return Planned("create", "", change.before, branch)

    await change_reference(repository, BranchSlot(repository, change.name), by, plan)


async def _move_back(repository: Repository, change: Change, by: str) -> None:
    def plan(record: Branch | None, mark: bytes) -> Planned[Branch]:
        now = existing_record(change.name, record)
        if (now.incarnation, now.commit) != (change.mark, change.after):
            raise BadRequest(
                f"branch {change.name!r} has gone on since it was moved: to move it all the same, "
                f"hard-reset it to {change.before}"
            )
        heads = now.moved(change.before, repository.outside.now())
        back = Branch(change.before, new_token(repository.outside), mark, dirty=False, heads=heads)
        return Planned("move", now.commit, change.before, back, tokens=(*now.sealed, now.token))

    await change_reference(repository, BranchSlot(repository, change.name), by, plan)


async def _restore_tag(repository: Repository, commit: Commit, change: Change, by: str) -> None:
    kept = await repository.reference_log.delta(commit)
    tag = None if kept is None else decode_record(change.name, kept).tag(change.name)
    if tag is None:
        raise RefNotFound(f"the log does not tell what tag {change.name!r} was")
    await put_tag(repository, tag, by=by)


def _entry(commit: Commit) -> RefLogEntry:
    return RefLogEntry(commit.id, decode_change(commit.id, commit.own), commit.committer, commit.time)
