"""Files grow: what is appended, put and deleted, as it is seen on a branch, in commits and over ranges of them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from headwater.engine import branches, compaction, diff, merge, read, reset, write
from headwater.engine.commit import commit
from headwater.engine.conditional import IfAbsent
from headwater.engine.errors import BadRequest, MergeConflict, PathConflict, PathNotFound
from headwater.files.append import append
from headwater.files.errors import NotAppendable
from headwater.history import NotAnAncestor
from headwater.index import Change, Entry
from headwater.staging.errors import NothingToCommit
from tests.files.worlds import add, add_and_commit, added, description, repository_of, text_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class TestRanges:
    """The examples of the design: what is between two commits is what was appended between them."""

    async def test_foo_bar_buzz_after_the_first_is_barbuzz(self) -> None:
        repository = await repository_of()
        first = await add_and_commit(repository, file="foo")
        await add_and_commit(repository, file="bar")
        last = await add_and_commit(repository, file="buzz")
        assert await added(repository, "file", first, last) == "barbuzz"
        assert await added(repository, "file", None, last) == "foobarbuzz"
        assert await added(repository, "file", first, f"{last}~1") == "bar"
        assert await added(repository, "file", last, last) == ""

    async def test_a_delete_in_between_leaves_what_came_after_it(self) -> None:
        repository = await repository_of()
        first = await add_and_commit(repository, file="foo")
        await add_and_commit(repository, file="bar")
        await write.delete(repository, "main", ["file"])
        last = await add_and_commit(repository, file="buzz")
        assert await added(repository, "file", first, last) == "buzz"
        assert await text_of(repository, last, "file") == "buzz"
        assert await text_of(repository, f"{last}~1", "file") == "foobar"

    async def test_a_delete_in_a_commit_of_its_own_does_too(self) -> None:
        repository = await repository_of()
        first = await add_and_commit(repository, file="foo")
        await write.delete(repository, "main", ["file"])
        gone = await commit(repository, "main", description())
        last = await add_and_commit(repository, file="foo")
        assert await added(repository, "file", first, last) == "foo"
        with pytest.raises(PathNotFound):
            await added(repository, "file", first, gone.id)

    async def test_a_put_replaces_and_an_append_extends_what_was_put(self) -> None:
        repository = await repository_of()
        first = await add_and_commit(repository, file="foo")
        await write.put(repository, "main", "file", b"new", content_type="text/plain")
        second = await add_and_commit(repository, file="bar")
        third = await add_and_commit(repository, file="buzz")
        assert await added(repository, "file", first, third) == "newbarbuzz"
        assert await added(repository, "file", second, third) == "buzz"
        assert (await read.stat(repository, third, "file")).content_type == "text/plain"

    async def test_an_append_to_what_was_put_in_an_earlier_commit_is_all_that_a_range_has(self) -> None:
        repository = await repository_of()
        await write.put(repository, "main", "file", b"put")
        first = await commit(repository, "main", description())
        last = await add_and_commit(repository, file="more")
        assert await added(repository, "file", first.id, last) == "more"

    async def test_a_range_goes_over_branches_foo_bar_and_buzz(self) -> None:
        """Commits on three branches, each off the one before: what lies between any two on the way is found."""
        repository = await repository_of()
        texts, commits = [], []
        before = "main"
        for branch in ("foo", "bar", "buzz"):
            await branches.create_branch(repository, branch, before)
            for number in range(3):
                texts.append(f"[{branch}{number}]")
                commits.append(await add_and_commit(repository, branch, file=texts[-1]))
            await add_and_commit(repository, branch, other="ahead")
            await add_and_commit(repository, branch, file=f"<{branch} goes on>")
            before = commits[-1]
        for since, one in enumerate(commits):
            for until, other in enumerate(commits):
                if since <= until:
                    assert await added(repository, "file", one, other) == "".join(texts[since + 1 : until + 1])
                else:
                    with pytest.raises(NotAnAncestor):
                        await added(repository, "file", one, other)
        assert await added(repository, "file", commits[2], "foo") == "<foo goes on>"

    async def test_a_range_up_to_a_branch_has_what_is_staged_there(self) -> None:
        repository = await repository_of()
        first = await add_and_commit(repository, file="foo")
        await add(repository, file="bar")
        assert await added(repository, "file", first, "main") == "bar"
        assert await added(repository, "file", first, "main@") == ""

    async def test_a_range_across_a_hard_reset_is_told_from_one_along_the_branch(self) -> None:
        repository = await repository_of()
        first = await add_and_commit(repository, file="foo")
        lost = await add_and_commit(repository, file="lost")
        await reset.hard_reset(repository, "main", first)
        last = await add_and_commit(repository, file="kept")
        assert await added(repository, "file", first, last) == "kept"
        assert await added(repository, "file", first, lost) == "lost"
        with pytest.raises(NotAnAncestor):
            await added(repository, "file", lost, last)


class TestStaging:
    async def test_what_is_appended_is_seen_at_once_and_is_nowhere_else(self) -> None:
        repository = await repository_of()
        first = await add_and_commit(repository, file="foo")
        await add(repository, file="bar")
        await add(repository, file="buzz", other="x")
        assert await text_of(repository, "main", "file") == "foobarbuzz"
        assert await text_of(repository, first, "file") == "foo"
        entry = await read.stat(repository, "main", "file")
        listed = await read.list_entries(repository, "main")
        assert [(item.key, item.size) for item in listed if isinstance(item, Entry)] == [("f/file", 10), ("f/other", 1)]
        assert listed[0] == entry
        changes = [change for change in await diff.uncommitted(repository, "main") if isinstance(change, Change)]
        assert [(change.key, change.type) for change in changes] == [("f/file", "changed"), ("f/other", "added")]

    async def test_the_checksum_is_the_same_staged_and_committed_and_has_a_dash(self) -> None:
        repository = await repository_of()
        await add_and_commit(repository, file="foo")
        await add(repository, file="bar")
        staged = await read.stat(repository, "main", "file")
        await commit(repository, "main", description())
        committed = await read.stat(repository, "main@", "file")
        assert staged.checksum == committed.checksum
        assert (staged.checksum or "").endswith("-2")

    async def test_a_delete_and_a_put_between_appends_count_in_their_order(self) -> None:
        repository = await repository_of()
        await add(repository, file="a")
        await write.delete(repository, "main", ["file"])
        await add(repository, file="b")
        assert await text_of(repository, "main", "file") == "b"
        await write.put(repository, "main", "file", b"p")
        await add(repository, file="c")
        assert await text_of(repository, "main", "file") == "pc"
        await commit(repository, "main", description())
        assert await text_of(repository, "main@", "file") == "pc"
        await write.delete(repository, "main", ["file"])
        with pytest.raises(PathNotFound):
            await read.stat(repository, "main", "file")

    async def test_pages_of_a_listing_take_all_appends_of_a_path_together(self) -> None:
        repository = await repository_of()
        await add_and_commit(repository, a="1", b="1", d="1")
        for _ in range(5):
            await add(repository, a="2", b="2", c="2", d="2")
        await write.delete(repository, "main", ["d"])
        found, after = [], ""
        while page := await read.list_entries(repository, "main", after=after, amount=1):
            found += [(item.key, item.size) for item in page if isinstance(item, Entry)]
            after = page[-1].key.removeprefix("f/")
        assert found == [("f/a", 6), ("f/b", 6), ("f/c", 5)]

    async def test_compacting_what_is_staged_changes_nothing_for_readers(self) -> None:
        repository = await repository_of()
        await add_and_commit(repository, file="foo")
        await add(repository, file="bar", other="x")
        await compaction.compact(repository, "main")
        await add(repository, file="buzz")
        assert await text_of(repository, "main", "file") == "foobarbuzz"
        await commit(repository, "main", description())
        assert await text_of(repository, "main@", "file") == "foobarbuzz"
        assert await text_of(repository, "main@", "other") == "x"

    async def test_what_is_staged_and_compacted_stays_on_top_of_what_is_merged(self) -> None:
        repository = await repository_of()
        await add_and_commit(repository, file="foo")
        await branches.create_branch(repository, "dev", "main")
        await add_and_commit(repository, "dev", file="dev")
        await add(repository, file="staged")
        await compaction.compact(repository, "main")
        await merge.merge(repository, "dev", "main", description())
        assert await text_of(repository, "main@", "file") == "foodev"
        assert await text_of(repository, "main", "file") == "foodevstaged"
        last = await commit(repository, "main", description())
        assert await text_of(repository, last.id, "file") == "foodevstaged"

    async def test_a_reset_gives_up_appends_of_everything_or_of_a_path(self) -> None:
        repository = await repository_of()
        await add_and_commit(repository, a="1", b="1")
        await add(repository, a="2", b="2")
        await reset.reset_path(repository, "main", "a")
        assert await text_of(repository, "main", "a") == "1"
        assert await text_of(repository, "main", "b") == "12"
        await reset.reset(repository, "main")
        assert await text_of(repository, "main", "b") == "1"
        with pytest.raises(NothingToCommit):
            await commit(repository, "main", description())

    async def test_an_empty_append_makes_a_file_and_to_one_that_is_there_is_no_change(self) -> None:
        repository = await repository_of()
        await add_and_commit(repository, file="")
        assert (await read.stat(repository, "main", "file")).size == 0
        await add(repository, file="")
        with pytest.raises(NothingToCommit):
            await commit(repository, "main", description())
        await add(repository, file="x")
        assert await text_of(repository, "main", "file") == "x"

    async def test_a_copy_of_a_growing_file_grows_on_its_own(self) -> None:
        repository = await repository_of()
        await add_and_commit(repository, file="foo")
        await write.copy(repository, "main", "copy", "main", "file")
        await add(repository, copy="bar")
        await commit(repository, "main", description())
        assert await text_of(repository, "main", "copy") == "foobar"
        assert await text_of(repository, "main", "file") == "foo"


class TestOnce:
    async def test_an_append_that_is_repeated_counts_once_staged_committed_or_compacted(self) -> None:
        repository = await repository_of()
        receipt = await append(repository, "main", "file", b"once")
        for step in range(3):
            await append(repository, "main", "file", b"once", id=receipt.id, again=True)
            assert await text_of(repository, "main", "file") == "once" + "x" * step
            if step == 1:
                await compaction.compact(repository, "main")
            else:
                await add(repository, file="x")
                await commit(repository, "main", description())
            if step == 1:
                await add(repository, file="x")
                await commit(repository, "main", description())
        assert await text_of(repository, "main@", "file") == "oncexxx"

    @pytest.mark.parametrize("as_stream", [False, True])
    @pytest.mark.parametrize("path", ["file", "another"])
    async def test_an_id_that_is_used_for_other_bytes_changes_nothing(self, path: str, *, as_stream: bool) -> None:
        repository = await repository_of()
        receipt = await append(repository, "main", "file", b"once")
        first = await commit(repository, "main", description())

        async def stream() -> AsyncIterator[bytes]:
            yield b"oth"
            yield b"er"

        for again in (False, True):
            body = stream() if as_stream else b"other"
            with pytest.raises(BadRequest, match="4 other bytes"):
                await append(repository, "main", path, body, id=receipt.id, again=again)
        assert await text_of(repository, first.id, "file") == await text_of(repository, "main", "file") == "once"

    async def test_a_stream_is_repeated_like_bytes(self) -> None:
        repository = await repository_of()
        receipt = await append(repository, "main", "file", b"once")

        async def stream() -> AsyncIterator[bytes]:
            yield b"on"
            yield b"ce"

        await append(repository, "main", "file", stream(), id=receipt.id, again=True)
        assert await text_of(repository, "main", "file") == "once"

    async def test_it_is_found_however_long_ago_it_was_committed(self) -> None:
        repository = await repository_of()
        receipt = await append(repository, "main", "file", b"once")
        for number in range(60):
            await add_and_commit(repository, file=f"{number}")
        await append(repository, "main", "file", b"once", id=receipt.id, again=True)
        with pytest.raises(NothingToCommit):
            await commit(repository, "main", description())

    async def test_one_that_never_arrived_counts_when_it_is_repeated(self) -> None:
        repository = await repository_of()
        await add_and_commit(repository, file="x")
        await append(repository, "main", "file", b"late", id=repository.stamps.take(), again=True)
        await commit(repository, "main", description())
        assert await text_of(repository, "main", "file") == "xlate"


class TestMerging:
    async def test_both_sides_appending_is_a_conflict_unless_asked_for_ours_then_theirs(self) -> None:
        repository = await repository_of()
        base = await add_and_commit(repository, file="foo")
        await branches.create_branch(repository, "dev", "main")
        await add_and_commit(repository, "dev", file="theirs")
        ours = await add_and_commit(repository, file="ours")
        with pytest.raises(MergeConflict):
            await merge.merge(repository, "dev", "main", description())
        merged = await merge.merge(repository, "dev", "main", description(), appends="ours-then-theirs")
        assert await text_of(repository, merged.id, "file") == "fooourstheirs"
        assert await added(repository, "file", ours, merged.id) == "theirs"
        assert await added(repository, "file", base, merged.id) == "ourstheirs"
        assert await added(repository, "file", "dev", merged.id) == "fooourstheirs"

    async def test_merging_again_and_again_brings_what_is_new(self) -> None:
        repository = await repository_of()
        await add_and_commit(repository, file="0")
        await branches.create_branch(repository, "dev", "main")
        expected = "0"
        for number in range(1, 4):
            await add_and_commit(repository, "dev", file=f"d{number}")
            await add_and_commit(repository, file=f"m{number}")
            await merge.merge(repository, "dev", "main", description(), appends="ours-then-theirs")
            expected += f"m{number}d{number}"
            assert await text_of(repository, "main", "file") == expected

    async def test_files_that_both_sides_made_follow_each_other(self) -> None:
        repository = await repository_of()
        await branches.create_branch(repository, "dev", "main")
        await add_and_commit(repository, "dev", file="theirs")
        await add_and_commit(repository, file="ours")
        await merge.merge(repository, "dev", "main", description(), appends="ours-then-theirs")
        assert await text_of(repository, "main", "file") == "ourstheirs"

    async def test_what_one_side_replaced_is_a_conflict_all_the_same(self) -> None:
        repository = await repository_of()
        await add_and_commit(repository, file="foo")
        await branches.create_branch(repository, "dev", "main")
        await write.delete(repository, "dev", ["file"])
        await add_and_commit(repository, "dev", file="anew")
        await add_and_commit(repository, file="more")
        with pytest.raises(MergeConflict):
            await merge.merge(repository, "dev", "main", description(), appends="ours-then-theirs")

    async def test_what_only_the_source_appended_is_taken(self) -> None:
        repository = await repository_of()
        first = await add_and_commit(repository, file="foo")
        await branches.create_branch(repository, "dev", "main")
        await add_and_commit(repository, "dev", file="bar")
        merged = await merge.merge(repository, "dev", "main", description())
        assert await added(repository, "file", first, merged.id) == "bar"
        assert await diff.diff(repository, "dev", "main") == []


class TestModes:
    async def test_a_repository_of_objects_takes_no_appends(self) -> None:
        repository = await repository_of("object")
        with pytest.raises(NotAppendable, match="mode='append'"):
            await append(repository, "main", "file", b"x")

    async def test_an_append_repository_takes_no_conditions(self) -> None:
        repository = await repository_of()
        with pytest.raises(BadRequest, match="append repository"):
            await write.put(repository, "main", "file", b"x", condition=IfAbsent())

    @pytest.mark.parametrize("order", [("a/b", "a/b/c"), ("a/b/c", "a/b"), ("a", "a/b/c/d")])
    @pytest.mark.parametrize("together", [True, False])
    async def test_a_file_where_a_directory_is_and_the_other_way_round_is_refused(
        self, order: tuple[str, str], *, together: bool
    ) -> None:
        repository = await repository_of()
        await add(repository, **{order[0]: "x"})
        if not together:
            await commit(repository, "main", description())
        await add(repository, **{order[1]: "x"})
        with pytest.raises(PathConflict, match="a directory with"):
            await commit(repository, "main", description())
        await write.delete(repository, "main", [order[0]])
        await commit(repository, "main", description())
        assert await text_of(repository, "main", order[1]) == "x"

    async def test_names_that_only_begin_alike_are_no_directories(self) -> None:
        repository = await repository_of()
        await add_and_commit(repository, **{"a": "x", "a.b": "x", "a-b/c": "x", "ab/c": "x"})

    async def test_a_repository_of_objects_allows_both(self) -> None:
        repository = await repository_of("object")
        await write.put(repository, "main", "a", b"x")
        await write.put(repository, "main", "a/b", b"x")
        await commit(repository, "main", description())
