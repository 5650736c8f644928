"""Creating, deleting and moving references: logged and done, or neither, whoever crashes at whatever step.

Stores have no transactions, so a change is made in three steps, each one swap: the *intention* is added to the head of
the log; the record of the reference is swapped for one that carries the intention's mark; the change becomes a commit
of the log, and the intention is gone from its head. The last two go in one pipeline.

Whoever comes next and finds an intention settles it. If the record carries its mark, the change was made, and is
logged. If not, the record is written again as it is: that voids the one swap that was ever to be tried, because it
expects the record to be as it was *before* the intention was told. Then the intention is dropped. So nobody need be
waited for, and one who was only slow, and is undone, learns it from the store and begins again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic

import msgspec

from headwater.engine.limits import MAX_PENDING, PATIENCE
from headwater.engine.repository import Repository
from headwater.engine.slots import Held, Record, Slot, slot_of
from headwater.history import Commit
from headwater.kv import ABSENT, Operation, Predicate, PredicateFailed, SetIf, UnknownOutcome
from headwater.refs.reference_log import HEAD, Action, Change, Intention, LogHead, decode_head, encode, partition_of
from headwater.staging.certainty import certainty
from headwater.staging.tokens import leaving
from headwater.staging.tries import tries

_LANE = ""
"""The lane of all changes of references, which is no branch's: in one process they do not race each other."""


class Planned(msgspec.Struct, Generic[Record], frozen=True):
    """What a change is to make of a reference."""

    action: Action
    before: str
    after: str
    record: Record
    tokens: tuple[str, ...] = ()
    """Staging tokens that are in use no more."""


class Changed(msgspec.Struct, Generic[Record], frozen=True):
    """The record that was there before, if any, and the one that is there now."""

    before: Record | None
    after: Record


Plan = Callable[[Record | None, bytes], Planned[Record]]
"""Decides, given the record as it is and the mark that the new one is to carry; or raises, and nothing happens."""


async def change_reference(repository: Repository, slot: Slot[Record], by: str, plan: Plan[Record]) -> Changed[Record]:
    """Make of the reference in *slot* what *plan* says, and log it.

    Four trips: the head of the log, the record, the intention, and the change with its completion. One more for the
    newest commit of the log, if this process has not seen it.
    """
    what = f"changing {slot.kind} {slot.name!r}"
    unsure: list[str] = []
    with certainty(unsure, what):
        async with repository.lanes.lane(_LANE):
            async for _ in tries(repository.outside, what):
                head, predicate = await read_log_head(repository)
                unsettled = [each for each in head.pending if _is_due(repository, head, each, slot)]
                if unsettled:
                    for each in unsettled:
                        await settle(repository, each)
                    continue
                held = await slot.read()
                planned = plan(held.record, repository.outside.random(8))
                intention = _intention(repository, slot, head, by, planned)
                intended = msgspec.structs.replace(head, pending=(*head.pending, intention))
                completion = await _completion(repository, intended, intention, slot.keepsake(planned.record))
                try:
                    now = await repository.store.set_if(_partition(repository), HEAD, encode(intended), predicate)
                except (PredicateFailed, UnknownOutcome):
                    continue
                try:
                    await slot.write(held, planned.record, after=completion(now))
                except (PredicateFailed, UnknownOutcome):
                    unsure.append(intention.change.mark.hex())
                    if not await settle(repository, intention):
                        unsure.clear()
                        continue
                return Changed(held.record, planned.record)
    raise AssertionError("tries never end quietly")


async def settle(repository: Repository, intention: Intention) -> bool:
    """See to it that *intention*, whoever had it, is logged as done, or never will be. Returns which."""
    mark = intention.change.mark
    slot: Slot[Any] = slot_of(repository, intention.change)
    async for _ in tries(repository.outside, f"settling a change of {slot.kind} {slot.name!r}"):
        head, predicate = await read_log_head(repository)
        if not any(each.change.mark == mark for each in head.pending):
            return await _is_logged(repository, head, intention)
        held = await slot.read()
        try:
            if held.record is not None and was_made(slot, held.record, intention.change):
                completion = await _completion(repository, head, intention, slot.keepsake(held.record))
                await repository.store.pipeline(completion(predicate))
                return True
            await void(slot, held)
            await repository.store.set_if(_partition(repository), HEAD, encode(_without(head, mark)), predicate)
        except (PredicateFailed, UnknownOutcome):
            continue
        return False
    raise AssertionError("tries never end quietly")


def was_made(slot: Slot[Record], record: Record, change: Change) -> bool:
    """Whether *record* tells that *change* was made: no other is made of the reference before this one is settled."""
    return slot.mark(record) == change.mark


async def void(slot: Slot[Record], held: Held[Record]) -> None:
    """Make sure that no swap still under way that was decided before *held* was read can succeed."""
    await slot.write(held, slot.nothing() if held.record is None else held.record)


async def read_log_head(repository: Repository) -> tuple[LogHead, Predicate]:
    """Where the log stands, and the predicate that holds until that changes."""
    found = await repository.store.get(_partition(repository), HEAD)
    if found is None:
        return LogHead("", repository.outside.random(8)), ABSENT
    return decode_head(found.value), found.predicate


def overdue(repository: Repository, head: LogHead) -> list[Intention]:
    """Intentions that are so old that who had them has most likely crashed."""
    return [each for each in head.pending if repository.outside.now() - each.at > PATIENCE * 1000]


def _is_due(repository: Repository, head: LogHead, intention: Intention, slot: Slot[Record]) -> bool:
    """Whether *intention* is to be settled before *slot* is changed: of one reference there is only ever one."""
    same = (intention.change.kind, intention.change.name) == (slot.kind, slot.name)
    return same or len(head.pending) >= MAX_PENDING or intention in overdue(repository, head)


def _intention(
    repository: Repository, slot: Slot[Record], head: LogHead, by: str, planned: Planned[Record]
) -> Intention:
    change = Change(
        slot.mark(planned.record), slot.kind, planned.action, slot.name, before=planned.before, after=planned.after
    )
    return Intention(change, by, repository.outside.now(), head.commit, planned.tokens)


async def _completion(
    repository: Repository, head: LogHead, intention: Intention, keepsake: bytes | None
) -> Callable[[Predicate], list[Operation]]:
    """What logs *intention* as done, given the predicate of the *head*, in which it is pending."""
    log, change = repository.reference_log, intention.change
    parent = await log.get(head.commit) if head.commit else None
    commit = Commit.create(
        [parent] if parent else [],
        head.incarnation,
        message=f"{change.action} {change.kind} {change.name}",
        committer=intention.by,
        time=intention.at,
        own=encode(change),
        inherited=keepsake,
    )
    log.remember(commit, keepsake)
    completed = encode(msgspec.structs.replace(_without(head, change.mark), commit=commit.id))
    before = [
        *leaving(repository.partition, change.name, intention.tokens),
        *log.landing(commit, parent, keepsake),
    ]
    return lambda predicate: [*before, SetIf(_partition(repository), HEAD, completed, predicate)]


def _without(head: LogHead, mark: bytes) -> LogHead:
    return msgspec.structs.replace(head, pending=tuple(each for each in head.pending if each.change.mark != mark))


async def _is_logged(repository: Repository, head: LogHead, intention: Intention) -> bool:
    """Whether *intention* is among what was logged since it was told."""
    commit = head.commit
    while commit and commit != intention.since:
        found = await repository.reference_log.get(commit)
        if found.own == encode(intention.change):
            return True
        commit = next(iter(found.parents), "")
    return False


def _partition(repository: Repository) -> bytes:
    return partition_of(repository.record.id)
