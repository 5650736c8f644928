"""Whatever is done to a lake, one on a server and one in this process answer alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headwater
from dev.servers.headwater import Headwater
from headwater.engine.repository import Mode
from headwater.files.directories import Directory
from headwater.sdk.results import Change, CommonPrefix, Entry
from headwater.sdk.sync import Lake, Repository
from tests.sdk.conftest import connect

Step: TypeAlias = Callable[[Repository], object]
Outcome: TypeAlias = object

_numbers = count()

paths = st.sampled_from(["a", "b", "d/a", "d/e/b", "ü/%2F x"])
branches = st.sampled_from(["main", "dev", "x/y"])
refs = st.one_of(branches, st.sampled_from(["main@", "main~1", "dev~0", "v1", "nowhere"]))
contents = st.binary(max_size=3)


@st.composite
def steps(draw: st.DrawFn) -> tuple[str, Step]:
    """Something to do, and what it is called."""
    branch, other, path, second, ref = draw(branches), draw(branches), draw(paths), draw(paths), draw(refs)
    content = draw(contents)
    known: dict[str, Step] = {
        "put": lambda repo: _entry(repo.branch(branch).put(path, content, metadata={"k": "v"}), repo),
        "put if absent": lambda repo: _entry(repo.branch(branch).put(path, content, if_absent=True), repo),
        "append": lambda repo: repo.branch(branch).append(path, content).size,
        "delete": lambda repo: repo.branch(branch).delete([path, second]),
        "copy": lambda repo: _entry(repo.branch(branch).copy(path, second, source_ref=ref), repo),
        "commit": lambda repo: repo.branch(branch).commit(f"commit {path}").message,
        "branch": lambda repo: repo.create_branch(branch, ref).name,
        "drop": lambda repo: None if branch == "main" else repo.delete_branch(branch),
        "tag": lambda repo: repo.create_tag("v1", ref, message=path).message,
        "merge": lambda repo: len(repo.ref(ref).merge_into(branch).parents),
        "merge ours": lambda repo: len(repo.branch(other).merge_into(branch, strategy="dest-wins").parents),
        "revert": lambda repo: repo.branch(branch).revert(ref, "undone").message,
        "cherry-pick": lambda repo: repo.branch(branch).cherry_pick(ref).message,
        "reset": lambda repo: repo.branch(branch).reset(path),
        "reset prefix": lambda repo: repo.branch(branch).reset(prefix=path[:1]),
        "hard reset": lambda repo: repo.branch(branch).hard_reset(ref).message,
        "gather": lambda repo: _gathered(repo, branch, path, content),
        "undo": _undone,
        "get": lambda repo: repo.ref(ref).get(path, start=1, end=2),
        "read": lambda repo: b"".join(repo.read_file(path, since=ref, until=branch)),
    }
    name = draw(st.sampled_from(sorted(known)))
    return f"{name} {branch} {path} {ref}", known[name]


@pytest.fixture
def lakes(server: Headwater) -> Iterator[tuple[Lake, Lake]]:
    with connect(server) as there, headwater.open(kv="mem://", storage="mem://", committer="ada") as here:
        yield there, here


@pytest.mark.parametrize("mode", ["object", "append"])
def test_the_same_is_answered_to_the_same(lakes: tuple[Lake, Lake], mode: Mode) -> None:
    @settings(
        max_examples=10,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(st.lists(steps(), min_size=5, max_size=25))
    def alike(doing: list[tuple[str, Step]]) -> None:
        name = f"alike-{mode}-{next(_numbers)}"
        there, here = (lake.create_repo(name, mode=mode) for lake in lakes)
        for told, step in doing:
            assert (told, outcome(step, there)) == (told, outcome(step, here))
        for look in LOOKS:
            assert outcome(look, there) == outcome(look, here)

    alike()


LOOKS: list[Step] = [
    lambda repo: [branch.name for branch in repo.branches()],
    lambda repo: [(tag.name, tag.message, tag.tagger) for tag in repo.tags()],
    lambda repo: [_entry(entry, repo) for entry in repo.branch("main").list()],
    lambda repo: [_shown(each) for each in repo.branch("dev").list(delimiter="/")],
    lambda repo: [_shown(each) for each in repo.branch("main").diff()],
    lambda repo: [_shown(each) for each in repo.diff("main", "dev")],
    lambda repo: [_shown(each) for each in repo.diff("main~1", "main", three_dot=True, delimiter="/")],
    lambda repo: [(commit.message, commit.generation, len(commit.parents)) for commit in repo.branch("main").log()],
    lambda repo: [commit.message for commit in repo.branch("main").log(paths=["d/"], first_parents=False)],
    lambda repo: [commit.message for commit in repo.history("a")],
    lambda repo: [commit.message for commit in repo.commits("main~2", "main")],
    lambda repo: repo.is_ancestor("main", "dev"),
    lambda repo: [_shown(each) for each in repo.branch("main").list_dir(totals=True)],
    lambda repo: [_shown(each) for each in repo.branch("main").list_dir("d")],
    lambda repo: [(each.path, each.directories) for each in repo.branch("main").walk()],
    lambda repo: [entry.path for entry in repo.branch("main").glob("**/[ab]")],
    lambda repo: b"".join(repo.read_file("a", since="main~1")),
    lambda repo: repo.branch("main").as_arrow().column("path").to_pylist(),
    lambda repo: [(each.kind, each.action, each.name, each.by) for each in repo.ref_log()],
    lambda repo: (repo.check().sound, repo.check().branches, repo.check().tags),
]


def outcome(step: Step, repo: Repository) -> Outcome:
    """What comes of *step*: what it answers, or the error that it raises."""
    try:
        return step(repo)
    except headwater.HeadwaterError as error:
        return type(error)


def _gathered(repo: Repository, branch: str, path: str, content: bytes) -> str:
    with repo.start_commit(branch, "gathered") as commit:
        commit.put(path, content)
    return repo.branch(branch).head().message


def _undone(repo: Repository) -> None:
    for change in islice(repo.ref_log(), 1):
        repo.undo_ref(change)


def _entry(entry: Entry, repo: Repository) -> Outcome:
    """What does not depend on where the bytes are, as the checksum of a file that grows does."""
    checksum = entry.checksum if repo.mode == "object" else None
    return entry.path, entry.size, entry.kind, checksum, entry.content_type, dict(entry.metadata)


def _shown(each: Entry | CommonPrefix | Change | Directory) -> Outcome:
    match each:
        case Change():
            return each.path, each.type, each.left and each.left.size, each.right and each.right.size
        case Directory():
            return each.path, each.size, each.count
        case _:
            return type(each), each.path
