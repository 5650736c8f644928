"""A repository against a model of it: plain dicts, in which a branch is a head and what is staged."""

from __future__ import annotations

import asyncio
from itertools import count

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from headwater import blob, kv
from headwater.drive import drive
from headwater.engine import branches, commit, compaction, describe, dump, read, reset, write
from headwater.engine.check import check
from headwater.engine.diff import Differences, diff, uncommitted
from headwater.engine.errors import MergeConflict, NothingToMerge
from headwater.engine.importing import import_table
from headwater.engine.lake import Lake
from headwater.engine.log import log
from headwater.engine.merge import cherry_pick, merge, revert
from headwater.engine.paths import path_of
from headwater.engine.ref_log import ref_log, undo_ref
from headwater.engine.repository import Repository
from headwater.history import Commit, merge_base
from headwater.index import Change, Entry, Strategy
from headwater.outside import Outside
from headwater.staging.errors import NothingToCommit
from tests.engine.lakes import description

Files = dict[str, int]
"""Paths, and the size of what is there: a link to an object tells content from content by it."""

ALL_PATHS = ["a", "a/b", "a/c", "b", "é", "z/z/z"]
PATHS = st.sampled_from(ALL_PATHS)
SIZES = st.integers(0, 3)
NAMES = st.sampled_from(["dev", "feature/x"])


class Model:
    """A branch: its head, what was staged and compacted, and what was staged since.

    What was compacted is what differs from the head: what the head comes to have, too, counts as committed.
    """

    def __init__(self, head: str) -> None:
        self.head = head
        self.compacted: dict[str, int | None] = {}
        self.staged: dict[str, int | None] = {}

    def compact(self, head: Files) -> None:
        together = {**self.compacted, **self.staged}
        self.compacted = {path: size for path, size in together.items() if size != head.get(path)}
        self.staged = {}

    def move(self, commit: str, head: Files) -> None:
        self.head = commit
        self.compacted = {path: size for path, size in self.compacted.items() if size != head.get(path)}


