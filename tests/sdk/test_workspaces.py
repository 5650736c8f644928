"""Workspaces, through the face that waits, on embedded stores."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import fsspec
import pytest

import headwater
from headwater.sdk.sync import Branch, Repository


@pytest.fixture
def workspace(main: Branch) -> headwater.Workspace:
    main.put("kept", b"kept")
    main.put("out/old", b"old")
    main.commit("before")
    return headwater.Workspace(main)


def paths(found: headwater.Workspace | Branch, prefix: str = "") -> list[str]:
    return [entry.path for entry in found.list(prefix)]


def changes(workspace: headwater.Workspace) -> dict[str, str]:
    return {change.path: change.type for change in workspace.diff()}


def test_it_is_read_over_the_commit_that_it_was_begun_on(main: Branch, workspace: headwater.Workspace) -> None:
    workspace.put("out/new", b"new")
    workspace.put("kept", b"changed")
    workspace.delete("out/old")
    assert (workspace.get("out/new"), workspace.get("kept")) == (b"new", b"changed")
    assert not workspace.exists("out/old")
    assert paths(workspace) == ["kept", "out/new"]
    assert [each.path for each in workspace.list(delimiter="/")] == ["kept", "out/"]
    assert changes(workspace) == {"kept": "changed", "out/new": "added", "out/old": "removed"}
    assert (main.get("kept"), paths(main)) == (b"kept", ["kept", "out/old"])
    main.put("other", b"staged later")
    main.commit("later")
    assert not workspace.exists("other")


def test_nothing_is_recorded_when_it_is_begun(tmp_path: Path) -> None:
    with headwater.open(tmp_path, durability="os") as lake:
        main = lake.create_repo("sales").branch("main")
        before = set((tmp_path / "objects").rglob("*"))
        workspace = headwater.Workspace(main)
        assert set((tmp_path / "objects").rglob("*")) == before
        assert workspace.base == main.head().id


def test_all_of_it_becomes_one_commit_and_closes_it(main: Branch, workspace: headwater.Workspace) -> None:
    workspace.put("out/new", b"new")
    workspace.delete(["out/old", "never/there"])
    made = workspace.all().commit("all of it", metadata={"job": "7"})
    assert (main.head(), made.message, made.metadata["job"]) == (made, "all of it", "7")
    assert paths(main) == ["kept", "out/new"]
    assert main.get("out/new") == b"new"
    assert "workspaces/" in main.stat("out/new").blocks[0].address  # where it lies: nothing was copied
    for use in (
        lambda: workspace.put("a", b"1"),
        lambda: workspace.get("kept"),
        lambda: workspace.delete("kept"),
        lambda: list(workspace.list()),
        lambda: workspace.all().commit("again"),
        workspace.revert,
        lambda: headwater.Workspace(main, workspace.id),
    ):
        with pytest.raises(headwater.WorkspaceClosed, match=made.id):
            use()


def test_a_part_is_committed_and_the_rest_stays(main: Branch, workspace: headwater.Workspace) -> None:
    for path in ("out/a.parquet", "out/deep/b.parquet", "out/_SUCCESS", "out/tmp"):
        workspace.put(path, path.encode())
    workspace.delete("out/old")
    workspace.add("**/*.parquet", "out/_SUCCESS").commit("a part")
    assert paths(main) == ["kept", "out/_SUCCESS", "out/a.parquet", "out/deep/b.parquet", "out/old"]
    assert changes(workspace) == {"out/tmp": "added", "out/old": "removed"}
    workspace.delete("out/a.parquet")
    assert not workspace.exists("out/a.parquet")
    workspace.add("out/a.parquet").commit("another part")
    assert changes(workspace) == {"out/tmp": "added", "out/old": "removed"}
    workspace.all().commit("the rest")
    assert paths(main) == ["kept", "out/_SUCCESS", "out/deep/b.parquet", "out/tmp"]


def test_what_was_committed_of_it_is_neither_overwritten_nor_deleted(
    repo: Repository, main: Branch, workspace: headwater.Workspace
) -> None:
    workspace.put("a", b"1")
    first = workspace.add("a").commit("a part")
    with pytest.raises(headwater.PathCommitted, match="another workspace"):
        workspace.put("a", b"2")
    workspace.delete("a")
    assert not workspace.exists("a")
    workspace.revert()
    assert workspace.get("a") == b"1"
    workspace.remove("*")
    assert paths(workspace) == ["out/old"]
    workspace.all().commit("removed")
    assert paths(main) == ["out/old"]
    assert repo.ref(first).get("a") == b"1"


def test_a_commit_of_somebody_else_is_told_and_gone_along_with_on_request(
    main: Branch, workspace: headwater.Workspace
) -> None:
    workspace.put("mine", b"mine")
    main.put("theirs", b"theirs")
    main.commit("theirs")
    with pytest.raises(headwater.ConcurrentCommit, match="retry=True"):
        workspace.all().commit("mine")
    made = workspace.all().commit("mine", retry=True)
    assert main.head() == made
    assert (main.get("mine"), main.get("theirs")) == (b"mine", b"theirs")


def test_a_path_that_both_changed_is_never_overlaid(main: Branch, workspace: headwater.Workspace) -> None:
    workspace.put("kept", b"mine")
    workspace.put("other", b"mine")
    main.put("kept", b"theirs")
    main.commit("theirs")
    with pytest.raises(headwater.ConcurrentCommit, match="'kept'") as caught:
        workspace.add("other").commit("mine", retry=True)
    assert tuple(caught.value.paths) == ("kept",)
    workspace.revert("kept")
    workspace.all().commit("mine", retry=True)
    assert (main.get("kept"), main.get("other")) == (b"theirs", b"mine")


def test_what_changes_nothing_is_no_commit(main: Branch, workspace: headwater.Workspace) -> None:
    with pytest.raises(headwater.NothingToCommit):
        workspace.all().commit("nothing")
    workspace.delete("never/there")
    workspace.put("a", b"1")
    with pytest.raises(headwater.NothingToCommit):
        workspace.add("b/**").commit("nothing that matches")
    workspace.all().commit("something")
    assert paths(main) == ["a", "kept", "out/old"]


def test_its_id_is_all_that_another_process_needs(repo: Repository, workspace: headwater.Workspace) -> None:
    workspace.put("a", b"1")
    there = headwater.Workspace(repo.branch("main"), workspace.id)
    there.put("b", b"2")
    assert paths(workspace) == ["a", "b", "kept", "out/old"]
    with pytest.raises(headwater.BadRequest, match="not the id"):
        headwater.Workspace(repo.branch("main"), "nonsense")
    with pytest.raises(headwater.RefNotFound):
        headwater.Workspace(repo.branch("nowhere"))


def test_files_are_written_and_read_piece_by_piece(main: Branch, workspace: headwater.Workspace) -> None:
    with workspace.open("a", "wb") as file:
        for _ in range(20):
            file.write(bytes(1_000_000))
    with workspace.open("b", "w") as text:
        text.write("Rhine")
    with pytest.raises(ZeroDivisionError), workspace.open("c", "wb") as file:
        file.write(b"%d" % (1 // 0))
    with workspace.open("a") as read:
        read.seek(19_999_999)
        assert read.read() == b"\0"
    workspace.all().commit("files")
    assert (main.stat("a").size, main.get("b"), main.exists("c")) == (20_000_000, b"Rhine", False)


def test_what_is_staged_on_the_branch_stays_on_top(main: Branch, workspace: headwater.Workspace) -> None:
    main.put("staged", b"1")
    workspace.put("a", b"1")
    workspace.all().commit("a")
    assert [change.path for change in main.diff()] == ["staged"]


def test_any_tool_writes_to_its_path_and_reads_at_its_uri(tmp_path: Path) -> None:
    with headwater.open(tmp_path / "a lake", durability="os") as lake:
        main = lake.create_repo("sales").branch("main")
        main.put("out/old", b"old")
        main.commit("before")
        workspace = headwater.Workspace(main)
        place = Path(url2pathname(urlsplit(workspace.path("out/part=1")).path))
        place.mkdir(parents=True)
        (place / "file").write_bytes(b"from outside")
        files = fsspec.filesystem("hw", lake=lake)
        assert workspace.uri("out/part=1/file") == f"hw://sales/main+{workspace.id}/out/part=1/file"
        assert files.cat_file(workspace.uri("out/part=1/file")) == b"from outside"
        assert sorted(files.find(workspace.uri("out"))) == [
            f"sales/main+{workspace.id}/out/old",
            f"sales/main+{workspace.id}/out/part=1/file",
        ]
        with files.open(workspace.uri("by/name"), "wb") as file:
            file.write(b"by name")
        workspace.all().commit("out of band")
        assert (main.get("out/part=1/file"), main.get("by/name")) == (b"from outside", b"by name")


@pytest.mark.parametrize("path", ["../x", "a/../../b", "..", ".", "/a", "a//b", "a\0b", "x" * 300])
def test_no_path_leads_out_of_a_workspace(tmp_path: Path, path: str) -> None:
    with headwater.open(tmp_path / "lake", durability="os") as lake:
        workspace = headwater.Workspace(lake.create_repo("sales").branch("main"))
        for call in (workspace.path, lambda path: workspace.put(path, b"x")):
            with pytest.raises(headwater.HeadwaterError):
                call(path)
        assert not [each for each in (tmp_path / "lake" / "objects").rglob("workspaces/*") if each.is_file()]


def test_a_listing_is_paged_and_seeks_past_common_prefixes(workspace: headwater.Workspace) -> None:
    for number in range(30):
        workspace.put(f"many/{number % 3}/{number:02d}", b"x")
    assert [each.path for each in workspace.list("many/", delimiter="/")] == ["many/0/", "many/1/", "many/2/"]
    assert paths(workspace, "many/1/") == [f"many/1/{number:02d}" for number in range(1, 30, 3)]
    assert [entry.path for entry in workspace.list("many/1/", after="many/1/22")] == ["many/1/25", "many/1/28"]
    assert workspace.as_arrow("many/").num_rows == 30
    found = sorted(entry.path for entry in workspace.glob("many/**/?7"))
    assert found == ["many/0/27", "many/1/07", "many/2/17"]


def test_a_copy_in_a_workspace_has_bytes_of_its_own(
    repo: Repository, main: Branch, workspace: headwater.Workspace
) -> None:
    target = repo.branch(workspace.expression)
    target.copy("kept", "copy", source_ref="main")
    assert workspace.get("copy") == b"kept"
    with pytest.raises(headwater.BadRequest, match="workspace holds objects"):
        target.link("linked", "s3://elsewhere/a", size=1)
    with pytest.raises(headwater.BadRequest, match="takes none"):
        target.put("a", b"1", if_absent=True)
    workspace.all().commit("a copy")
    assert main.get("copy") == b"kept"


def test_a_workspace_that_is_given_up_is_closed_and_leaves_nothing(
    main: Branch, workspace: headwater.Workspace
) -> None:
    workspace.put("a", b"1")
    workspace.discard()
    with pytest.raises(headwater.WorkspaceClosed, match="given up"):
        workspace.put("b", b"1")
    assert paths(main) == ["kept", "out/old"]
