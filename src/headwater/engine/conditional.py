"""Writes that hold only if what is at the path is as expected, decided in one atomic step of the store."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from headwater.engine.errors import NothingToMatch, PreconditionFailed
from headwater.engine.looking import ground_of
from headwater.engine.paths import path_of
from headwater.engine.repository import Repository
from headwater.index import Edit, Entry, decode_edit, encode_edit
from headwater.kv import ABSENT, PredicateFailed, UnknownOutcome, Versioned
from headwater.refs.branches import Seen
from headwater.staging.certainty import certainty, is_certain
from headwater.staging.tokens import partition_of
from headwater.staging.tries import tries
from headwater.staging.viewing import is_quick
from headwater.staging.writing import is_staged


class IfAbsent(msgspec.Struct, frozen=True):
    """There is nothing at the path."""


class IfMatch(msgspec.Struct, frozen=True):
    """What is at the path has this checksum; or, if it has none, this `version_of` it."""

    checksum: str


def version_of(entry: Entry) -> str:
    """What tells the content of *entry* from any other: its checksum; without one, a name for where its bytes are."""
    return entry.checksum or hashlib.md5(repr(entry.blocks).encode(), usedforsecurity=False).hexdigest()


class IfPresent(msgspec.Struct, frozen=True):
    """There is something at the path, whatever it is."""


class IfSame(msgspec.Struct, frozen=True):
    """What is at the path is this very entry: nobody has written there since it was read, not even the same bytes."""

    entry: Entry


Condition = IfAbsent | IfMatch | IfPresent | IfSame


async def write_if(repository: Repository, branch: str, key: str, edit: Edit, condition: Condition) -> None:
    """Stage *edit* if *condition* holds of what readers of the branch see at its path; else `PreconditionFailed`.

    Of several such writes to one path that expect the same, one succeeds. What is staged is swapped against what was
    read, and a commit that comes between makes it begin again; then *edit* itself may be what is found, and that is
    success. `PreconditionFailed` says that nothing was written.
    """
    what = f"writing to branch {branch!r}"
    sent: list[str] = []
    with certainty(sent, what):
        seen = await repository.branches.fresh(branch)
        async for _ in tries(repository.outside, what):
            try:
                done = await _try(repository, seen, key, edit, condition, again=bool(sent))
            except PredicateFailed:
                done = False
            except PreconditionFailed as error:
                raise refusal(error, sent, what) from None
            if done:
                sent.append(seen.branch.token)
            now = await repository.branches.fresh(branch)
            if done and is_staged(seen, now):
                return
            seen = now


def refusal(error: PreconditionFailed, sent: Sequence[str], what: str) -> PreconditionFailed | UnknownOutcome:
    """What it means that the condition does not hold: once *sent*, the edit may have been read, and even committed."""
    if is_certain(sent):
        return error
    return UnknownOutcome(f"{what}: it was written, and may be committed, but not there to stay: {error}")


async def _try(repository: Repository, seen: Seen, key: str, edit: Edit, condition: Condition, *, again: bool) -> bool:
    branch = seen.branch
    if not branch.dirty:
        branch = msgspec.structs.replace(branch, dirty=True)
        await repository.branches.swap(seen, branch)
    partition = partition_of(branch.token)
    staged = await repository.store.get(partition, key.encode())
    if staged is not None:
        there = decode_edit(key, staged.value)
        found = there if isinstance(there, Entry) else None
    else:
        below = msgspec.structs.replace(branch, dirty=False)
        found = await (await ground_of(repository, seen.name, below, "put")).get(key)
    if is_same_write(found, edit, again=again):
        if is_safe(staged):
            return True
    else:
        _check(condition, key, found)
    if not is_quick(repository.outside, seen):
        return False
    predicate = ABSENT if staged is None else staged.predicate
    await repository.store.set_if(partition, key.encode(), encode_edit(key, edit), predicate)
    return True


def is_same_write(found: Entry | None, edit: Edit, *, again: bool) -> bool:
    """Whether *found* is *edit* itself, from an earlier try: of a deletion, if there was one, whoever's it is."""
    if not isinstance(edit, Entry):
        return again and found is None
    return found == edit


def is_safe(staged: Versioned | None) -> bool:
    """Whether a write that is found is *staged* under the token in use. If not, it is staged once more.

    Under a sealed token it may have come too late for the commit that sealed it, and be dropped by that.
    """
    return staged is not None


def _check(condition: Condition, key: str, found: Entry | None) -> None:
    path = path_of(key)
    if isinstance(condition, IfAbsent):
        if found is not None:
            raise PreconditionFailed(f"there is something at {path!r} already")
    elif found is None:
        raise NothingToMatch(f"there is nothing at {path!r} that the condition could hold of")
    elif isinstance(condition, IfSame):
        if found != condition.entry:
            raise PreconditionFailed(f"what is at {path!r} was written again since it was read")
    elif isinstance(condition, IfMatch) and version_of(found) != condition.checksum:
        there = f"an object with checksum {version_of(found)}"
        raise PreconditionFailed(f"at {path!r} there is {there}, not one with checksum {condition.checksum}")
