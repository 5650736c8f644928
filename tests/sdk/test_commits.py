"""Commits, and what is done with them: logs, diffs, merges, reverts, cherry-picks and resets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import headwater
from headwater.sdk.results import Change, CommonPrefix
from headwater.sdk.sync import Branch, Repository


def told(changes: list[Change] | list[Change | CommonPrefix]) -> list[tuple[str, str]]:
    return [(each.path, each.type if isinstance(each, Change) else "prefix") for each in changes]


def commit(branch: Branch, message: str, **files: bytes | None) -> str:
    """A commit of these files, of which those that are None are deleted. Its id."""
    for path, content in files.items():
        if content is None:
            branch.delete(path)
        else:
            branch.put(path, content)
    return branch.commit(message).id


def test_a_commit_tells_who_when_and_why(main: Branch) -> None:
    main.put("raw/a.csv", b"1")
    before = datetime.now(UTC) - timedelta(seconds=1)
    made = main.commit("first load", metadata={"job": "42"})
    assert (made.message, made.metadata, made.committer) == ("first load", {"job": "42"}, "ada")
    assert before <= made.time <= before + timedelta(minutes=5)
    assert main.head() == made
    dated = main.commit("long ago", time=datetime(2001, 2, 3, tzinfo=UTC), allow_empty=True)
    assert dated.time == datetime(2001, 2, 3, tzinfo=UTC)
    assert dated.parents == (made.id,)
    with pytest.raises(headwater.BadRequest, match="time zone"):
        main.commit("when?", time=datetime(2001, 2, 3), allow_empty=True)  # noqa: DTZ001  (that is the point)


def test_nothing_is_not_committed_unless_asked_for(main: Branch) -> None:
    with pytest.raises(headwater.NothingToCommit):
        main.commit("nothing")
    assert main.commit("nothing", allow_empty=True).message == "nothing"


def test_a_commit_is_named_by_its_id_an_expression_or_itself(repo: Repository, main: Branch) -> None:
    identity = commit(main, "first", a=b"1")
    commit(main, "second", a=b"2")
    found = repo.commit("main~1")
    assert found.id == identity
    for name in (identity, identity[:12], "main~1", "main^", found, repo.ref("main~1")):
        assert repo.commit(name) == found
        assert repo.ref(name).get("a") == b"1"


def test_what_is_uncommitted_is_told_in_the_order_of_paths(main: Branch) -> None:
    commit(main, "first", a=b"1", b=b"1", c=b"1")
    assert list(main.diff()) == []
    main.put("d/x", b"1")
    main.put("b", b"2")
    main.put("c", b"1")  # what it was
    main.delete("a")
    assert told(list(main.diff())) == [("a", "removed"), ("b", "changed"), ("d/x", "added")]
    assert told(list(main.diff(prefix="d"))) == [("d/x", "added")]
    assert told(list(main.diff(delimiter="/"))) == [("a", "removed"), ("b", "changed"), ("d/", "prefix")]
    changed = next(main.diff(prefix="b"))
    assert changed.left is not None
    assert changed.right is not None
    assert (changed.left.path, changed.left.size, changed.right.size) == ("b", 1, 1)


def test_two_commits_are_compared_as_they_are_or_since_they_parted(repo: Repository, main: Branch) -> None:
    first = commit(main, "first", a=b"1", b=b"1")
    dev = repo.create_branch("dev", first)
    commit(dev, "on dev", a=b"2")
    commit(main, "on main", b=None)
    assert told(list(repo.diff("main", "dev"))) == [("a", "changed"), ("b", "added")]
    assert told(list(repo.diff(main, dev, three_dot=True))) == [("a", "changed")]
    assert told(list(repo.diff(first, "main", prefix="b"))) == [("b", "removed")]
    commit(dev, "below", **{"x/1": b"1", "x/2": b"2"})
    assert told(list(repo.diff("main", "dev", delimiter="/")))[-1] == ("x/", "prefix")


def test_the_log_is_newest_first_and_knows_paths(repo: Repository, main: Branch) -> None:
    commit(main, "one", **{"raw/a": b"1"})
    second = commit(main, "two", other=b"1")
    commit(main, "three", **{"raw/b": b"1"})
    assert [each.message for each in main.log()] == ["three", "two", "one", "Repository created"]
    assert [each.message for each in main.log(paths=["raw/"])] == ["three", "one"]
    assert [each.message for each in main.log(paths=["raw/a", "other"])] == ["two", "one"]
    assert [each.message for each in main.log(stop_at=second)] == ["three", "two"]
    assert [each.message for each in repo.ref("main~2").log()] == ["one", "Repository created"]


def test_the_log_knows_times(main: Branch) -> None:
    start = datetime.now(UTC) + timedelta(days=1)
    for day in range(5):
        main.commit(f"day {day}", time=start + timedelta(days=day), allow_empty=True)
    shown = main.log(since=start + timedelta(days=1), until=start + timedelta(days=3))
    assert [each.message for each in shown] == ["day 3", "day 2", "day 1"]


def test_the_log_goes_on_over_many_pages(main: Branch) -> None:
    for number in range(250):
        main.commit(str(number), allow_empty=True)
    log = main.log()
    assert next(log).message == "249"
    assert [each.message for each in log] == [*map(str, reversed(range(249))), "Repository created"]


def test_a_merge_brings_what_was_committed(repo: Repository, main: Branch) -> None:
    commit(main, "first", a=b"1")
    dev = repo.create_branch("dev", source="main")
    theirs = commit(dev, "on dev", b=b"2")
    ours = commit(main, "on main", c=b"3")
    main.put("staged", b"4")
    merged = dev.merge_into("main", metadata={"by": "robot"})
    assert merged.parents == (ours, theirs)
    assert merged.metadata == {"by": "robot"}
    assert [entry.path for entry in main.list()] == ["a", "b", "c", "staged"]
    assert told(list(main.diff())) == [("staged", "added")]
    assert {each.message for each in main.log(first_parents=False)} >= {"on main", "on dev"}
    assert "on dev" not in [each.message for each in main.log()]
    with pytest.raises(headwater.NothingToMerge):
        dev.merge_into(main)


def test_a_squashed_merge_has_one_parent(repo: Repository, main: Branch) -> None:
    dev = repo.create_branch("dev", source="main")
    commit(dev, "one", a=b"1")
    commit(dev, "two", b=b"1")
    assert len(dev.merge_into(main, "all at once", squash=True).parents) == 1
    assert main.head().message == "all at once"


def test_a_conflict_names_the_paths_and_merges_nothing(repo: Repository, main: Branch) -> None:
    commit(main, "first", a=b"1", same=b"1")
    dev = repo.create_branch("dev", source="main")
    commit(dev, "on dev", a=b"22", same=b"2")
    head = commit(main, "on main", a=None, same=b"2")
    with pytest.raises(headwater.MergeConflict, match="'a'") as raised:
        dev.merge_into("main")
    (conflict,) = raised.value.changes
    assert (conflict.path, conflict.type, raised.value.count) == ("a", "conflict", 1)
    assert conflict.left is None
    assert conflict.right is not None
    assert conflict.base is not None
    assert (conflict.right.size, conflict.base.size) == (2, 1)
    assert main.head().id == head


def test_a_strategy_or_a_prefix_decides_who_wins(repo: Repository, main: Branch) -> None:
    commit(main, "first", **{"a": b"1", "x/b": b"1", "y/c": b"1"})
    dev = repo.create_branch("dev", source="main")
    commit(dev, "on dev", **{"a": b"dev", "x/b": b"dev", "y/c": b"dev"})
    commit(main, "on main", **{"a": b"main", "x/b": b"main", "y/c": b"main"})
    other = repo.create_branch("other", source="main")
    dev.merge_into("main", strategy="dest-wins", prefixes={"x/": "force"})
    dev.merge_into(other, strategy="source-wins", prefixes={"y/": "drop"})
    assert [main.get(path) for path in ("a", "x/b", "y/c")] == [b"main", b"dev", b"main"]
    assert [other.get(path) for path in ("a", "x/b", "y/c")] == [b"dev", b"dev", b"main"]


def test_a_tag_or_commit_can_be_merged_too(repo: Repository, main: Branch) -> None:
    dev = repo.create_branch("dev", source="main")
    commit(dev, "one", a=b"1")
    commit(dev, "two", b=b"1")
    repo.ref("dev~1").merge_into("main")
    assert [entry.path for entry in main.list()] == ["a"]


def test_a_revert_undoes_one_commit(repo: Repository, main: Branch) -> None:
    commit(main, "first", a=b"1")
    wrong = commit(main, "wrong", a=b"2", b=b"2")
    commit(main, "later", c=b"3")
    undone = main.revert(wrong)
    assert wrong in undone.message
    assert main.get("a") == b"1"
    assert [entry.path for entry in main.list()] == ["a", "c"]
    dev = repo.create_branch("dev", source="main")
    commit(dev, "on dev", d=b"4")
    merged = dev.merge_into("main")
    with pytest.raises(headwater.BadRequest, match="parents"):
        main.revert(merged)
    main.revert(merged, "not yet", parent=1)
    assert [entry.path for entry in main.list()] == ["a", "c"]


def test_a_cherry_pick_does_one_commit_again(repo: Repository, main: Branch) -> None:
    dev = repo.create_branch("dev", source="main")
    commit(dev, "one", a=b"1")
    wanted = commit(dev, "two", b=b"2")
    commit(dev, "three", c=b"3")
    picked = main.cherry_pick(wanted)
    assert (picked.message, picked.id != wanted) == ("two", True)
    assert [entry.path for entry in main.list()] == ["b"]


def test_a_conflicting_revert_is_told_like_a_merge(main: Branch) -> None:
    commit(main, "first", a=b"1")
    second = commit(main, "second", a=b"2")
    commit(main, "third", a=b"3")
    with pytest.raises(headwater.MergeConflict) as raised:
        main.revert(second)
    assert [(change.path, change.type) for change in raised.value.changes] == [("a", "conflict")]


def test_a_reset_gives_up_a_path_a_prefix_or_all(main: Branch) -> None:
    commit(main, "first", a=b"1")
    for path in ("a", "x/1", "x/2", "y", "z"):
        main.put(path, b"staged")
    main.reset("a")
    main.reset(prefix="x/")
    assert main.get("a") == b"1"
    assert told(list(main.diff())) == [("y", "added"), ("z", "added")]
    with pytest.raises(headwater.BadRequest):
        main.reset("y", prefix="z")
    main.reset()
    assert list(main.diff()) == []


def test_a_hard_reset_moves_the_branch_and_gives_up_what_is_staged(main: Branch) -> None:
    first = commit(main, "first", a=b"1")
    commit(main, "second", a=b"2")
    main.put("b", b"staged")
    assert main.hard_reset("main~1").id == first == main.head().id
    assert [(entry.path, main.get(entry.path)) for entry in main.list()] == [("a", b"1")]
