"""What refers to commits and to objects, outside of commits: branches, tags, their log, staging, notes of copies."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator

import msgspec

from headwater.engine import uploads
from headwater.engine.copies import COPIED, noted
from headwater.engine.ref_changes import read_log_head
from headwater.engine.repository import Repository
from headwater.files.in_progress import list_open
from headwater.garbage.rules import Cutoffs
from headwater.garbage.workspaces import live_workspaces
from headwater.history import log as history_log
from headwater.history.limits import LOG_BATCH
from headwater.index.stored import Stored, decode_stored
from headwater.kv import Entry
from headwater.kv.limits import MAX_PAGE
from headwater.refs.branch import Branch, is_hidden
from headwater.refs.branch import decode as decode_branch
from headwater.refs.branches import PREFIX as BRANCHES
from headwater.refs.branches import Seen
from headwater.refs.reference_log import Change, decode_change
from headwater.refs.tags import PREFIX as TAGS
from headwater.refs.tags import decode_tag
from headwater.staging.tokens import partition_of
from headwater.staging.tries import tries
from headwater.staging.viewing import is_quick

ALONE = 1 << 62
"""A cutoff that retains a commit, and none of its ancestors."""


class Root(msgspec.Struct, frozen=True):
    """A commit that is retained, and with it its ancestors, up to those that were left before *cutoff*."""

    commit: str
    cutoff: int


async def roots(repository: Repository, cutoffs: Cutoffs, *, idle_since: int) -> list[Root]:
    """What the references of *repository* lead to, now or within the days that they are given.

    Workspaces need the commit that they were begun on, unless they were last written to before *idle_since*.
    """
    found = [root async for name, branch in _branches(repository) for root in _of_branch(name, branch, cutoffs)]
    found += [Root(begun.base, cutoffs.default) for begun in await list_open(repository) if begun.base]
    found += [root async for change in _changes(repository, cutoffs) for root in _of_change(change, cutoffs)]
    found += [Root(base, cutoffs.default) for base in (await live_workspaces(repository, idle_since)).bases]
    async for entry in _records(repository, TAGS):
        tag = decode_tag(entry.key.removeprefix(TAGS).decode(), entry.value)
        if tag is not None:
            found.append(Root(tag.target, _alone(cutoffs)))
    return found


async def staged(repository: Repository) -> AsyncIterator[list[str]]:
    """The addresses of all that is staged anywhere, in pieces, after those of the parts of open uploads.

    An upload is completed by staging what it made, and only then forgotten: so it is looked for first.
    What a branch stages is read within half of the grace period that clean-up gives it, or read again. Tokens that were
    dropped do not count: what they held is in a commit by now, or was given up.
    """
    yield [address async for _, address in uploads.addresses(repository)]
    dirty = [name async for name, branch in _branches(repository) if not branch.clean]
    for name in dirty:
        async for _ in tries(repository.outside, f"reading what is staged on branch {name!r}"):
            seen = await repository.branches.find(name)
            if seen is None:
                break
            for token in (seen.branch.token, *seen.branch.sealed):
                async for addresses in _under(repository, token):
                    yield addresses
            if is_quick(repository.outside, seen) or await _still_names(repository, seen):
                break


async def _still_names(repository: Repository, seen: Seen) -> bool:
    """Whether no token of *seen* was dropped since it was read, and so none cleaned up."""
    now = await repository.branches.find(seen.name)
    return now is not None and {seen.branch.token, *seen.branch.sealed} <= {now.branch.token, *now.branch.sealed}


async def copied(repository: Repository, since: int) -> list[str]:
    """The addresses of what was copied since then."""
    notes = [noted(entry) async for entry in _records(repository, COPIED)]
    return [address for at, address in notes if at >= since]


async def forget_copies(repository: Repository, before: int) -> None:
    """Delete the notes from before then."""
    old = [entry.key async for entry in _records(repository, COPIED) if noted(entry)[0] < before]
    for start in range(0, len(old), MAX_PAGE):
        await repository.store.delete_many(repository.partition, old[start : start + MAX_PAGE])


def addresses_in(rows: Iterable[Stored | None]) -> list[str]:
    """Where the bytes of *rows* are."""
    found: list[str] = []
    for row in rows:
        if row is not None and row.address is not None:
            found.append(row.address)
        elif row is not None and row.blocks:
            found += [block.address for block in row.blocks]
    return found


def _alone(cutoffs: Cutoffs) -> int:
    """The cutoff of a commit that is retained by itself; without rules, with all that led to it."""
    return 0 if cutoffs.everything else ALONE


def _of_branch(name: str, branch: Branch, cutoffs: Cutoffs) -> Iterator[Root]:
    if branch.dropped and not is_hidden(name):  # what it was is in the reference log, for as long as that counts
        return
    cutoff = cutoffs.of(name)
    heads = [head.commit for head in branch.heads if head.until >= cutoff]
    yield from (Root(commit, cutoff) for commit in (branch.commit, *heads) if commit)
    if branch.base:
        yield Root(branch.base, ALONE)


def _of_change(change: Change, cutoffs: Cutoffs) -> Iterator[Root]:
    cutoff = cutoffs.of(change.name) if change.kind == "branch" else _alone(cutoffs)
    yield from (Root(commit, cutoff) for commit in (change.before, change.after) if commit)


async def _changes(repository: Repository, cutoffs: Cutoffs) -> AsyncIterator[Change]:
    """What is being done to references, and what was done to them since the oldest cutoff that counts for each."""
    head, _ = await read_log_head(repository)
    for intention in head.pending:
        yield intention.change
    if not head.commit:
        return
    log, after = repository.reference_log, ""
    newest = await log.get(head.commit)
    while True:
        page = await history_log(log, newest, after=after, amount=LOG_BATCH)
        for commit in page.commits:
            change = decode_change(commit.id, commit.own)
            if commit.time >= cutoffs.of(change.name):
                yield change
        if page.after is None or page.commits[-1].time < cutoffs.oldest:
            return
        after = page.after


async def _branches(repository: Repository) -> AsyncIterator[tuple[str, Branch]]:
    async for entry in _records(repository, BRANCHES):
        name = entry.key.removeprefix(BRANCHES).decode()
        yield name, decode_branch(name, entry.value)


async def _under(repository: Repository, token: str) -> AsyncIterator[list[str]]:
    async for page in repository.store.scan(partition_of(token), page=MAX_PAGE):
        yield addresses_in(decode_stored([entry.value for entry in page]))


async def _records(repository: Repository, prefix: bytes) -> AsyncIterator[Entry]:
    async for page in repository.store.scan(repository.partition, prefix, page=MAX_PAGE):
        for entry in page:
            if not entry.key.startswith(prefix):
                return
            yield entry
