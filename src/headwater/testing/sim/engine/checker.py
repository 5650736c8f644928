"""What clients were promised, held against what happened. `docs/protocol.md` has the promises in words.

A violation is an `AssertionError` that names the operation, so that it is found in the timeline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from headwater.history import Component
from headwater.testing.sim.engine.audit import Audit
from headwater.testing.sim.engine.record import NEVER, Contents, Kind, Move, Operation, Outcome, Record
from headwater.testing.sim.engine.world import FIRST

_DROPS: dict[str, Callable[[Move], bool]] = {
    "reset": lambda move: not move.record.dirty and not move.record.sealed and not move.record.base,
    "move": lambda move: move.record.clean and not move.record.dropped,
    "deletion": lambda move: move.record.dropped,
}
"""What the record of a branch is like when it was written by each kind of drop, but for one of a part of it."""


def check(record: Record, audit: Audit) -> None:
    """Raise an `AssertionError` for the first promise found broken."""
    _check_reads(record)
    _check_resets(record, audit)
    _check_commits(record, audit)
    _check_merges(record, audit)
    _check_the_end(record, audit)
    _check_clocks(audit)
    _check_clean_up(audit)


def _check_reads(record: Record) -> None:
    for operation in record.of(Kind.READ):
        if operation.done:
            paths = [operation.path] if operation.path else _paths(record, operation.branch)
            _check_seen(record, operation, operation.seen, paths, start=operation.start, end=operation.end)
    once = Counter(
        (operation.branch, operation.path) for operation in record.of(Kind.WRITE_IF_ABSENT) if operation.done
    )
    for (branch, path), times in once.items():
        assert times == 1 or _dropped(record, branch, 0, NEVER), f"{times} writes found {path} on {branch} absent"


def _check_resets(record: Record, audit: Audit) -> None:
    """What was staged before a drop, and never committed, is gone when the drop is done; and it was done."""
    committed = {value for contents in audit.contents.values() for value in contents.values()}
    staged = {write.name: write for write in record.of(Kind.WRITE, Kind.WRITE_IF_ABSENT) if write.done}
    for drop in record.of(Kind.DROP):
        if not drop.done:
            continue
        moves = [move for move in record.moves if move.branch == drop.branch and drop.start < move.at < drop.end]
        done = drop.path or any(map(_DROPS[drop.name], moves))
        assert done, f"the {drop.name} of {drop.branch} at {drop.start} was never done"
        gone = {
            name
            for name, write in staged.items()
            if (write.branch == drop.branch and write.path.startswith(drop.path))
            and (write.end < drop.start and name not in committed)
        }
        for operation in record.of(Kind.READ):
            if operation.branch == drop.branch and operation.start > drop.end:
                back = gone & set(operation.seen.values())
                assert not back, f"{back} was dropped before {drop.end} and read at {operation.start}"


def _check_commits(record: Record, audit: Audit) -> None:
    for operation in record.of(Kind.COMMIT, Kind.MERGE):
        what = f"{operation.kind} {operation.name} of {operation.branch}"
        landed = [move for move in audit.landings if audit.commits[move.record.commit].message == operation.name]
        _check_told(operation, landed, what)
        dropped = _dropped(record, operation.branch, operation.start, operation.end)
        assert len(landed) <= 1 or dropped, f"{what} landed {len(landed)} times"
        if operation.kind is Kind.MERGE:
            continue
        paths = _paths(record, operation.branch)
        for move in landed:
            contents = audit.contents[move.record.commit]
            _check_seen(record, operation, contents, paths, start=operation.start, end=operation.end)
            before = audit.contents[audit.commits[move.record.commit].parents[0]]
            changes = contents != before or operation.empty or _overtaken(record, audit, operation, move)
            assert changes, f"{what} landed and changes nothing"
            changed = {path for path in contents | before if contents.get(path) != before.get(path)}
            foreign = changed - {*paths, FIRST}
            assert not foreign, f"{what} changes {foreign}, which nobody wrote on this branch"
        if operation.outcome is Outcome.NOTHING:
            contents = audit.contents[_head_at(record, operation.branch, operation.end)]
            _check_seen(record, operation, contents, paths, start=operation.start, end=operation.end)


def _overtaken(record: Record, audit: Audit, operation: Operation, landed: Move) -> bool:
    """Whether another commit landed while *operation* ran, which may have taken along all that there was to commit, and
    *landed*, which changes nothing, drops nothing either."""
    here = [move for move in record.moves if move.branch == operation.branch]
    before = here[here.index(landed) - 1]
    others = [move for move in audit.landings if move.branch == operation.branch]
    overtaken = any(operation.start < move.at < landed.at for move in others)
    return overtaken and before.record.sealed == landed.record.sealed


def _check_told(operation: Operation, landed: list[Move], what: str) -> None:
    if operation.done:
        assert operation.commit in [move.record.commit for move in landed], f"{what} was reported and never landed"
        assert any(operation.start < move.at < operation.end for move in landed), f"{what} landed after it was reported"
    if operation.outcome in (Outcome.NOTHING, Outcome.UNAVAILABLE):
        assert not landed, f"{what} landed and was reported as: {operation.outcome}"


def _check_merges(record: Record, audit: Audit) -> None:
    """A merge has the source's content where the source has its own, and leaves the rest: no path is in both."""
    merges = {operation.name: operation for operation in record.of(Kind.MERGE)}
    moved_back = any(move.record.incarnation != first.record.incarnation for move, first in _with_first(record))
    for commit in audit.commits.values():
        operation = merges.get(commit.message)
        if operation is None or moved_back or len(commit.parents) != 2:
            continue
        ours, theirs = (audit.contents[parent] for parent in commit.parents)
        expected = {path: value for path, value in ours.items() if not path.startswith("dev/")}
        expected |= {path: value for path, value in theirs.items() if path.startswith("dev/")}
        assert audit.contents[commit.id] == expected, f"merge {commit.message} is not what it merged"


