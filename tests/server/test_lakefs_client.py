"""The package `lakefs`, as it is published, against a running server."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from lakefs.exceptions import (
    BadRequestException,
    ConflictException,
    ForbiddenException,
    ImportManagerException,
    NotAuthorizedException,
    NotFoundException,
    ObjectExistsException,
    ObjectNotFoundException,
)

from dev.servers.headwater import Headwater
from tests.server.clients import high, high_level

SOON = timedelta(seconds=0.05)


@pytest.fixture
def client(server: Headwater) -> Any:
    return high_level(server)


@pytest.fixture
def lake(client: Any, repository: str) -> Any:
    """A repository of this test."""
    return high.Repository(repository, client=client)


def test_the_server_says_what_it_is(client: Any) -> None:
    assert client.version
    assert client.storage_config.blockstore_type == "local"


def test_repositories_are_made_listed_and_deleted(client: Any, repository: str) -> None:
    name = f"{repository}-made"
    made = high.Repository(name, client=client).create(storage_namespace=f"local://{name}", default_branch="trunk")
    assert made.properties.default_branch == "trunk"
    assert made.properties.storage_namespace == f"local://{name}"
    with pytest.raises(ConflictException):
        high.Repository(name, client=client).create(storage_namespace=f"local://{name}")
    high.Repository(name, client=client).create(storage_namespace=f"local://{name}", exist_ok=True)
    assert [each.id for each in high.repositories(client, prefix=name)] == [name]
    made.delete()
    with pytest.raises(NotFoundException):
        made.delete()


def test_objects_are_written_and_read_in_every_mode(lake: Any) -> None:
    branch = lake.branch("main")
    text = branch.object("text").upload("ä line\nanother\n", content_type="text/plain", metadata={"colour": "red"})
    stat = text.stat()
    assert (stat.size_bytes, stat.content_type, stat.metadata) == (16, "text/plain", {"colour": "red"})
    with text.reader(mode="r") as reader:
        assert reader.read() == "ä line\nanother\n"
    with branch.object("bytes").writer(mode="wb") as writer:
        writer.write(b"0123456789")
    with branch.object("bytes").reader(mode="rb") as reader:
        assert reader.read(3) == b"012"
        reader.seek(-2, 2)
        assert reader.read() == b"89"
        assert reader.read(1) == b""
    with pytest.raises(ObjectExistsException):
        branch.object("bytes").upload(b"again", mode="xb")
    assert branch.object("bytes").exists()
    branch.object("bytes").delete()
    assert not branch.object("bytes").exists()
    with pytest.raises(ObjectNotFoundException):
        branch.object("bytes").reader().read()


def test_an_empty_object_reads_as_nothing(lake: Any) -> None:
    branch = lake.branch("main")
    branch.object("empty").upload(b"")
    assert branch.object("empty").reader().read() == b""
    assert branch.object("empty").stat().size_bytes == 0


def test_a_listing_is_paged_and_rolls_up(lake: Any) -> None:
    branch = lake.branch("main")
    for number in range(7):
        branch.object(f"a/{number}").upload(b"x")
    branch.object("b").upload(b"x")
    assert [each.path for each in branch.objects(max_amount=3, prefix="a/")] == ["a/0", "a/1", "a/2"]
    assert [each.path for each in branch.objects(delimiter="/")] == ["a/", "b"]
    assert len(list(branch.objects())) == 8


def test_commits_have_a_history_and_differences(lake: Any) -> None:
    main = lake.branch("main")
    main.object("a").upload(b"1")
    assert [(change.type, change.path) for change in main.uncommitted()] == [("added", "a")]
    first = main.commit("first", metadata={"by": "test"})
    main.object("a").upload(b"2")
    second = main.commit("second")
    assert [each.message for each in main.log(max_amount=2)] == ["second", "first"]
    assert first.get_commit().metadata == {"by": "test"}
    assert [(change.type, change.path) for change in first.diff(second)] == [("changed", "a")]
    assert first.object("a").reader().read() == b"1"
    assert lake.ref("main~1").object("a").reader().read() == b"1"
    with pytest.raises(BadRequestException):
        main.commit("nothing")


def test_branches_merge_and_conflict(lake: Any) -> None:
    main = lake.branch("main")
    main.object("a").upload(b"1")
    main.commit("first")
    side = lake.branch("side").create(source_reference="main")
    side.object("b").upload(b"2")
    side.commit("on the side")
    merged = side.merge_into(main, message="merge it")
    assert main.get_commit().id == merged
    assert main.object("b").reader().read() == b"2"
    for branch, content in ((main, b"ours"), (side, b"theirs")):
        branch.object("a").upload(content)
        branch.commit("apart")
    with pytest.raises(ConflictException):
        side.merge_into(main)
    side.merge_into(main, strategy="source-wins")
    assert main.object("a").reader().read() == b"theirs"


def test_a_branch_is_made_listed_and_deleted(lake: Any) -> None:
    lake.branch("side/one").create(source_reference="main")
    with pytest.raises(ConflictException):
        lake.branch("side/one").create(source_reference="main")
    assert [branch.id for branch in lake.branches(prefix="side/")] == ["side/one"]
    lake.branch("side/one").delete()
    with pytest.raises(NotFoundException):
        lake.branch("side/one").get_commit()


def test_tags_name_commits(lake: Any) -> None:
    main = lake.branch("main")
    main.object("a").upload(b"1")
    commit = main.commit("first")
    tag = lake.tag("v1").create(commit)
    assert tag.get_commit().id == commit.id
    main.object("a").upload(b"2")
    assert tag.object("a").reader().read() == b"1"
    assert [each.id for each in lake.tags()] == ["v1"]
    tag.delete()
    with pytest.raises(NotFoundException):
        tag.get_commit()


def test_what_was_done_is_undone_and_done_again(lake: Any) -> None:
    main = lake.branch("main")
    main.object("a").upload(b"1")
    main.commit("first")
    main.object("a").upload(b"2")
    second = main.commit("second")
    main.revert(second)
    assert main.object("a").reader().read() == b"1"
    side = lake.branch("side").create(source_reference="main")
    picked = side.cherry_pick(second)
    assert picked.message == "second"
    assert side.object("a").reader().read() == b"2"
    side.object("b").upload(b"x")
    side.reset_changes()
    assert list(side.uncommitted()) == []


def test_a_transaction_lands_as_one_merge_or_not_at_all(lake: Any) -> None:
    main = lake.branch("main")
    with main.transact(commit_message="all of it") as change:
        change.object("a").upload(b"1")
        change.object("b").upload(b"2")
        assert not main.object("a").exists()
    assert main.object("a").reader().read() == b"1"

    def change_mind() -> None:
        with main.transact(commit_message="none of it") as change:
            change.object("c").upload(b"3")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        change_mind()
    assert not main.object("c").exists()
    assert [branch.id for branch in lake.branches()] == ["main"]


def test_objects_are_copied_and_deleted_together(lake: Any) -> None:
    main = lake.branch("main")
    main.object("a").upload(b"1")
    main.object("a").copy("main", "b")
    assert main.object("b").reader().read() == b"1"
    main.delete_objects(["a", "b", "c"])
    assert list(main.objects()) == []


def test_what_is_in_a_directory_of_the_server_is_imported(lake: Any, imports: Path) -> None:
    (imports / "deep").mkdir()
    (imports / "deep" / "one").write_bytes(b"1")
    (imports / "two % ?").write_bytes(b"22")
    main = lake.branch("main")
    importing = main.import_data(commit_message="brought in", metadata={"from": "a directory"})
    importing.prefix(f"local://{imports}/", "in/").object(f"local://{imports}/deep/one", "single")
    status = importing.run(poll_interval=SOON)
    assert status.completed
    assert status.ingested_objects == 3
    assert status.commit.message == "brought in"
    assert {each.path for each in main.objects()} == {"in/deep/one", "in/two % ?", "single"}
    assert main.object("in/two % ?").reader().read() == b"22"
    with pytest.raises(ConflictException):
        importing.cancel()


def test_an_import_from_where_none_may_come_is_refused(lake: Any) -> None:
    main = lake.branch("main")
    with pytest.raises(ForbiddenException):
        main.import_data("no").prefix("local:///etc/", "in/").start()
    with pytest.raises(BadRequestException):
        main.import_data("no").prefix("gopher://a/b", "in/").start()
    with pytest.raises(BadRequestException):
        main.import_data("nothing").start()


def test_an_import_that_fails_says_why(lake: Any, imports: Path) -> None:
    with pytest.raises(ImportManagerException, match="no object"):
        lake.branch("main").import_data("no").object(f"local://{imports}/nothing", "a").run(poll_interval=SOON)


def test_wrong_credentials_are_refused(server: Headwater, repository: str) -> None:
    stranger = high_level(server, (server.access_key_id, "wrong-wrong-wrong"))
    with pytest.raises(NotAuthorizedException):
        list(high.Repository(repository, client=stranger).branches())
