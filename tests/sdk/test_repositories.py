"""Lakes and repositories, branches and tags, by their names."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import headwater
from headwater.history import Verification, key_id, public_key
from headwater.sdk.results import Committish
from headwater.sdk.sync import Branch, Lake, Repository


def test_a_repository_is_found_by_its_name(lake: Lake) -> None:
    created = lake.create_repo("sales", default_branch="trunk", metadata={"owner": "ada"})
    found = lake.repo("sales")
    assert (found.name, found.namespace) == (created.name, created.namespace)
    assert (found.default_branch, found.metadata) == ("trunk", {"owner": "ada"})
    assert found.branch("trunk").head().committer == "ada"


def test_repositories_are_listed_in_order_and_by_prefix(lake: Lake) -> None:
    for name in ("sales", "ads", "stock"):
        lake.create_repo(name)
    assert list(lake.repos()) == ["ads", "sales", "stock"]
    assert list(lake.repos("s")) == ["sales", "stock"]


def test_a_name_is_taken_once_and_free_again_after_a_delete(lake: Lake) -> None:
    lake.create_repo("sales").branch("main").put("a", b"1")
    with pytest.raises(headwater.RepositoryExists):
        lake.create_repo("sales")
    lake.delete_repo("sales")
    with pytest.raises(headwater.RepositoryNotFound):
        lake.repo("sales")
    assert not lake.create_repo("sales").branch("main").exists("a")


def test_a_read_only_repository_takes_no_writes(lake: Lake) -> None:
    branch = lake.create_repo("sales", read_only=True).branch("main")
    with pytest.raises(headwater.ReadOnly):
        branch.put("a", b"1")


def test_a_repository_can_have_its_objects_somewhere_else(tmp_path: Path) -> None:
    with headwater.open(tmp_path / "lake", durability="os") as lake:
        repo = lake.create_repo("sales", namespace=f"file://{tmp_path}/elsewhere")
        repo.branch("main").put("a", b"1")
        assert (tmp_path / "elsewhere" / "data").is_dir()
        assert lake.repo("sales").branch("main").get("a") == b"1"


def test_a_lake_in_a_directory_can_be_moved(tmp_path: Path) -> None:
    with headwater.open(tmp_path / "here", durability="os") as lake:
        main = lake.create_repo("sales").branch("main")
        main.put("a", b"1")
        main.commit("first")
    shutil.move(tmp_path / "here", tmp_path / "there #2")
    with headwater.open(tmp_path / "there #2", durability="os") as lake:
        assert lake.repo("sales").branch("main").get("a") == b"1"
    assert not (tmp_path / "here").exists()


def test_branches_are_listed_and_dropped(repo: Repository) -> None:
    repo.create_branch("dev", source="main")
    repo.create_branch("dev-2", source=repo.branch("dev"))
    assert [branch.name for branch in repo.branches()] == ["dev", "dev-2", "main"]
    assert [branch.name for branch in repo.branches("dev-")] == ["dev-2"]
    repo.delete_branch("dev")
    assert [branch.name for branch in repo.branches()] == ["dev-2", "main"]
    with pytest.raises(headwater.RefNotFound, match="dev"):
        repo.branch("dev").put("a", b"1")
    with pytest.raises(headwater.RefExists):
        repo.create_branch("main", source="main")


def test_a_branch_begins_at_whatever_names_a_commit(repo: Repository, main: Branch) -> None:
    main.put("a", b"1")
    first = main.commit("first")
    tag = repo.create_tag("v1", first)
    main.put("a", b"2")
    main.commit("second")
    sources: list[Committish] = [first, first.id, "main~1", tag, "v1", repo.ref("main^")]
    for number, source in enumerate(sources):
        assert repo.create_branch(f"b{number}", source).get("a") == b"1"


def test_a_tag_stays_where_it_is(repo: Repository, main: Branch) -> None:
    main.put("a", b"1")
    first = main.commit("first")
    tag = repo.create_tag("v1", "main", message="as sent", metadata={"to": "bob"})
    main.put("a", b"2")
    main.commit("second")
    assert (tag.name, tag.commit, tag.message, tag.tagger, tag.metadata) == (
        "v1",
        first.id,
        "as sent",
        "ada",
        {"to": "bob"},
    )
    assert repo.ref("v1").get("a") == repo.ref(tag).get("a") == b"1"
    assert [each.name for each in repo.tags()] == ["v1"]
    with pytest.raises(headwater.RefExists):
        repo.create_tag("v1", "main")
    repo.delete_tag("v1")
    assert list(repo.tags()) == []


def test_a_signed_tag_is_verified_by_whoever_trusts_the_key(repo: Repository, main: Branch) -> None:
    ours, other = b"\x01" * 32, b"\x02" * 32
    tag = repo.create_tag("v1", main, message="as sent", metadata={"to": "bob"}, signing_key=ours)
    assert (tag.tagger, tag.commit) == ("ada", main.head().id)
    repo.create_tag("v2", main)
    assert repo.verify_tag("v1", [public_key(other), public_key(ours)]).verdict == "good"
    assert repo.verify_tag("v1", [public_key(other)]).verdict == "unknown"
    assert repo.verify_tag("v2", [public_key(ours)]).verdict == "unsigned"
    with pytest.raises(headwater.RefNotFound):
        repo.verify_tag("v3", [])


def test_a_signed_commit_is_verified_by_whoever_trusts_the_key(repo: Repository, main: Branch) -> None:
    ours, theirs, other = b"\x01" * 32, b"\x02" * 32, b"\x03" * 32
    main.put("a", b"1")
    first = main.commit("first")
    main.put("a", b"2")
    second = main.commit("second")
    repo.sign_commit("main~1", ours)
    repo.sign_commit(first, theirs)
    repo.sign_commit(first, theirs)
    assert repo.verify_commit(first, [public_key(ours)]) == Verification("good", key_id(public_key(ours)))
    assert repo.verify_commit(first.id, [public_key(other), public_key(theirs)]).verdict == "good"
    assert repo.verify_commit("main~1", [public_key(other)]).verdict == "unknown"
    assert repo.verify_commit(second, [public_key(ours)]).verdict == "unsigned"
    assert repo.commit(first.id) == first
    with pytest.raises(headwater.RefNotFound):
        repo.sign_commit("nowhere", ours)


def test_a_branch_that_was_dropped_or_moved_comes_back(repo: Repository, main: Branch) -> None:
    main.put("a", b"1")
    first = main.commit("first")
    repo.create_branch("dev", source="main")
    repo.delete_branch("dev")
    deleted = next(repo.ref_log())
    assert (deleted.kind, deleted.action, deleted.name, deleted.by) == ("branch", "delete", "dev", "ada")
    repo.undo_ref(deleted)
    assert repo.branch("dev").get("a") == b"1"
    main.hard_reset("main~1")
    moved = next(repo.ref_log())
    assert (moved.action, moved.before) == ("move", first.id)
    repo.undo_ref(moved.id)
    assert main.head() == first


def test_a_repository_is_checked(repo: Repository, main: Branch) -> None:
    main.put("a", b"1")
    main.commit("first")
    report = repo.check()
    assert report.sound
    assert report.commits == 2


def test_names_and_expressions_that_cannot_be_are_refused(lake: Lake, repo: Repository) -> None:
    with pytest.raises(headwater.BadName):
        lake.create_repo("No Such Name")
    with pytest.raises(headwater.BadName):
        repo.create_branch("a~b", source="main")
    with pytest.raises(headwater.BadExpression):
        repo.commit("main~~?")
