"""Guards of the protocol, each to be switched off by name. `docs/protocol.md` has the same names.

A guard is a small public function of the engine. What replaces it does what one would do who did not know better.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from headwater.engine import commit as committing
from headwater.engine.repository import Repository
from headwater.history import Commit, CommitStore
from headwater.index import Index
from headwater.kv import Operation, PredicateFailed, Store, StoreError, UnknownOutcome
from headwater.outside import Outside
from headwater.refs.branch import Branch
from headwater.refs.branches import Branches, Seen
from headwater.refs.shared_reads import SharedReads
from headwater.staging import landing, sealing
from headwater.staging.landing import InHistory, Plan
from headwater.staging.tokens import new_token, partition_of

_STAGING = "headwater.staging"


class Mutation(msgspec.Struct, frozen=True):
    """One guard replaced by something that does not guard."""

    what: str
    """What goes on without it."""

    story: str
    """In which of the stories it is missed."""

    replaced: dict[str, Any]
    """The functions and limits that stand for the guard, as `module:name`, and what takes the place of each."""

    seeds: int = 200
    """Within how many seeds it is caught."""

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Switch the guard off for as long as the block runs."""
        before = [(place, _get(place)) for place in self.replaced]
        for place, replacement in self.replaced.items():
            _put(place, replacement)
        try:
            yield
        finally:
            for place, guard in before:
                _put(place, guard)


def _holder(place: str) -> tuple[Any, str]:
    module, _, path = place.partition(":")
    *owners, name = path.split(".")
    holder: Any = import_module(module)
    for owner in owners:
        holder = getattr(holder, owner)
    return holder, name


def _get(place: str) -> Any:
    holder, name = _holder(place)
    return vars(holder)[name]


def _put(place: str, value: Any) -> None:
    holder, name = _holder(place)
    setattr(holder, name, value)


# What goes in the guards' places.


_marking: set[asyncio.Task[None]] = set()


async def _stage_unmarked(store: Store, branches: Branches, seen: Seen, values: Mapping[bytes, bytes]) -> None:
    await store.set_many(partition_of(seen.branch.token), values)
    if not seen.branch.dirty:
        task = asyncio.create_task(_mark(branches, seen))
        _marking.add(task)
        task.add_done_callback(_marking.discard)


async def _mark(branches: Branches, seen: Seen) -> None:
    with suppress(StoreError):
        await branches.swap(seen, msgspec.structs.replace(seen.branch, dirty=True))


async def _cached(branches: Branches, name: str) -> Seen:
    return await branches.recent(name)


def _unchanged_but_dirty(one: Branch, other: Branch) -> bool:
    return msgspec.structs.replace(one, dirty=other.dirty) == other


def _sealed_and_dirty(branch: Branch, token: str) -> Branch:
    return msgspec.structs.replace(branch, token=token, sealed=(*branch.sealed, branch.token))


def _sealed_alone(branch: Branch, token: str) -> Branch:
    return msgspec.structs.replace(branch, token=token, sealed=(branch.token,), dirty=False)


async def _seal_believed(branches: Branches, outside: Outside, name: str) -> Seen:
    seen = await branches.fresh(name)
    if not seen.branch.dirty:
        return seen
    sealed = sealing.with_fresh_token(seen.branch, new_token(outside))
    try:
        return await branches.swap(seen, sealed)
    except PredicateFailed:
        return await _seal_believed(branches, outside, name)
    except UnknownOutcome:
        return Seen(name, sealed, seen.predicate, seen.at)


_with_head = landing.with_head


def _with_head_and_clean(branch: Branch, plan: Plan, committed: int, now: int) -> Branch:
    return msgspec.structs.replace(_with_head(branch, plan, committed, now), dirty=False)


def _with_head_alone(branch: Branch, plan: Plan, committed: int, now: int) -> Branch:
    del committed
    return _with_head(branch, plan, len(branch.sealed), now)


def _same_head(one: Branch, other: Branch) -> bool:
    return (one.commit, one.base, one.sealed) == (other.commit, other.base, other.sealed)


def _same_tokens(one: Branch, other: Branch) -> bool:
    return one.sealed[-1:] == other.sealed[-1:] and one.base == other.base


