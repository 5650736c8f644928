"""Random histories of appends, puts, deletes, branches and resets, held against lists of what was appended."""

from __future__ import annotations

from collections.abc import Coroutine
from itertools import count
from typing import Any, TypeVar

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as some
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from headwater.drive import drive
from headwater.engine import branches, reset, write
from headwater.engine.commit import commit
from headwater.engine.compaction import compact
from headwater.engine.errors import PathNotFound
from headwater.files.append import append
from headwater.files.packing import pack
from headwater.history import NotAnAncestor
from headwater.staging.errors import NothingToCommit
from tests.files.worlds import added, description, repository_of, text_of

Result = TypeVar("Result")

PATHS = some.sampled_from(["a", "b", "dir/c"])
NUMBERS = some.integers(0, 1 << 30)


class File(msgspec.Struct, frozen=True):
    """What was appended since the last cut, and which cut that was."""

    cut: int
    texts: tuple[str, ...] = ()


Files = dict[str, File]


class Commit(msgspec.Struct, frozen=True):
    id: str
    parent: int | None
    files: Files


class Branch(msgspec.Struct):
    head: int
    files: Files


class GrowingMachine(RuleBasedStateMachine):
    """What a range adds is the file at its end without what the file was at its beginning, unless it was cut."""

    @initialize()
    def begin(self) -> None:
        self.repository = drive(repository_of())
        self.numbers = count()
        first = drive(self.repository.branches.fresh("main")).branch.commit
        self.commits = [Commit(first, None, {})]
        self.branches = {"main": Branch(0, {})}

    @rule(path=PATHS, where=NUMBERS, times=some.integers(1, 20))
    def append(self, path: str, where: int, times: int) -> None:
        name, branch = self._branch(where)
        for _ in range(times):
            text = f"<{next(self.numbers)}>"
            self._run(append(self.repository, name, path, text.encode()))
            file = branch.files.get(path) or File(next(self.numbers))
            branch.files[path] = File(file.cut, (*file.texts, text))

    @rule(path=PATHS, where=NUMBERS)
    def put(self, path: str, where: int) -> None:
        name, branch = self._branch(where)
        text = f"={next(self.numbers)}="
        self._run(write.put(self.repository, name, path, text.encode()))
        branch.files[path] = File(next(self.numbers), (text,))

    @rule(path=PATHS, where=NUMBERS)
    def delete(self, path: str, where: int) -> None:
        name, branch = self._branch(where)
        self._run(write.delete(self.repository, name, [path]))
        branch.files.pop(path, None)

    @rule(where=NUMBERS)
    def commit(self, where: int) -> None:
        name, branch = self._branch(where)
        if branch.files == self.commits[branch.head].files:
            with pytest.raises(NothingToCommit):
                self._run(commit(self.repository, name, description()))
            return
        made = self._run(commit(self.repository, name, description()))
        self.commits.append(Commit(made.id, branch.head, dict(branch.files)))
        branch.head = len(self.commits) - 1

    @rule(where=NUMBERS)
    def compact(self, where: int) -> None:
        self._run(compact(self.repository, self._branch(where)[0]))

    @rule(path=PATHS, where=NUMBERS)
    def pack(self, path: str, where: int) -> None:
        name, branch = self._branch(where)
        try:
            made = self._run(pack(self.repository, name, path, description()))
        except NothingToCommit:
            return
        self.commits.append(Commit(made.id, branch.head, self.commits[branch.head].files))
        branch.head = len(self.commits) - 1

    @precondition(lambda self: len(self.branches) < 4)
    @rule(at=NUMBERS)
    def make_branch(self, at: int) -> None:
        name = f"branch-{len(self.branches)}"
        place = at % len(self.commits)
        self._run(branches.create_branch(self.repository, name, self.commits[place].id))
        self.branches[name] = Branch(place, dict(self.commits[place].files))

    @rule(where=NUMBERS)
    def give_up(self, where: int) -> None:
        name, branch = self._branch(where)
        self._run(reset.reset(self.repository, name))
        branch.files = dict(self.commits[branch.head].files)

    @rule(where=NUMBERS, at=NUMBERS)
    def move(self, where: int, at: int) -> None:
        name, branch = self._branch(where)
        place = at % len(self.commits)
        self._run(reset.hard_reset(self.repository, name, self.commits[place].id))
        branch.head, branch.files = place, dict(self.commits[place].files)

    @rule(path=PATHS, where=NUMBERS)
    def look(self, path: str, where: int) -> None:
        name, branch = self._branch(where)
        if path not in branch.files:
            with pytest.raises(PathNotFound):
                self._run(text_of(self.repository, name, path))
        else:
            assert self._run(text_of(self.repository, name, path)) == "".join(branch.files[path].texts)

    @rule(path=PATHS, one=NUMBERS, other=NUMBERS)
    def range(self, path: str, one: int, other: int) -> None:
        older, newer = one % len(self.commits), other % len(self.commits)
        since, until = self.commits[older], self.commits[newer]
        if not self._led_to(older, newer):
            with pytest.raises(NotAnAncestor):
                self._run(added(self.repository, path, since.id, until.id))
            return
        if path not in until.files:
            with pytest.raises(PathNotFound):
                self._run(added(self.repository, path, since.id, until.id))
            return
        before, after = since.files.get(path), until.files[path]
        kept = 0 if before is None or before.cut != after.cut else len(before.texts)
        assert self._run(added(self.repository, path, since.id, until.id)) == "".join(after.texts[kept:])

    def _branch(self, where: int) -> tuple[str, Branch]:
        return list(self.branches.items())[where % len(self.branches)]

    def _led_to(self, older: int, newer: int) -> bool:
        place: int | None = newer
        while place is not None and place != older:
            place = self.commits[place].parent
        return place is not None

    def _run(self, call: Coroutine[Any, Any, Result]) -> Result:
        return drive(call)


TestGrowing = GrowingMachine.TestCase
TestGrowing.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