def _check_the_end(record: Record, audit: Audit) -> None:
    now = record.moment()
    for branch, contents in audit.branches.items():
        reading = Operation(Kind.READ, branch, now)
        _check_seen(record, reading, contents, _paths(record, branch), start=now, end=now)


def _check_clocks(audit: Audit) -> None:
    """Each landed commit has a place of its own, and each that has a child is found there."""
    places = Counter(commit.clock.last for commit in audit.commits.values())
    for commit in audit.commits.values():
        assert places[commit.clock.last] == 1, f"two commits that landed have one clock: {_place(commit.clock.last)}"
        for parent in commit.parents[:1]:
            before = audit.commits[parent]
            indexed = audit.index.get(before.clock.last)
            assert indexed == parent, f"at {_place(before.clock.last)} the clock index has {indexed}, not {parent}"
            assert commit.generation > before.generation
    for move in audit.landings:
        last = audit.commits[move.record.commit].clock.last
        assert last.incarnation == move.record.incarnation, f"{move.record.commit} landed with a foreign incarnation"


def _check_clean_up(audit: Audit) -> None:
    assert not audit.litter, f"never cleaned up: {sorted(audit.litter)}"


def _check_seen(
    record: Record, reader: Operation, seen: Contents, paths: Iterable[str], *, start: float, end: float
) -> None:
    """What was seen between *start* and *end* at each of *paths* must be something that may have been there."""
    for path in paths:
        value = seen.get(path)
        writes = [
            write
            for write in record.of(Kind.WRITE, Kind.WRITE_IF_ABSENT)
            if (write.branch, write.path) == (reader.branch, path)
            and write.start < end
            and write.outcome not in (Outcome.UNAVAILABLE, Outcome.NOTHING)
        ]
        before = Operation(Kind.WRITE, reader.branch, -1, path=path, removes=True, end=-1)
        written = [write for write in [before, *writes] if write.value == value]
        what = f"{reader.kind} {reader.name} of {reader.branch} at {reader.start}: {path} is {value}"
        assert written, f"{what}, which nobody had written by then"
        over = [_hidden_by(record, write, writes, start, end) for write in written]
        assert None in over, f"{what}, and {over[-1] and over[-1].name} was acknowledged before"


def _hidden_by(record: Record, write: Operation, writes: list[Operation], start: float, end: float) -> Operation | None:
    """A write that began after *write* was acknowledged, and was itself before *start*, if nothing dropped it."""
    for later in writes:
        between = write.end < later.start and later.done and later.end < start
        if between and not _dropped(record, later.branch, later.start, end, later.path):
            return later
    return None


def _dropped(record: Record, branch: str, start: float, end: float, path: str | None = None) -> bool:
    """Whether anything may have dropped what was staged on *branch*, at *path* if told, from *start* to *end*."""
    drops = [
        drop
        for drop in record.of(Kind.DROP)
        if drop.outcome is not Outcome.UNAVAILABLE and (path is None or path.startswith(drop.path))
    ]
    return any(drop.branch == branch and drop.end > start and drop.start < end for drop in drops)


def _paths(record: Record, branch: str) -> list[str]:
    """The paths that are written on *branch*."""
    writes = record.of(Kind.WRITE, Kind.WRITE_IF_ABSENT)
    return sorted({write.path for write in writes if write.branch == branch})


def _head_at(record: Record, branch: str, moment: float) -> str:
    return [move.record.commit for move in record.moves if move.branch == branch and move.at <= moment][-1]


def _with_first(record: Record) -> Iterable[tuple[Move, Move]]:
    first: dict[str, Move] = {}
    for move in record.moves:
        yield move, first.setdefault(move.branch, move)


def _place(component: Component) -> str:
    return f"({component.incarnation.hex()}, {component.n})"