async def _never_landed(unsure: list[str], branch: Branch, in_history: InHistory) -> None:
    del unsure, branch, in_history


def _nothing_sealed(tokens: tuple[str, ...], left: int, branch: Branch) -> bool:
    del branch
    return bool(tokens) and not left


_overlaid = committing.overlaid
_known: WeakKeyDictionary[Repository, dict[str, Index]] = WeakKeyDictionary()


async def _overlaid_once(repository: Repository, branch: Branch) -> Index:
    known = _known.setdefault(repository, {})
    for token in branch.sealed[-1:]:
        if token not in known:
            known[token] = await _overlaid(repository, branch)
        return known[token]
    return await _overlaid(repository, branch)


def _staged_before(asked: Branch, now: Branch) -> bool:  # noqa: ARG001  (a guard's)
    return not asked.clean


_landing = CommitStore.landing


def _landing_indexed(
    self: CommitStore, commit: Commit, parent: Commit | None, inherited: bytes | None = None
) -> list[Operation]:
    return [*_landing(self, commit, parent, inherited), self.clocks.entry(commit)]


async def _read_in_flight(self: SharedReads[Any, Any], key: Any) -> Any:
    """What it must not do, it can only do from within."""
    tasks = self._tasks.get(asyncio.get_running_loop())
    running = None if tasks is None else tasks.running.get(key)
    return await (_get_shared(self, key) if running is None else running)


_get_shared = SharedReads.get


def _staged_only(branch: Branch) -> tuple[str, ...]:
    return (branch.token,) if branch.dirty else ()


def _oldest_first(branch: Branch) -> tuple[str, ...]:
    return (*branch.sealed, *_staged_only(branch))


def _emptied_in_place(branch: Branch, token: str) -> Branch:
    del token
    return msgspec.structs.replace(branch, sealed=(), dirty=False, base="")


def _as_it_was(first: Any, *_: object) -> Any:
    return first


def _always(*_: object) -> bool:
    return True


def _never(*_: object) -> bool:
    return False


async def _change(*_: object) -> bool:
    return True


def _unlisted(*_: object) -> tuple[Operation, ...]:
    return ()


