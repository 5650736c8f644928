"""Commits in progress: what will be one commit is gathered beside a branch, by any process that knows the id.

It is staged on a branch of its own that no listing shows, by the protocol of any other. Finishing it lays that over the
branch that it is for, wherever that is by then, in one commit; nobody sees a part.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from headwater.engine.advance import Made, advance
from headwater.engine.branches import create_branch, new_branch
from headwater.engine.commit import Check, Description
from headwater.engine.looking import commit_of
from headwater.engine.overlaying import staged_edits
from headwater.engine.repository import Repository
from headwater.files.errors import FilesError, HeadMoved, NoSuchCommitInProgress
from headwater.files.limits import MAX_OPEN
from headwater.history import Commit, NotAnAncestor, between, check_name
from headwater.index import apply
from headwater.kv import ABSENT, Delete, PredicateFailed, Set, UnknownOutcome
from headwater.refs.branch import HIDDEN, Branch
from headwater.refs.branches import Seen, key_of
from headwater.staging.sealing import with_fresh_token
from headwater.staging.tokens import leaving, new_token
from headwater.staging.tries import tries

MARK = "headwater-in-progress"
"""The key, in the metadata of a commit, of the id that it had while it was in progress."""

_PREFIX = b"open/"


class InProgress(msgspec.Struct, frozen=True):
    """A commit in progress."""

    id: str
    branch: str
    """The branch that it will be on."""

    base: str
    """The commit that it was begun on."""

    fixed: bool
    """Whether *base* must be its parent. If not, that is what is the branch's head when it is finished."""

    started: int
    """Milliseconds since 1970."""

    by: str = ""

    @property
    def name(self) -> str:
        """The name of the branch that it is staged on, for all verbs that read or write a branch."""
        return HIDDEN + self.id


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(InProgress)


async def start(repository: Repository, branch: str, *, parent: str | None = None, by: str = "") -> InProgress:
    """Begin a commit for *branch*. With a *parent*, any commit, that is what it will be on top of, and nothing else.

    Then the branch may be one that is not there yet: finishing the commit makes it.
    """
    repository.check_writable()
    check_name(branch)
    if len(await list_open(repository)) >= MAX_OPEN:
        raise FilesError(f"{MAX_OPEN} commits are in progress in {repository.name!r}: finish or drop some first")
    base = (await repository.branches.fresh(branch)).branch.commit if parent is None else ""
    if parent is not None:
        base = (await commit_of(repository, parent)).id
    begun = InProgress(
        repository.stamps.take(), branch, base, parent is not None, started=repository.outside.now(), by=by
    )
    staging = new_branch(repository, base)
    listed = Set(repository.partition, _key(begun.id), _encoder.encode(begun))
    await repository.branches.swap_among([listed], Seen(begun.name, staging, ABSENT, 0.0), staging)
    return begun


async def find(repository: Repository, id: str) -> InProgress:  # noqa: A002  (it is one)
    """The commit in progress of this id, or `NoSuchCommitInProgress`."""
    found = await repository.store.get(repository.partition, _key(id))
    if found is None:
        raise NoSuchCommitInProgress(
            f"there is no commit {id[:80]!r} in progress in {repository.name!r}: finished, dropped, or never begun"
        )
    return _decoder.decode(found.value)


async def list_open(repository: Repository) -> list[InProgress]:
    """All commits in progress, in the order in which they were begun."""
    found: list[InProgress] = []
    async for page in repository.store.scan(repository.partition, _PREFIX):
        listed = [entry for entry in page if entry.key.startswith(_PREFIX)]
        found += [_decoder.decode(entry.value) for entry in listed]
        if len(listed) < len(page):
            break
    return found


