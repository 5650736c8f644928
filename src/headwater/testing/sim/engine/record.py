"""What the clients of a simulated lake asked for and were told, and what became of the branches meanwhile.

Moments are numbers that only grow: virtual time stands still while many things happen.
"""

from __future__ import annotations

import math
from enum import StrEnum
from itertools import count

import msgspec

from headwater.refs.branch import Branch

NEVER = math.inf
"""When an operation ends whose outcome its client never learnt: what it sent may land at any time."""

Contents = dict[str, str | None]
"""What is at each path: a name that only one write has. A path that is missing has nothing."""


class Kind(StrEnum):
    WRITE = "write"
    WRITE_IF_ABSENT = "write if absent"
    READ = "read"
    COMMIT = "commit"
    MERGE = "merge"
    DROP = "drop"
    """A reset, a hard reset or the deletion of a branch: what was staged, or more, may be gone. One that has a
    *path* drops what is at paths that begin so, and nothing else."""


class Outcome(StrEnum):
    DONE = "done"
    NOTHING = "nothing to do"
    UNAVAILABLE = "unavailable"
    """`StoreUnavailable`: certainly nothing was done, and will not be."""

    UNKNOWN = "unknown"
    """Also that of a client which crashed."""


class Operation(msgspec.Struct):
    """One request: what, when, and what its client was told. *answer* is what a read saw, or a commit's id."""

    kind: Kind
    branch: str
    start: int
    name: str = ""
    """The value written, or the message of a commit: no two operations have the same. Of a drop, which kind it is."""

    path: str = ""
    removes: bool = False
    empty: bool = False
    """A commit that is wanted even if it changes nothing."""

    end: float = NEVER
    outcome: Outcome = Outcome.UNKNOWN
    seen: Contents = {}
    commit: str = ""

    @property
    def done(self) -> bool:
        return self.outcome is Outcome.DONE

    @property
    def value(self) -> str | None:
        return None if self.removes else self.name


class Move(msgspec.Struct, frozen=True):
    """A branch record as it was written, and when: the truth, which no client sees."""

    at: int
    time: float
    branch: str
    record: Branch


class Record:
    """Everything that happened in one run."""

    def __init__(self) -> None:
        self._moments = count()
        self.operations: list[Operation] = []
        self.moves: list[Move] = []

    def moment(self) -> int:
        return next(self._moments)

    def begin(
        self, kind: Kind, branch: str, *, name: str = "", path: str = "", removes: bool = False, empty: bool = False
    ) -> Operation:
        operation = Operation(kind, branch, self.moment(), name, path, removes, empty)
        self.operations.append(operation)
        return operation

    def end(self, operation: Operation, outcome: Outcome) -> None:
        """What has an unknown outcome may take effect later still."""
        operation.outcome = outcome
        now = self.moment()
        if outcome is not Outcome.UNKNOWN:
            operation.end = now

    def moved(self, time: float, branch: str, record: Branch) -> None:
        self.moves.append(Move(self.moment(), time, branch, record))

    def of(self, *kinds: Kind) -> list[Operation]:
        return [operation for operation in self.operations if operation.kind in kinds]