class RepositoryMachine(RuleBasedStateMachine):
    """Each rule does the same to a repository and to the model."""

    commits = Bundle("commits")

    def __init__(self) -> None:
        super().__init__()
        numbers = count(1)
        outside = Outside(
            now=lambda: 1_700_000_000_000 + next(numbers),
            elapsed=lambda: 0.0,
            random=lambda size: next(numbers).to_bytes(size, "big"),
            sleep=asyncio.sleep,
        )
        self.lake = Lake(drive(kv.open("mem://")), blob.open, outside)
        self.repository: Repository = drive(self.lake.create("model", "mem://"))
        self.branches: dict[str, Model] = {}
        self.files: dict[str, Files] = {}
        self.parents: dict[str, tuple[str, ...]] = {}

    @initialize(target=commits)
    def begin(self) -> str:
        first = drive(describe.get_commit(self.repository, "main"))
        self.branches["main"] = Model(first.id)
        self.files[first.id], self.parents[first.id] = {}, ()
        return first.id

    def seen(self, branch: str) -> Files:
        model = self.branches[branch]
        files = dict(self.files[model.head])
        for path, size in {**model.compacted, **model.staged}.items():
            files.pop(path, None)
            if size is not None:
                files[path] = size
        return files

    def chosen(self, number: int) -> str:
        names = sorted(self.branches)
        return names[number % len(names)]

    def landed(self, branch: str, made: Commit, files: Files) -> str:
        assert made.parents[0] == self.branches[branch].head
        self.branches[branch].move(made.id, files)
        self.files[made.id], self.parents[made.id] = files, made.parents
        return made.id

    @rule(branch=st.integers(0, 9), path=PATHS, size=SIZES)
    def put(self, branch: int, path: str, size: int) -> None:
        name = self.chosen(branch)
        drive(write.link(self.repository, name, path, f"s3://b/{size}", size=size, checksum=f"{size}"))
        self.branches[name].staged[path] = size

    @rule(branch=st.integers(0, 9), paths=st.lists(PATHS, min_size=1, max_size=3, unique=True))
    def delete(self, branch: int, paths: list[str]) -> None:
        name = self.chosen(branch)
        drive(write.delete(self.repository, name, paths))
        self.branches[name].staged.update(dict.fromkeys(paths))

    @rule(branch=st.integers(0, 9))
    def compact(self, branch: int) -> None:
        """What is staged and is no change is forgotten, as by a commit: it hides nothing that comes later."""
        name = self.chosen(branch)
        drive(compaction.compact(self.repository, name))
        self.forget(name)

    @rule(target=commits, branch=st.integers(0, 9))
    def commit(self, branch: int) -> object:
        name = self.chosen(branch)
        files, model = self.seen(name), self.branches[name]
        try:
            made = drive(commit.commit(self.repository, name, description()))
        except NothingToCommit:
            assert files == self.files[model.head]
            model.staged, model.compacted = {}, {}
            return multiple()
        assert files != self.files[model.head]
        model.staged, model.compacted = {}, {}
        return self.landed(name, made, files)

    @rule(target=commits, branch=st.integers(0, 9), rows=st.dictionaries(PATHS, SIZES, min_size=1, max_size=4))
    def import_(self, branch: int, rows: Files) -> object:
        name = self.chosen(branch)
        before = self.files[self.branches[name].head]
        table = {
            "path": list(rows),
            "size": list(rows.values()),
            "address": [f"s3://b/{size}" for size in rows.values()],
            "checksum": [f"{size}" for size in rows.values()],
        }
        try:
            made = drive(import_table(self.repository, name, table, description()))
        except NothingToCommit:
            assert {**before, **rows} == before
            return multiple()
        return self.landed(name, made, {**before, **rows})

    @rule(
        target=commits,
        source=commits,
        branch=st.integers(0, 9),
        strategy=st.sampled_from(Strategy),
        what=st.sampled_from(["merge", "cherry-pick", "revert"]),
    )
    def bring(self, source: str, branch: int, strategy: Strategy, what: str) -> object:
        name = self.chosen(branch)
        ours = self.files[self.branches[name].head]
        base, theirs = self.step(what, source, name)
        strategy = strategy if what == "merge" else Strategy.REPORT
        merged, conflicts = three_way(base, theirs, ours, strategy)
        parent = 1 if self.parents[source] else None
        try:
            if what == "merge":
                made = drive(merge(self.repository, source, name, description(), strategy=strategy))
            else:
                verb = cherry_pick if what == "cherry-pick" else revert
                made = drive(verb(self.repository, source, name, description(), parent=parent))
        except NothingToMerge:
            assert merged == ours or (what == "merge" and base == theirs)
            return multiple()
        except MergeConflict as error:
            told = {path_of(each.key) for each in error.conflicts}
            return self.refused(told, conflicts)
        assert strategy != Strategy.REPORT or not conflicts
        return self.landed(name, made, merged)

    def step(self, what: str, source: str, branch: str) -> tuple[Files, Files]:
        """From what to what the change leads that is to be brought to *branch*."""
        before = self.files[self.parents[source][0]] if self.parents[source] else {}
        if what == "cherry-pick":
            return before, self.files[source]
        if what == "revert":
            return self.files[source], before
        ours, theirs = (drive(describe.get_commit(self.repository, ref)) for ref in (branch, source))
        base = drive(merge_base(self.repository.commits, ours, theirs))
        assert base is not None
        return self.files[base.id], self.files[source]

    def refused(self, told: set[str], conflicts: set[str]) -> object:
        assert told == conflicts
        return multiple()

    @rule(branch=st.integers(0, 9), prefix=st.sampled_from(["", "a", "a/", "z/"]))
    def reset(self, branch: int, prefix: str) -> None:
        name = self.chosen(branch)
        if prefix:
            drive(reset.reset_prefix(self.repository, name, prefix))
            self.forget(name, *(each for each in ALL_PATHS if each.startswith(prefix)))
        else:
            drive(reset.reset(self.repository, name))
            self.branches[name] = Model(self.branches[name].head)

    @rule(branch=st.integers(0, 9), path=PATHS)
    def reset_path(self, branch: int, path: str) -> None:
        name = self.chosen(branch)
        drive(reset.reset_path(self.repository, name, path))
        self.forget(name, path)

    def forget(self, branch: str, *paths: str) -> None:
        """What is staged at *paths* is given up, and the rest compacted."""
        model = self.branches[branch]
        head = self.files[model.head]
        model.staged.update({path: head.get(path) for path in paths})
        model.compact(head)

    @rule(branch=st.integers(0, 9), to=commits, undone=st.booleans())
    def hard_reset(self, branch: int, to: str, undone: bool) -> None:  # noqa: FBT001  (drawn)
        name = self.chosen(branch)
        before = self.branches[name].head
        drive(reset.hard_reset(self.repository, name, to))
        if undone:
            drive(undo_ref(self.repository, drive(ref_log(self.repository, amount=1)).entries[0].id))
        self.branches[name] = Model(before if undone else to)

    @rule(name=NAMES, source=commits)
    def create_branch(self, name: str, source: str) -> None:
        if name not in self.branches:
            drive(branches.create_branch(self.repository, name, source))
            self.branches[name] = Model(source)

    @rule(name=NAMES, undone=st.booleans())
    def delete_branch(self, name: str, undone: bool) -> None:  # noqa: FBT001  (drawn)
        if name not in self.branches:
            return
        drive(branches.delete_branch(self.repository, name))
        head = self.branches.pop(name).head
        if undone:
            drive(undo_ref(self.repository, drive(ref_log(self.repository, amount=1)).entries[0].id))
            self.branches[name] = Model(head)

    @rule(left=commits, right=commits)
    def diff(self, left: str, right: str) -> None:
        found = changes(drive(diff(self.repository, left, right)))
        assert found == different(self.files[left], self.files[right])

    @rule(commit=consumes(commits))
    def read_commit(self, commit: str) -> None:
        assert listed(self.repository, commit) == self.files[commit]

    @invariant()
    def every_branch_is_as_the_model_has_it(self) -> None:
        found = {name: branch.commit for name, branch in drive(branches.list_branches(self.repository))}
        assert found == {name: model.head for name, model in self.branches.items()}
        for name, model in self.branches.items():
            assert listed(self.repository, name) == self.seen(name)
            staged = changes(drive(uncommitted(self.repository, name)))
            assert staged == different(self.files[model.head], self.seen(name))

    def teardown(self) -> None:
        assert drive(check(self.repository)).findings == ()
        for name, model in self.branches.items():
            history, at = [], model.head
            while at:
                history.append(at)
                at = next(iter(self.parents[at]), "")
            assert [each.id for each in drive(log(self.repository, name, amount=1000)).commits] == history
        other = drive(self.lake.create("restored", self.repository.record.namespace, bare=True))
        assert drive(dump.dump(self.repository))
        assert drive(branches.list_branches(other)) == []


