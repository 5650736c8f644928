"""Who changed what, and which commit broke it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cli.halving import next_to_look_at, steps_left, suspects
from tests.cli.conftest import Lake
from tests.cli.test_main import HW


class Commit(msgspec.Struct, frozen=True):
    id: str
    parents: Sequence[str]


def broken_history(random: Random) -> tuple[list[Commit], set[str], list[str]]:
    """A history of one bad commit, newest first; which of it are bad; and some that are good."""
    count = random.randint(2, 25)
    found = [Commit("0", ["1"])]
    for place in range(1, count):
        later = [str(other) for other in range(place + 1, count)]
        found.append(Commit(str(place), random.sample(later, min(len(later), random.randint(1, 2)))))
    reached = {"0"}
    for commit in found:
        if commit.id in reached:
            reached.update(commit.parents)
    history = [commit for commit in found if commit.id in reached]
    bad = {random.choice(history[:-1]).id}
    for commit in reversed(history):
        if not bad.isdisjoint(commit.parents):
            bad.add(commit.id)
    sound = [commit.id for commit in history if commit.id not in bad]
    return history, bad, random.sample(sound, min(len(sound), random.randint(1, 2)))


def ancestors(history: Sequence[Commit], of: str) -> set[str]:
    found = {of}
    for commit in history:
        if commit.id in found:
            found.update(commit.parents)
    return found


@given(st.randoms(use_true_random=True))
def test_the_first_bad_commit_is_found_whatever_the_history(random: Random) -> None:
    history, bad, good = broken_history(random)
    if "0" not in bad:
        return
    newest = "0"
    cleared = set(good)
    looks = 0
    while True:
        found = suspects(history, newest, cleared)
        expected = ancestors(history, newest).difference(*(ancestors(history, each) for each in cleared))
        assert {commit.id for commit in found} == expected
        following = next_to_look_at(found, ())
        if following is None:
            break
        looks += 1
        if following.id in bad:
            newest = following.id
        else:
            cleared.add(following.id)
    assert newest in bad
    assert all(parent not in bad for commit in history if commit.id == newest for parent in commit.parents)
    assert looks < len(history)


@given(st.integers(2, 200), st.data())
def test_a_line_is_halved_with_each_look(length: int, data: st.DataObject) -> None:
    line = [Commit(str(place), [str(place + 1)]) for place in range(length)]
    found = suspects(line, "0", [str(length)])
    culprit = data.draw(st.integers(0, length - 1))
    bound = steps_left(length)
    for _ in range(bound):
        following = next_to_look_at(found, ())
        if following is None:
            break
        place = found.index(following)
        found = found[place:] if int(following.id) <= culprit else found[:place]
    assert [commit.id for commit in found] == [str(culprit)]


@pytest.fixture
def history(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Eight commits, the sixth of which broke `state`. The working directory is an empty one."""
    monkeypatch.chdir(tmp_path)
    return [
        lake.commit({"state": "broken" if number >= 6 else "sound", "number": str(number)}, f"number {number}")
        for number in range(1, 9)
    ]


@pytest.mark.parametrize("lake", ["embedded"], indirect=True)
def test_a_program_finds_the_commit_that_broke_something(lake: Lake, history: list[str], tmp_path: Path) -> None:
    lake.done("bisect", "start", lake.main, "--good", "main~7")
    looked = tmp_path / "looked"
    script = f'echo "$HW_COMMIT" >> {looked}; test "$({HW} cat $HW_PLACE/state)" = sound'
    found = lake.document("bisect", "run", "sh", "-c", script)
    assert found["found"]["id"] == history[5]
    assert len(looked.read_text().splitlines()) == 3
    assert lake.document("bisect", "status")["found"]["message"] == "number 6"
    lake.done("bisect", "reset")
    assert not (tmp_path / ".hw-bisect").exists()


@pytest.mark.parametrize("lake", ["remote"], indirect=True)
def test_one_can_judge_by_hand(lake: Lake, history: list[str]) -> None:
    assert "hw bisect start" in lake.failed(2, "bisect", "good")
    step = lake.document("bisect", "start", lake.main, "--good", history[0], "--first-parents")
    while step["found"] is None:
        sound = lake.done("cat", f"{step['place']}/state") == "sound"
        step = lake.document("bisect", "good" if sound else "bad")
    assert step["found"]["id"] == history[5]


@pytest.mark.parametrize("lake", ["embedded"], indirect=True)
def test_what_cannot_be_told_is_skipped_and_what_cannot_run_stops_it(lake: Lake, history: list[str]) -> None:
    lake.done("bisect", "start", f"{lake.repository}/{history[5]}", "--good", history[2])
    lake.failed(2, "bisect", "run", "sh", "-c", "exit 200")
    skipped = lake.run("--json", "bisect", "run", "sh", "-c", "exit 125")
    assert skipped.exit_code == 1
    assert json.loads(skipped.stdout)["left"] == 3
    lake.failed(2, "bisect", "start", f"{lake.repository}/{history[2]}", "--good", history[5])


def test_each_path_is_told_with_who_last_changed_it(lake: Lake) -> None:
    lake.commit({"raw/a": "1", "raw/b": "1", "c": "1"}, "all")
    lake.commit({"raw/b": "2"}, "b")
    lake.commit({"c": "2"}, "c")
    blamed = {row["path"]: row["commit"]["message"] for row in lake.documents("annotate", lake.main)}
    assert blamed == {"raw/a": "all", "raw/b": "b", "c": "c"}
    below = lake.documents("annotate", f"{lake.main}~1/raw/")
    assert [(row["path"], row["commit"]["message"]) for row in below] == [("raw/a", "all"), ("raw/b", "b")]


def test_a_repository_is_checked(lake: Lake) -> None:
    lake.commit({"a": "1"})
    checked = lake.document("check", lake.repository)
    assert (checked["sound"], checked["branches"], checked["findings"]) == (True, 1, [])
    assert lake.done("check", lake.repository).startswith("sound: 1 branch, ")
    lake.failed(3, "check", "nothing-such")


def test_what_is_somewhere_already_is_imported(lake: Lake, tmp_path: Path) -> None:
    (tmp_path / "there/deep").mkdir(parents=True)
    for name in ("a", "deep/b"):
        (tmp_path / "there" / name).write_text(name)
    made = lake.document("import", f"file://{tmp_path}/there/", f"{lake.main}/in/", "-m", "from there")
    assert made["message"] == "from there"
    assert (lake.paths(), lake.cat("in/deep/b")) == (["in/a", "in/deep/b"], b"deep/b")
