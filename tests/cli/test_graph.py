"""Histories as they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from headwater.cli.graph import Graph
from tests.cli.conftest import Lake


class Commit(msgspec.Struct, frozen=True):
    id: str
    parents: Sequence[str]


def drawn(*commits: tuple[str, str]) -> list[str]:
    """The picture of commits, each given by its name and those of its parents."""
    rows = Graph().rows(Commit(name, tuple(parents)) for name, parents in commits)
    return [picture if commit is None else f"{picture} {commit.id}" for picture, commit in rows]


def test_a_line_is_drawn_as_one() -> None:
    assert drawn(("c", "b"), ("b", "a"), ("a", "")) == ["● c", "● b", "● a"]


def test_a_merge_opens_a_line_that_is_joined_where_they_parted() -> None:
    assert drawn(("m", "bc"), ("c", "a"), ("b", "a"), ("a", "")) == [
        "● m",
        "├─╮",
        "│ ● c",
        "● │ b",
        "├─╯",
        "● a",
    ]


def test_a_line_that_is_crossed_goes_on() -> None:
    assert drawn(("m", "ab"), ("b", "cd"), ("d", "a"), ("c", "a"), ("a", "")) == [
        "● m",
        "├─╮",
        "│ ● b",
        "│ ├─╮",
        "│ │ ● d",
        "│ ● │ c",
        "├─┴─╯",
        "● a",
    ]


def history_of(random: Random) -> list[Commit]:
    """Commits, each after all that lead to it."""
    count = random.randint(1, 12)
    found = []
    for place in range(count):
        later = [str(other) for other in range(place + 1, count)]
        found.append(Commit(str(place), random.sample(later, min(len(later), random.randint(0, 3)))))
    return found


@given(st.randoms(use_true_random=True))
def test_from_each_commit_lines_lead_down_to_its_parents(random: Random) -> None:
    """Every commit has a row, and every row holds on to all lines that pass by it."""
    history = history_of(random)
    rows = list(Graph().rows(history))
    assert [commit.id for _, commit in rows if commit] == [commit.id for commit in history]
    reached: dict[int, set[str]] = {}
    for picture, commit in rows:
        if commit is None:
            _follow(picture, reached)
        else:
            column = picture.index("●") // 2
            above = reached.pop(column, set())
            assert {other.id for other in history if commit.id in other.parents} <= above
            assert all(picture[other * 2] == "│" for other in reached), "a line is broken off"
            if commit.parents:
                reached[column] = {commit.id}


def _follow(picture: str, reached: dict[int, set[str]]) -> None:
    """What lines come together along the bar of a row: whatever enters it may leave it by any end that goes down."""
    columns = [place // 2 for place in range(0, len(picture), 2) if picture[place] in "├┤╮╯┴┬"]
    together = set().union(*(reached.get(column, set()) for column in columns))
    for column in columns:
        if picture[column * 2] in "├┤╮":
            reached[column] = set(together)
        else:
            reached.pop(column, None)


def test_a_log_is_drawn_with_what_came_in_by_merges(lake: Lake) -> None:
    lake.commit({"a": "1"}, "one")
    lake.done("branch", "create", f"{lake.repository}/dev")
    lake.commit({"b": "1"}, "aside", branch="dev")
    lake.commit({"c": "1"}, "two")
    lake.done("merge", f"{lake.repository}/dev", "main", "-m", "together")
    picture = lake.done("log", lake.main, "--graph").splitlines()
    assert picture[0].startswith("● ")
    assert picture[0].endswith("together")
    assert picture[1] == "├─╮"
    assert any("│ ●" in line and "aside" in line for line in picture)