MUTATIONS: dict[str, Mutation] = {
    "no-second-read": Mutation(
        "the writer acknowledges without reading the branch again",
        "a clear day",
        {f"{_STAGING}.writing:is_staged": _always},
    ),
    "dirty-after-write": Mutation(
        "the branch is marked dirty after the entry is staged, and nobody waits for it",
        "a clear day",
        {f"{_STAGING}.writing:stage": _stage_unmarked},
    ),
    "clear-dirty-at-end": Mutation(
        "dirty is cleared when the commit lands, not when it seals",
        "a clear day",
        {
            f"{_STAGING}.sealing:with_fresh_token": _sealed_and_dirty,
            f"{_STAGING}.landing:with_head": _with_head_and_clean,
        },
    ),
    "keep-old-parent": Mutation(
        "a commit that lost a race lands with the parent and the content that it was made with",
        "many committers",
        {f"{_STAGING}.landing:same_ground": _same_tokens},
    ),
    "no-trim": Mutation(
        "a commit drops all sealed tokens, not those alone that it holds",
        "many committers",
        {f"{_STAGING}.landing:with_head": _with_head_alone},
    ),
    "reader-no-recheck": Mutation(
        "a reader believes its first look, however long it took",
        "slow readers",
        {f"{_STAGING}.viewing:is_quick": _always},
    ),
    "dirty-not-compared": Mutation(
        "a reader begins with a cached record, and its second look compares all but dirty",
        "a crowd",
        {
            f"{_STAGING}.viewing:beginning": _cached,
            f"{_STAGING}.viewing:is_quick": _never,
            f"{_STAGING}.viewing:is_unchanged": _unchanged_but_dirty,
        },
        seeds=1000,
    ),
    "reader-believes-cache": Mutation(
        "a reader begins with a cached record, and looks once",
        "a crowd",
        {f"{_STAGING}.viewing:beginning": _cached},
    ),
    "read-in-flight-shared": Mutation(
        "who asks for a branch joins a read that is under way already",
        "a crowd",
        {"headwater.refs.shared_reads:SharedReads.get": _read_in_flight},
    ),
    "unknown-is-failure": Mutation(
        "a swap of the head whose answer is lost is taken for one that failed",
        "many committers",
        {f"{_STAGING}.landing:landed_unheard": _never_landed},
    ),
    "unknown-seal-is-success": Mutation(
        "a seal whose answer is lost is taken for one that succeeded",
        "many committers",
        {"headwater.engine.commit:seal": _seal_believed},
        seeds=1000,
    ),
    "reuse-tree": Mutation(
        "a commit that lost a race puts what it had overlaid on the head that won",
        "many committers",
        {"headwater.engine.commit:overlaid": _overlaid_once},
    ),
    "sealed-unread": Mutation(
        "readers look under the staging token, and not under sealed ones",
        "a clear day",
        {f"{_STAGING}.viewing:tokens_to_read": _staged_only, "headwater.engine.looking:tokens_to_read": _staged_only},
    ),
    "sealed-oldest-first": Mutation(
        "readers look under sealed tokens in the order in which they were sealed",
        "a bad network",
        {"headwater.engine.looking:tokens_to_read": _oldest_first},
    ),
    "sealed-left-behind": Mutation(
        "a committer takes its own token along, and forgets those of a crashed one",
        "a bad network",
        {f"{_STAGING}.sealing:with_fresh_token": _sealed_alone},
    ),
    "no-change-is-change": Mutation(
        "removing what is not there, or writing what is there, makes a commit",
        "a clear day",
        {"headwater.engine.commit:is_change": _change},
    ),
    "token-kept": Mutation(
        "a reset leaves the branch its token",
        "resets",
        {"headwater.engine.reset:emptied": _emptied_in_place},
    ),
    "incarnation-kept": Mutation(
        "a branch that is moved, deleted or made again keeps its incarnation",
        "resets",
        {"headwater.engine.reset:reborn": _as_it_was, "headwater.engine.branches:reborn": _as_it_was},
    ),
    "incarnation-ignored": Mutation(
        "a commit is landed as it was made although the branch was moved, and is back at the same head",
        "resets",
        {f"{_STAGING}.landing:same_ground": _same_head},
        seeds=1000,
    ),
    "loser-indexed": Mutation(
        "a committer enters its own commit in the clock index, whether or not it lands",
        "many committers",
        {"headwater.history:CommitStore.landing": _landing_indexed},
    ),
    "compacted-is-committed": Mutation(
        "a commit whose tokens were compacted meanwhile takes them for committed, and does not look again",
        "compactions",
        {f"{_STAGING}.landing:nothing_left": _nothing_sealed, "headwater.engine.commit:EMPTY_TRIES": 1},
    ),
    "dropped-is-taken-along": Mutation(
        "a commit takes what was staged and is no more for committed by others, without a look at the head",
        "a clear day",
        {"headwater.engine.commit:was_taken_along": _staged_before},
    ),
    "condition-late": Mutation(
        "a conditional write that finds itself under a sealed token takes itself for safe",
        "first come",
        {"headwater.engine.conditional:is_safe": _always},
    ),
    "no-grace": Mutation(
        "what a token holds is cleaned up as soon as it is dropped",
        "a crowd",
        {f"{_STAGING}.cleaning:is_due": _always},
        seeds=1000,
    ),
    "clean-in-use": Mutation(
        "clean-up believes that a token which is listed was dropped",
        "one process",
        {f"{_STAGING}.cleaning:in_use": _never, f"{_STAGING}.cleaning:is_due": _always},
    ),
    "unlisted": Mutation(
        "nobody tells clean-up which tokens are dropped",
        "a clear day",
        {f"{_STAGING}.landing:leaving": _unlisted},
    ),
    "condition-no-second-read": Mutation(
        "a conditional write is acknowledged without reading the branch again",
        "first come",
        {"headwater.engine.conditional:is_staged": _always},
    ),
    "written-is-refused": Mutation(
        "a conditional write that was staged, and whose path others changed since, says that nothing was written",
        "first come",
        {"headwater.engine.conditional:refusal": _as_it_was},
        seeds=1000,
    ),
    "unknown-is-unavailable": Mutation(
        "a commit that may have landed says that the store was unavailable, and so that it has not",
        "many committers",
        {f"{_STAGING}.certainty:is_certain": _always},
        seeds=1000,
    ),
}