def listed(repository: Repository, ref: str) -> Files:
    entries = drive(read.list_entries(repository, ref))
    return {path_of(entry.key): entry.size for entry in entries if isinstance(entry, Entry)}


def changes(found: Differences) -> dict[str, tuple[int | None, int | None]]:
    return {path_of(each.key): (size_of(each.left), size_of(each.right)) for each in found if isinstance(each, Change)}


def size_of(entry: Entry | None) -> int | None:
    return None if entry is None else entry.size


def different(left: Files, right: Files) -> dict[str, tuple[int | None, int | None]]:
    paths = sorted(left.keys() | right.keys())
    return {path: (left.get(path), right.get(path)) for path in paths if left.get(path) != right.get(path)}


def three_way(base: Files, source: Files, destination: Files, strategy: Strategy) -> tuple[Files, set[str]]:
    """What a merge makes of the destination, and where both sides disagree."""
    merged, conflicts = dict(destination), set()
    for path, (before, after) in different(base, source).items():
        there = destination.get(path)
        if there == after:
            continue
        if there != before:
            conflicts.add(path)
            if strategy != Strategy.SOURCE_WINS:
                continue
        merged.pop(path, None)
        if after is not None:
            merged[path] = after
    return merged, conflicts


TestRepository = RepositoryMachine.TestCase
TestRepository.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