async def finish(
    repository: Repository,
    id: str,  # noqa: A002  (it is one)
    description: Description,
    *,
    check: Check | None = None,
) -> Commit:
    """Land what was gathered as one commit, which may be empty. It lands once, by whomever and however often called.

    If it cannot, as two paths contradict each other or the branch is elsewhere, it stays in progress. So does
    what *check* refuses.
    """
    repository.check_writable()
    begun = await find(repository, id)
    staging = await _closed(repository, begun)
    tokens = (*staging.sealed, staging.token)
    metadata = {**description.metadata, MARK: id}

    async def make(ground: Branch) -> Made:
        if (landed := await _landed(repository, begun, ground)) is not None:
            raise _LandedBefore(landed)
        if begun.fixed and ground.commit != begun.base:
            raise HeadMoved(
                f"branch {begun.branch!r} is at {ground.commit}, and the commit in progress is for {begun.base}: "
                "begin one without a parent, or on that"
            )
        index = await repository.index_of(ground.commit)
        return [ground.commit], await apply(index, await staged_edits(repository, tokens, index))

    try:
        await _make_branch(repository, begun)
        described = msgspec.structs.replace(description, metadata=metadata)
        landed = await advance(repository, begun.branch, described, make, check)
    except _LandedBefore as before:
        landed = before.commit
    except UnknownOutcome:
        raise
    except Exception:
        await _reopen(repository, begun)
        raise
    await _forget(repository, begun, tokens)
    return landed


async def drop(repository: Repository, id: str) -> None:  # noqa: A002  (it is one)
    """Give up a commit in progress, and all that was gathered for it."""
    repository.check_writable()
    begun = await find(repository, id)
    staging = await _closed(repository, begun)
    await _forget(repository, begun, (*staging.sealed, staging.token))


class _LandedBefore(Exception):
    def __init__(self, commit: Commit) -> None:
        self.commit = commit


async def _closed(repository: Repository, begun: InProgress) -> Branch:
    """What it is staged on, closed: all that was acknowledged is sealed, and who writes from now on is told."""
    ours: set[str] = set()
    async for _ in tries(repository.outside, f"finishing commit {begun.id}"):
        seen = await repository.branches.find(begun.name)
        if seen is None:
            raise NoSuchCommitInProgress(f"commit {begun.id} is not in progress any more")
        if seen.branch.dropped or seen.branch.token in ours:
            return seen.branch
        token = new_token(repository.outside)
        ours.add(token)
        closed = msgspec.structs.replace(with_fresh_token(seen.branch, token), dropped=True)
        try:
            return (await repository.branches.swap(seen, closed)).branch
        except (PredicateFailed, UnknownOutcome):
            continue
    raise AssertionError("tries never end quietly")


async def _reopen(repository: Repository, begun: InProgress) -> None:
    """Let it be written to again."""
    seen = await repository.branches.find(begun.name)
    if seen is not None and seen.branch.dropped:
        reopened = msgspec.structs.replace(seen.branch, dropped=False)
        await repository.branches.swap(seen, reopened)


async def _make_branch(repository: Repository, begun: InProgress) -> None:
    if not begun.fixed:
        return
    seen = await repository.branches.find(begun.branch)
    if seen is None or seen.branch.dropped:
        await create_branch(repository, begun.branch, begun.base, by=begun.by)


async def _landed(repository: Repository, begun: InProgress, ground: Branch) -> Commit | None:
    """The commit that it has become, if it is on the branch: others may be finishing it, or have crashed doing so."""
    base, head = await repository.commits.get_many([begun.base, ground.commit])
    try:
        async for batch in between(repository.commits, base, head):
            for commit in batch:
                if commit.metadata.get(MARK) == begun.id:
                    return commit
    except NotAnAncestor:
        return None
    return None


async def _forget(repository: Repository, begun: InProgress, tokens: Sequence[str]) -> None:
    """Remove every record of it. What was staged is listed first, so that clean-up finds it."""
    gone = [Delete(repository.partition, key_of(begun.name)), Delete(repository.partition, _key(begun.id))]
    await repository.store.pipeline([*leaving(repository.partition, begun.name, tokens), *gone])


def _key(id: str) -> bytes:  # noqa: A002  (it is one)
    return _PREFIX + id.encode()
