"""What each verb of a repository does, through the public functions, on the embedded stores."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import msgspec
import pytest

from headwater.blob import RangeNotSatisfiable
from headwater.drive import drive
from headwater.engine import branches, describe, read, reset, write
from headwater.engine.check import check
from headwater.engine.commit import commit as commit_staged
from headwater.engine.compaction import compact
from headwater.engine.conditional import IfAbsent, IfMatch, IfPresent, version_of
from headwater.engine.diff import diff, uncommitted
from headwater.engine.errors import (
    BadRequest,
    MergeConflict,
    NothingToMatch,
    NothingToMerge,
    PathNotFound,
    PreconditionFailed,
    ReadOnly,
    RepositoryExists,
    RepositoryNotFound,
)
from headwater.engine.lake import Lake
from headwater.engine.log import log
from headwater.engine.merge import cherry_pick, merge, revert
from headwater.engine.paths import path_of
from headwater.engine.redescribing import redescribe
from headwater.engine.repository import Repository
from headwater.history import BadName, NotAnAncestor
from headwater.index import Behaviour, CommonPrefix, Strategy
from headwater.refs.errors import RefExists, RefNotFound
from headwater.staging.errors import NothingToCommit
from tests.engine.lakes import commit, description, files_at, lake_in, put, text_at, told

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["mem", "lmdb"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Lake, str]]:
    lake, namespace = await lake_in(request.param, tmp_path)
    yield lake, namespace
    await lake.aclose()


@pytest.fixture
async def repository(place: tuple[Lake, str]) -> AsyncIterator[Repository]:
    lake, namespace = place
    repository = await lake.create("sales", namespace)
    yield repository
    assert (await check(repository)).findings == ()


async def names(repository: Repository, ref: str, prefix: str = "", delimiter: str = "") -> list[str]:
    page = await read.list_entries(repository, ref, prefix=prefix, delimiter=delimiter)
    return [path_of(each.key) for each in page]


class TestFiles:
    async def test_what_was_put_is_read_at_once_and_is_not_committed(self, repository: Repository) -> None:
        await put(repository, a="1")
        assert await text_at(repository, "main", "a") == "1"
        with pytest.raises(PathNotFound):
            await read.stat(repository, "main@", "a")

    async def test_an_entry_tells_what_was_put(self, repository: Repository) -> None:
        await write.put(repository, "main", "a", b"hello", content_type="text/plain", metadata={"job": "1"})
        entry = await read.stat(repository, "main", "a")
        assert (entry.size, entry.checksum) == (5, "5d41402abc4b2a76b9719d911017c592")
        assert (entry.content_type, entry.metadata) == ("text/plain", {"job": "1"})

    async def test_a_range_is_read_and_one_beyond_the_end_is_refused(self, repository: Repository) -> None:
        await put(repository, a="0123456789", empty="")
        reading = await read.get(repository, "main", "a", start=3, end=6)
        assert b"".join([bytes(chunk) async for chunk in reading.chunks]) == b"345"
        reading = await read.get(repository, "main", "a", start=8, end=99)
        assert b"".join([bytes(chunk) async for chunk in reading.chunks]) == b"89"
        with pytest.raises(RangeNotSatisfiable):
            await read.get(repository, "main", "a", start=10)
        assert await text_at(repository, "main", "empty") == ""

    async def test_a_stream_is_put(self, repository: Repository) -> None:
        async def chunks() -> AsyncIterator[bytes]:
            for number in range(10):
                yield b"%d" % number

        entry = await write.put(repository, "main", "a", chunks())
        assert entry.size == 10
        assert await text_at(repository, "main", "a") == "0123456789"

    async def test_a_listing_rolls_up_what_is_below_a_delimiter_staged_or_not(self, repository: Repository) -> None:
        await commit(repository, **{"a/1": "", "a/2": "", "b": "", "c/1": ""})
        await put(repository, **{"a/3": "", "d/1": ""})
        await write.delete(repository, "main", ["c/1"])
        assert await names(repository, "main", delimiter="/") == ["a/", "b", "d/"]
        assert await names(repository, "main@", delimiter="/") == ["a/", "b", "c/"]
        assert await names(repository, "main", prefix="a/", delimiter="/") == ["a/1", "a/2", "a/3"]

    async def test_a_listing_comes_in_pages(self, repository: Repository) -> None:
        await commit(repository, **{f"x/{number}": "" for number in range(10)})
        await put(repository, **{f"x/{number}!": "" for number in range(10)})
        paths: list[str] = []
        while page := await read.list_entries(repository, "main", after=paths[-1] if paths else "", amount=3):
            paths += [path_of(each.key) for each in page if not isinstance(each, CommonPrefix)]
        assert paths == sorted([*(f"x/{number}" for number in range(10)), *(f"x/{number}!" for number in range(10))])

    async def test_what_is_deleted_is_gone_and_deleting_what_is_not_there_is_no_change(
        self, repository: Repository
    ) -> None:
        await commit(repository, a="1", b="2")
        await write.delete(repository, "main", ["a", "nothing"])
        assert await files_at(repository, "main") == {"b": "2"}
        assert told(await uncommitted(repository, "main")) == {"a": "removed"}

    async def test_a_copy_has_the_bytes_and_moves_none(self, repository: Repository) -> None:
        first = await commit(repository, a="1")
        await commit(repository, a="2")
        entry = await write.copy(repository, "main", "b", first.id, "a")
        assert await files_at(repository, "main") == {"a": "2", "b": "1"}
        assert entry.blocks == (await read.stat(repository, first.id, "a")).blocks

    async def test_a_linked_object_is_as_was_told(self, repository: Repository) -> None:
        await write.link(repository, "main", "a", "s3://bucket/x", size=7, checksum="seven", metadata={"k": "v"})
        entry = await read.stat(repository, "main", "a")
        assert (entry.size, entry.checksum, entry.blocks[0].address) == (7, "seven", "s3://bucket/x")
        with pytest.raises(BadRequest):
            await write.link(repository, "main", "a", "s3://bucket/x", size=-1, checksum=None)

    @pytest.mark.parametrize("path", ["", "x" * 1023, "a\0b", "\ud800"])
    async def test_a_path_that_cannot_be_is_refused(self, repository: Repository, path: str) -> None:
        with pytest.raises(BadRequest):
            await write.put(repository, "main", path, b"")

    async def test_nothing_is_put_on_what_is_no_branch(self, repository: Repository) -> None:
        await branches.create_tag(repository, "v1", "main")
        for ref in ("nowhere", "v1", "main~0"):
            with pytest.raises(RefNotFound):
                await write.put(repository, ref, "a", b"")


def alone(directory: Path) -> Repository:
    """A repository that is used without an event loop, so that a test decides what comes in between."""
    lake, namespace = drive(lake_in("mem", directory))
    return drive(lake.create("sales", namespace))


class TestRedescribing:
    @pytest.mark.parametrize("body", [b"new", b"old"])  # the same bytes again are a write, too
    def test_what_somebody_puts_meanwhile_is_not_undone(self, tmp_path: Path, body: bytes) -> None:
        repository = alone(tmp_path)
        drive(write.put(repository, "main", "a", b"old", metadata={"by": "me"}))
        meanwhile = [body]

        def change(metadata: Mapping[str, str]) -> Mapping[str, str]:
            if meanwhile:
                drive(write.put(repository, "main", "a", meanwhile.pop(0), metadata={"by": "you"}))
            return {**metadata, "tag": "x"}

        drive(redescribe(repository, "main", "a", change))
        assert drive(read.stat(repository, "main", "a")).metadata == {"by": "you", "tag": "x"}
        assert drive(text_at(repository, "main", "a")) == body.decode()

    def test_what_is_deleted_meanwhile_stays_deleted(self, tmp_path: Path) -> None:
        repository = alone(tmp_path)
        drive(commit(repository, a="1"))

        def change(metadata: Mapping[str, str]) -> Mapping[str, str]:
            drive(write.delete(repository, "main", ["a"]))
            return {**metadata, "tag": "x"}

        with pytest.raises(PathNotFound):
            drive(redescribe(repository, "main", "a", change))

    async def test_staged_or_committed_only_the_metadata_changes(self, repository: Repository) -> None:
        before = await write.put(repository, "main", "a", b"1", content_type="text/plain")
        for tag in ("staged", "committed"):
            await redescribe(repository, "main", "a", lambda _, tag=tag: {"tag": tag})  # type: ignore[misc]
            found = await read.stat(repository, "main", "a")
            assert found == msgspec.structs.replace(before, metadata={"tag": tag})
            await commit_staged(repository, "main", description())
            assert await read.stat(repository, "main", "a") == found


class TestConditions:
    async def test_a_write_of_other_metadata_is_not_taken_for_the_one_that_is_there(
        self, repository: Repository
    ) -> None:
        entry = await write.put(repository, "main", "a", b"1")
        other = msgspec.structs.replace(entry, metadata={"b": "c"})
        await write.stage(repository, "main", other, IfMatch(version_of(entry)))
        assert await read.stat(repository, "main", "a") == other

    async def test_if_absent_holds_once(self, repository: Repository) -> None:
        await write.put(repository, "main", "a", b"1", condition=IfAbsent())
        with pytest.raises(PreconditionFailed):
            await write.put(repository, "main", "a", b"2", condition=IfAbsent())
        await commit_staged(repository, "main", description())
        with pytest.raises(PreconditionFailed):
            await write.put(repository, "main", "a", b"3", condition=IfAbsent())
        await write.delete(repository, "main", ["a"])
        await write.put(repository, "main", "a", b"4", condition=IfAbsent())
        assert await text_at(repository, "main", "a") == "4"

    async def test_if_match_holds_for_what_readers_see(self, repository: Repository) -> None:
        entry = await write.put(repository, "main", "a", b"1")
        await commit_staged(repository, "main", description())
        assert entry.checksum is not None
        changed = await write.put(repository, "main", "a", b"2", condition=IfMatch(entry.checksum))
        with pytest.raises(PreconditionFailed):
            await write.put(repository, "main", "a", b"3", condition=IfMatch(entry.checksum))
        assert changed.checksum is not None
        await compact(repository, "main")
        await write.put(repository, "main", "a", b"4", condition=IfMatch(changed.checksum))
        with pytest.raises(PreconditionFailed):
            await write.put(repository, "main", "nothing", b"5", condition=IfMatch(changed.checksum))
        assert await files_at(repository, "main") == {"a": "4"}

    async def test_what_has_no_checksum_is_matched_by_where_it_lies(self, repository: Repository) -> None:
        entry = await write.link(repository, "main", "a", "s3://elsewhere/a", size=1, checksum=None)
        with pytest.raises(PreconditionFailed):
            await write.put(repository, "main", "a", b"2", condition=IfMatch("other"))
        await write.put(repository, "main", "a", b"2", condition=IfMatch(version_of(entry)))
        assert await text_at(repository, "main", "a") == "2"

    async def test_a_delete_takes_conditions_too(self, repository: Repository) -> None:
        entry = await write.put(repository, "main", "a", b"1")
        assert entry.checksum is not None
        await commit_staged(repository, "main", description())
        with pytest.raises(PreconditionFailed):
            await write.delete_if(repository, "main", "a", IfMatch("other"))
        await write.delete_if(repository, "main", "a", IfMatch(entry.checksum))
        with pytest.raises(NothingToMatch):
            await write.delete_if(repository, "main", "a", IfPresent())
        await write.put(repository, "main", "a", b"2")
        await write.delete_if(repository, "main", "a", IfPresent())
        assert await files_at(repository, "main") == {}

    async def test_of_conditional_deletes_of_one_object_one_succeeds(self, repository: Repository) -> None:
        await write.put(repository, "main", "a", b"1")

        async def delete() -> bool:
            try:
                await write.delete_if(repository, "main", "a", IfPresent())
            except NothingToMatch:
                return False
            return True

        assert sorted(await asyncio.gather(*(delete() for _ in range(5)))) == [False] * 4 + [True]


class TestCommits:
    async def test_a_commit_tells_who_when_and_why(self, repository: Repository) -> None:
        await put(repository, a="1")
        landed = await commit_staged(repository, "main", description("because"))
        assert (landed.message, landed.committer, landed.time) == ("because", "tests", 1_700_000_000_000)
        assert await describe.get_commit(repository, "main") == landed

    async def test_what_changes_nothing_is_refused_unless_it_is_wanted(self, repository: Repository) -> None:
        await commit(repository, a="1")
        for stage in (
            put(repository),
            put(repository, a="1"),
            write.delete(repository, "main", ["nothing"]),
        ):
            await stage
            with pytest.raises(NothingToCommit):
                await commit_staged(repository, "main", description())
        empty = await commit_staged(repository, "main", description("wanted"), allow_empty=True)
        assert (await log(repository, "main")).commits[0] == empty

    async def test_what_was_compacted_and_then_undone_is_no_change(self, repository: Repository) -> None:
        await commit(repository, a="1")
        await put(repository, b="2")
        await compact(repository, "main")
        await write.delete(repository, "main", ["b"])
        assert await uncommitted(repository, "main") == []
        with pytest.raises(NothingToCommit):
            await commit_staged(repository, "main", description())
        assert (await describe.get_branch(repository, "main")).clean

    async def test_a_log_of_paths_shows_what_touched_them(self, repository: Repository) -> None:
        await commit(repository, message="one", **{"a/1": "1", "b": "1"})
        await commit(repository, message="two", b="2")
        await write.delete(repository, "main", ["a/1"])
        await commit(repository, message="three")
        messages = [each.message for each in (await log(repository, "main", paths=["a/"])).commits]
        assert messages == ["three", "one"]
        messages = [each.message for each in (await log(repository, "main", paths=["b", "c"])).commits]
        assert messages == ["two", "one"]

    async def test_the_commits_between_two(self, repository: Repository) -> None:
        first = await commit(repository, a="1")
        rest = [await commit(repository, a=str(number)) for number in range(2, 6)]
        found = [each async for batch in describe.between(repository, first.id, "main") for each in batch]
        assert found == rest[::-1]
        with pytest.raises(NotAnAncestor):
            [each async for each in describe.between(repository, "main", first.id)]


class TestDiffs:
    async def test_two_dots_tell_both_sides_and_three_dots_one(self, repository: Repository) -> None:
        await commit(repository, a="1", b="1", c="1")
        await branches.create_branch(repository, "dev", "main")
        await commit(repository, "dev", b="2", d="1")
        await write.delete(repository, "main", ["c"])
        await commit(repository, "main", a="2")
        assert told(await diff(repository, "main", "dev")) == {
            "a": "changed",
            "b": "changed",
            "c": "added",
            "d": "added",
        }
        assert told(await diff(repository, "main", "dev", three_dot=True)) == {"b": "changed", "d": "added"}

    async def test_an_uncommitted_diff_is_what_would_be_committed(self, repository: Repository) -> None:
        await commit(repository, a="1", b="1", same="1")
        await put(repository, b="2", c="1", same="1")
        await write.delete(repository, "main", ["a", "nothing"])
        expected = {"a": "removed", "b": "changed", "c": "added"}
        assert told(await uncommitted(repository, "main")) == expected
        await compact(repository, "main")
        assert told(await uncommitted(repository, "main")) == expected
        await put(repository, d="1", b="1")
        assert told(await uncommitted(repository, "main")) == {"a": "removed", "c": "added", "d": "added"}
        assert told(await uncommitted(repository, "main", prefix="c")) == {"c": "added"}
        landed = await commit_staged(repository, "main", description())
        assert told(await diff(repository, f"{landed.id}~1", landed.id)) == {
            "a": "removed",
            "c": "added",
            "d": "added",
        }


class TestMerges:
    @pytest.fixture
    async def forked(self, repository: Repository) -> Repository:
        """main and dev both changed x/a, and each something of its own."""
        await commit(repository, **{"x/a": "0", "y/b": "0", "z/c": "0"})
        await branches.create_branch(repository, "dev", "main")
        await commit(repository, "dev", **{"x/a": "dev", "y/b": "dev"})
        await commit(repository, "main", **{"x/a": "main", "z/c": "main"})
        return repository

    async def test_changes_of_both_sides_come_together(self, repository: Repository) -> None:
        await commit(repository, a="0", b="0")
        await branches.create_branch(repository, "dev", "main")
        theirs = await commit(repository, "dev", a="dev", c="dev")
        ours = await commit(repository, b="main")
        landed = await merge(repository, "dev", "main", description())
        assert landed.parents == (ours.id, theirs.id)
        assert await files_at(repository, "main") == {"a": "dev", "b": "main", "c": "dev"}
        with pytest.raises(NothingToMerge):
            await merge(repository, "dev", "main", description())

    async def test_a_conflict_is_told_and_nothing_is_merged(self, forked: Repository) -> None:
        head = await describe.get_commit(forked, "main")
        with pytest.raises(MergeConflict, match="x/a") as failure:
            await merge(forked, "dev", "main", description())
        [conflict] = failure.value.conflicts
        assert failure.value.count == 1
        assert path_of(conflict.key) == "x/a"
        assert await describe.get_commit(forked, "main") == head

    @pytest.mark.parametrize(("strategy", "text"), [(Strategy.SOURCE_WINS, "dev"), (Strategy.DEST_WINS, "main")])
    async def test_a_strategy_decides_conflicts_alone(self, forked: Repository, strategy: Strategy, text: str) -> None:
        await merge(forked, "dev", "main", description(), strategy=strategy)
        assert await files_at(forked, "main") == {"x/a": text, "y/b": "dev", "z/c": "main"}

    async def test_prefixes_force_and_drop(self, forked: Repository) -> None:
        behaviours = {"x/": Behaviour.FORCE, "y/": Behaviour.DROP}
        await merge(forked, "dev", "main", description(), prefixes=behaviours)
        assert await files_at(forked, "main") == {"x/a": "dev", "y/b": "0", "z/c": "main"}

    async def test_a_squash_has_one_parent(self, repository: Repository) -> None:
        await branches.create_branch(repository, "dev", "main")
        await commit(repository, "dev", a="1")
        await commit(repository, "dev", b="2")
        landed = await merge(repository, "dev", "main", description(), squash=True)
        assert len(landed.parents) == 1
        assert await files_at(repository, "main") == {"a": "1", "b": "2"}

    async def test_what_is_staged_stays_on_top_of_a_merge(self, repository: Repository) -> None:
        await branches.create_branch(repository, "dev", "main")
        await commit(repository, "dev", a="dev", b="dev")
        await put(repository, a="staged", c="staged")
        landed = await merge(repository, "dev", "main", description())
        assert await files_at(repository, landed.id) == {"a": "dev", "b": "dev"}
        assert await files_at(repository, "main") == {"a": "staged", "b": "dev", "c": "staged"}

    async def test_a_merge_into_a_compacted_branch_keeps_what_is_staged(self, repository: Repository) -> None:
        await commit(repository, gone="0", kept="0")
        await branches.create_branch(repository, "dev", "main")
        await commit(repository, "dev", a="dev", b="dev", gone="dev")
        await put(repository, a="staged", c="staged")
        await write.delete(repository, "main", ["gone"])
        await compact(repository, "main")
        await put(repository, d="later")
        await merge(repository, "dev", "main", description())
        assert await files_at(repository, "main@") == {"a": "dev", "b": "dev", "gone": "dev", "kept": "0"}
        expected = {"a": "staged", "b": "dev", "c": "staged", "d": "later", "kept": "0"}
        assert await files_at(repository, "main") == expected
        assert told(await uncommitted(repository, "main")) == {
            "a": "changed",
            "c": "added",
            "d": "added",
            "gone": "removed",
        }
        landed = await commit_staged(repository, "main", description("all"))
        assert await files_at(repository, landed.id) == expected
        assert [each.message for each in (await log(repository, "main", paths=["c"])).commits] == ["all"]

    async def test_a_revert_undoes_one_commit_and_of_a_merge_needs_the_parent(self, repository: Repository) -> None:
        first = await commit(repository, a="1", b="1")
        await commit(repository, c="1")
        await revert(repository, first.id, "main", description())
        assert await files_at(repository, "main") == {"c": "1"}
        await branches.create_branch(repository, "dev", "main")
        await commit(repository, "dev", d="1")
        await commit(repository, e="1")
        merged = await merge(repository, "dev", "main", description())
        with pytest.raises(BadRequest, match="2 parents"):
            await revert(repository, merged.id, "main", description())
        for number in (0, 3):
            with pytest.raises(BadRequest, match="counted from 1"):
                await revert(repository, merged.id, "main", description(), parent=number)
        await revert(repository, merged.id, "main", description(), parent=1)
        assert await files_at(repository, "main") == {"c": "1", "e": "1"}
        with pytest.raises(NothingToMerge):
            await revert(repository, merged.id, "main", description(), parent=1)

    async def test_a_revert_of_what_was_changed_again_is_a_conflict(self, repository: Repository) -> None:
        first = await commit(repository, a="1")
        await commit(repository, a="2")
        with pytest.raises(MergeConflict):
            await revert(repository, first.id, "main", description())

    async def test_a_cherry_pick_does_again_what_one_commit_did(self, repository: Repository) -> None:
        await branches.create_branch(repository, "dev", "main")
        await commit(repository, "dev", a="1")
        picked = await commit(repository, "dev", b="1")
        landed = await cherry_pick(repository, picked.id, "main", description("picked"))
        assert await files_at(repository, "main") == {"b": "1"}
        assert len(landed.parents) == 1
        with pytest.raises(NothingToMerge):
            await cherry_pick(repository, picked.id, "main", description())


class TestResets:
    @pytest.fixture
    async def staged(self, repository: Repository) -> Repository:
        await commit(repository, **{"a/1": "0", "a/2": "0", "b": "0"})
        await put(repository, **{"a/1": "1", "a/3": "1", "b": "1"})
        await write.delete(repository, "main", ["a/2"])
        return repository

    @pytest.mark.parametrize("compacted", [False, True])
    async def test_a_reset_gives_up_all_that_is_staged(self, staged: Repository, compacted: bool) -> None:  # noqa: FBT001  (a parameter)
        if compacted:
            await compact(staged, "main")
        await reset.reset(staged, "main")
        assert await files_at(staged, "main") == {"a/1": "0", "a/2": "0", "b": "0"}
        assert (await describe.get_branch(staged, "main")).clean

    @pytest.mark.parametrize("compacted", [False, True])
    async def test_a_reset_of_a_prefix_leaves_the_rest_staged(self, staged: Repository, compacted: bool) -> None:  # noqa: FBT001  (a parameter)
        if compacted:
            await compact(staged, "main")
        await reset.reset_prefix(staged, "main", "a/")
        assert await files_at(staged, "main") == {"a/1": "0", "a/2": "0", "b": "1"}
        assert told(await uncommitted(staged, "main")) == {"b": "changed"}

    async def test_a_reset_of_a_path_is_of_that_path_alone(self, staged: Repository) -> None:
        await put(staged, **{"a/11": "1"})
        await reset.reset_path(staged, "main", "a/1")
        await reset.reset_path(staged, "main", "a/")
        assert told(await uncommitted(staged, "main")) == {
            "a/11": "added",
            "a/2": "removed",
            "a/3": "added",
            "b": "changed",
        }

    async def test_a_hard_reset_moves_the_head_and_drops_what_is_staged(self, staged: Repository) -> None:
        await reset.hard_reset(staged, "main", "main~1")
        assert await files_at(staged, "main") == {}
        landed = await commit(staged, c="1")
        assert await files_at(staged, "main") == {"c": "1"}
        assert (await describe.get_branch(staged, "main")).heads[1].until > 0
        assert landed.generation == 2


class TestReferences:
    async def test_a_branch_takes_the_commit_and_not_what_is_staged(self, repository: Repository) -> None:
        await commit(repository, a="1")
        await put(repository, b="1")
        await branches.create_branch(repository, "dev", "main")
        assert await files_at(repository, "dev") == {"a": "1"}
        with pytest.raises(RefExists):
            await branches.create_branch(repository, "dev", "main")

    async def test_a_deleted_branch_is_gone_and_its_name_is_free(self, repository: Repository) -> None:
        await branches.create_branch(repository, "dev", "main")
        await commit(repository, "dev", a="1")
        await put(repository, "dev", b="1")
        await branches.delete_branch(repository, "dev")
        with pytest.raises(RefNotFound):
            await files_at(repository, "dev")
        with pytest.raises(RefNotFound):
            await branches.delete_branch(repository, "dev")
        await branches.create_branch(repository, "dev", "main")
        assert await files_at(repository, "dev") == {}
        await commit(repository, "dev", c="1")
        assert await files_at(repository, "dev") == {"c": "1"}

    async def test_references_are_listed_by_prefix_in_pages(self, repository: Repository) -> None:
        for name in ("dev/b", "dev/a", "dev/c", "other"):
            await branches.create_branch(repository, name, "main")
            await branches.create_tag(repository, f"v/{name}", "main")
        await branches.delete_branch(repository, "dev/b")
        found = await branches.list_branches(repository, prefix="dev/")
        assert [name for name, _ in found] == ["dev/a", "dev/c"]
        found = await branches.list_branches(repository, after="dev/a", amount=2)
        assert [name for name, _ in found] == ["dev/c", "main"]
        listed = await branches.list_tags(repository, prefix="v/dev", after="v/dev/a", amount=1)
        assert [tag.name for tag in listed] == ["v/dev/b"]

    async def test_expressions_lead_back(self, repository: Repository) -> None:
        first = await commit(repository, a="1")
        await commit(repository, a="2")
        await branches.create_tag(repository, "v1", "main")
        await put(repository, a="3")
        assert await text_at(repository, "main", "a") == "3"
        assert await text_at(repository, "main@", "a") == "2"
        for ref in ("main~1", "v1~1", "v1^", first.id, first.id[:12], "main@~1"):
            assert await text_at(repository, ref, "a") == "1"

    async def test_a_name_that_cannot_be_is_refused(self, repository: Repository) -> None:
        for name in ("", "a b", "a~1", "/a", "a..b"):
            with pytest.raises(BadName):
                await branches.create_branch(repository, name, "main")


class TestRepositories:
    async def test_a_read_only_repository_takes_no_writes_until_it_is_told_to(self, place: tuple[Lake, str]) -> None:
        lake, namespace = place
        await commit(await lake.create("sales", namespace), a="1")
        locked = await lake.set_read_only("sales", read_only=True)
        assert await files_at(locked, "main") == {"a": "1"}
        for refused in (
            put(locked, b="1"),
            write.delete(locked, "main", ["a"]),
            commit_staged(locked, "main", description()),
            merge(locked, "main", "main", description()),
            reset.reset(locked, "main"),
            reset.hard_reset(locked, "main", "main~1"),
            branches.create_branch(locked, "dev", "main"),
            branches.create_tag(locked, "v1", "main"),
            branches.delete_branch(locked, "main"),
            lake.delete("sales"),
        ):
            with pytest.raises(ReadOnly):
                await refused
        await put(await lake.set_read_only("sales", read_only=False), b="1")

    async def test_metadata_is_replaced_and_all_else_kept(self, place: tuple[Lake, str]) -> None:
        lake, namespace = place
        created = await lake.create("sales", namespace, metadata={"a": "1"})
        changed = await lake.set_metadata("sales", {"b": "2"})
        assert changed.record.metadata == (await lake.open("sales")).record.metadata == {"b": "2"}
        assert changed.record.id == created.record.id
        with pytest.raises(RepositoryNotFound):
            await lake.set_metadata("nowhere", {})

    async def test_a_deleted_repository_leaves_no_record_behind(self, place: tuple[Lake, str]) -> None:
        lake, namespace = place
        repository = await lake.create("sales", namespace)
        await commit(repository, a="1")
        await branches.create_branch(repository, "dev", "main")
        await put(repository, "dev", b="1")
        token = (await describe.get_branch(repository, "dev")).token
        with pytest.raises(RepositoryExists):
            await lake.create("sales", namespace)
        await lake.delete("sales")
        with pytest.raises(RepositoryNotFound):
            await lake.open("sales")
        identity = repository.record.id.encode()
        for partition in (repository.partition, b"reflog/" + identity, b"stage/" + token.encode()):
            assert [page async for page in repository.store.scan(partition)] == []
        assert await files_at(await lake.create("sales", namespace), "main") == {}

    async def test_repositories_are_listed_in_pages(self, place: tuple[Lake, str]) -> None:
        lake, namespace = place
        for name in ("sales-b", "other", "sales-a"):
            await lake.create(name, f"{namespace}/{name}")
        assert [record.name for record in await lake.list(prefix="sales")] == ["sales-a", "sales-b"]
        assert [record.name for record in await lake.list(after="other", amount=1)] == ["sales-a"]
