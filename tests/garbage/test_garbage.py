"""Garbage collection, verb by verb, on a repository in a directory whose clock we set."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import polars as pl
import pyarrow as pa
import pytest

from headwater import blob, kv
from headwater.blob.namespace import data_name
from headwater.engine import branches, commit, importing, read, reset, uploads, write
from headwater.engine.commit import Description
from headwater.engine.errors import BadRequest
from headwater.engine.lake import Lake
from headwater.engine.ref_log import ref_log, undo_ref
from headwater.engine.repository import Repository
from headwater.engine.workspaces import beginning
from headwater.engine.workspaces import committing as workspace_committing
from headwater.engine.workspaces import writing as workspace_writing
from headwater.engine.workspaces.errors import WorkspaceClosed
from headwater.files import append
from headwater.garbage import (
    NoSuchPlan,
    RetentionRule,
    RetentionRules,
    SharedNamespace,
    Swept,
    list_plans,
    make_plan,
    read_rules,
    sweep,
    write_rules,
)
from headwater.garbage.limits import DAY
from headwater.garbage.plans import parts_of
from headwater.garbage.references import copied
from headwater.index import Block, Corrupt, Missing
from headwater.kv import Store
from headwater.outside import Outside, real_outside

pytestmark = pytest.mark.anyio


class Days:
    """A clock that is set by hand. It waits for nobody."""

    def __init__(self) -> None:
        self.now = real_outside().now()
        self.slept = 0.0

    def pass_days(self, days: float) -> None:
        self.now += int(days * DAY)

    def outside(self) -> Outside:
        async def sleep(seconds: float) -> None:
            self.slept += seconds
            await asyncio.sleep(0)

        return msgspec.structs.replace(real_outside(), now=lambda: self.now, elapsed=lambda: self.slept, sleep=sleep)


@pytest.fixture
def days() -> Days:
    return Days()


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with await kv.open("mem://") as opened:
        yield opened


@pytest.fixture
async def lake(store: Store, days: Days) -> Lake:
    return Lake(store, blob.open, days.outside())


@pytest.fixture
async def repository(lake: Lake, tmp_path: Path) -> Repository:
    return await lake.create("sales", f"file://{tmp_path}/objects")


async def put(repository: Repository, branch: str, **files: str) -> dict[str, str]:
    """Stage *files*; where the bytes of each are."""
    found = {}
    for path, text in files.items():
        entry = await write.put(repository, branch, path, text.encode())
        found[path] = entry.blocks[0].address
    return found


async def committed(repository: Repository, branch: str, **files: str) -> dict[str, str]:
    found = await put(repository, branch, **files)
    await commit.commit(repository, branch, Description("a change", "tests", repository.outside.now()))
    return found


async def objects(repository: Repository) -> set[str]:
    return {each.name async for page in repository.blobs.list("data/") for each in page}


async def collect(lake: Lake, name: str = "sales", *, rate: float | None = None) -> Swept:
    plan = await make_plan(lake, name)
    return await sweep(lake, name, plan.run, rate=rate)


async def test_what_was_given_up_is_deleted_when_it_is_old_and_not_before(
    lake: Lake, repository: Repository, days: Days
) -> None:
    kept = await committed(repository, "main", a="1")
    lost = await put(repository, "main", b="2")
    await reset.reset(repository, "main")
    assert (await collect(lake)).deleted == 0
    days.pass_days(2)
    swept = await collect(lake)
    assert (swept.deleted, swept.bytes, swept.spared) == (1, 1, 0)
    assert await objects(repository) == set(kept.values())
    assert lost["b"] not in await objects(repository)


async def test_a_second_run_right_after_deletes_nothing(lake: Lake, repository: Repository, days: Days) -> None:
    await put(repository, "main", a="1")
    await reset.reset(repository, "main")
    days.pass_days(2)
    assert (await collect(lake)).deleted == 1
    plan = await make_plan(lake, "sales")
    assert (plan.objects, plan.bytes) == (0, 0)


async def test_without_rules_every_commit_keeps_what_it_has(lake: Lake, repository: Repository, days: Days) -> None:
    await committed(repository, "main", a="1")
    await committed(repository, "main", a="2")
    days.pass_days(3000)
    assert (await collect(lake)).deleted == 0


async def test_a_branch_keeps_what_it_held_within_its_days(lake: Lake, repository: Repository, days: Days) -> None:
    await write_rules(repository, RetentionRules(2, (RetentionRule("main", 10),)))
    await branches.create_branch(repository, "dev", "main")
    main = [await committed(repository, "main", a=text) for text in ("m1", "m2")]
    dev = [await committed(repository, "dev", a=text) for text in ("d1", "d2")]
    days.pass_days(5)
    assert (await collect(lake)).deleted == 1
    assert await objects(repository) == {main[0]["a"], main[1]["a"], dev[1]["a"]}
    days.pass_days(6)
    assert (await collect(lake)).deleted == 1
    assert await objects(repository) == {main[1]["a"], dev[1]["a"]}


async def test_what_a_branch_held_until_lately_is_kept_however_old_it_is(
    lake: Lake, repository: Repository, days: Days
) -> None:
    await write_rules(repository, RetentionRules(7))
    old = await committed(repository, "main", a="old")
    days.pass_days(100)
    await committed(repository, "main", a="new")
    days.pass_days(5)
    assert (await collect(lake)).deleted == 0
    days.pass_days(3)
    assert (await collect(lake)).deleted == 1
    assert old["a"] not in await objects(repository)


async def test_tags_keep_their_commit_for_ever(lake: Lake, repository: Repository, days: Days) -> None:
    await write_rules(repository, RetentionRules(1))
    tagged = await committed(repository, "main", a="tagged")
    await branches.create_tag(repository, "v1", "main", tagger="tests")
    await committed(repository, "main", a="new")
    days.pass_days(1000)
    assert (await collect(lake)).deleted == 0
    assert tagged["a"] in await objects(repository)


async def test_a_deleted_branch_can_be_brought_back_within_its_days(
    lake: Lake, repository: Repository, days: Days
) -> None:
    await write_rules(repository, RetentionRules(1, (RetentionRule("dev", 10),)))
    await branches.create_branch(repository, "dev", "main")
    file = await committed(repository, "dev", a="dev")
    days.pass_days(50)
    await branches.delete_branch(repository, "dev")
    days.pass_days(8)
    assert (await collect(lake)).deleted == 0
    entry = (await ref_log(repository)).entries[0]
    await undo_ref(repository, entry.id)
    await branches.delete_branch(repository, "dev")
    days.pass_days(11)
    assert (await collect(lake)).deleted == 1
    assert file["a"] not in await objects(repository)


async def test_what_is_staged_or_compacted_is_kept_for_ever(lake: Lake, repository: Repository, days: Days) -> None:
    from headwater.engine.compaction import compact  # noqa: PLC0415

    await write_rules(repository, RetentionRules(1))
    staged = await put(repository, "main", a="1", b="2")
    await compact(repository, "main")
    staged |= await put(repository, "main", c="3")
    days.pass_days(1000)
    assert (await collect(lake)).deleted == 0
    assert await objects(repository) == set(staged.values())


async def test_an_object_counts_as_written_when_it_is_copied(lake: Lake, repository: Repository, days: Days) -> None:
    await put(repository, "main", a="1")
    days.pass_days(30)
    await write.copy(repository, "main", "b", "main", "a")
    await reset.reset(repository, "main")
    assert (await collect(lake)).deleted == 0
    days.pass_days(2)
    assert (await collect(lake)).deleted == 1


@pytest.mark.parametrize("size", [900, 915, 926])
async def test_a_copy_of_what_was_committed_where_it_lay_counts_however_long_its_path_is(
    lake: Lake, repository: Repository, days: Days, size: int
) -> None:
    """Its address has its path in it, and may be longer than a note of it can have in its key."""
    path = "/".join(["d" * 200] * 5)[: size - 1] + "x"
    workspace = await beginning.begin(repository, "main")
    await workspace_writing.put_object(repository, workspace.id, path, b"1")
    await workspace_committing.commit_workspace(repository, workspace, Description("all", "tests", days.now))
    address = (await read.stat(repository, "main", path)).blocks[0].address
    days.pass_days(30)
    await write.copy(repository, "main", "b", "main", path)
    assert await copied(repository, days.now) == [address]
    days.pass_days(2)
    await collect(lake)
    assert await copied(repository, 0) == []


async def test_segments_and_foreign_addresses_of_imports_are_read(
    lake: Lake, repository: Repository, days: Days, tmp_path: Path
) -> None:
    """More entries than a delta holds, so that they are in segments; some addresses are URIs of this namespace."""
    inside = [data_name(days.now, f"inside{number}") for number in range(4)]
    for name in inside:
        await repository.blobs.put(name, b"x")
    uri = f"file://{tmp_path}/objects/{inside[1]}"
    rows = pa.table(
        {
            "path": [f"many/{number:05d}" for number in range(5000)],
            "address": [inside[0], uri, *(f"s3://elsewhere/{number}" for number in range(4998))],
            "size": [1] * 5000,
        }
    )
    await importing.import_table(repository, "main", rows, Description("import", "tests", days.now))
    days.pass_days(3)
    assert (await collect(lake)).deleted == 2
    assert await objects(repository) == set(inside[:2])


async def test_blocks_of_growing_files_are_kept_behind_their_lists(lake: Lake, days: Days, tmp_path: Path) -> None:
    log = await lake.create("log", f"file://{tmp_path}/log", mode="append")
    for number in range(40):
        await append.append(log, "main", "events", f"{number}\n".encode())
    await commit.commit(log, "main", Description("grown", "tests", days.now))
    before = await objects(log)
    days.pass_days(3)
    assert (await collect(lake, "log")).deleted == 0
    assert len(await objects(log)) == len(before) > 0


async def test_a_plan_is_parquet_that_tells_what_will_go(lake: Lake, repository: Repository, days: Days) -> None:
    lost = await put(repository, "main", a="four", b="x")
    await reset.reset(repository, "main")
    days.pass_days(2)
    plan = await make_plan(lake, "sales")
    [part] = await parts_of(repository.blobs, plan)
    rows = pl.read_parquet(io.BytesIO(await repository.blobs.read(part)))
    assert rows["address"].to_list() == sorted(lost.values())
    assert sorted(rows["size"]) == [1, 4]
    assert (plan.objects, plan.bytes, plan.candidates) == (2, 5, 2)
    assert [each.run for each in await list_plans(repository)] == [plan.run]


async def test_a_dry_run_counts_and_deletes_nothing(lake: Lake, repository: Repository, days: Days) -> None:
    await put(repository, "main", a="1")
    await reset.reset(repository, "main")
    days.pass_days(2)
    plan = await make_plan(lake, "sales")
    dry = await sweep(lake, "sales", plan.run, dry_run=True)
    assert (dry.deleted, dry.dry_run) == (1, True)
    assert len(await objects(repository)) == 1
    assert (await sweep(lake, "sales", plan.run)).deleted == 1


async def test_what_is_referred_to_after_the_plan_is_spared(lake: Lake, repository: Repository, days: Days) -> None:
    old = await put(repository, "main", a="1")
    await reset.reset(repository, "main")
    days.pass_days(2)
    plan = await make_plan(lake, "sales")
    await write.link(repository, "main", "back", old["a"], size=1, checksum=None)
    swept = await sweep(lake, "sales", plan.run)
    assert (swept.deleted, swept.spared) == (0, 1)
    assert old["a"] in await objects(repository)


async def test_a_sweep_goes_on_where_it_was_killed(
    lake: Lake, repository: Repository, days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwater.garbage.plans.PART", 3)
    monkeypatch.setattr("headwater.garbage.sweeping.BATCH", 2)
    for number in range(10):
        await put(repository, "main", **{f"f{number}": "x"})
    await reset.reset(repository, "main")
    days.pass_days(2)
    plan = await make_plan(lake, "sales")

    class Killed(Exception):
        pass

    def kill(swept: Swept) -> None:
        if swept.deleted == 5:
            raise Killed

    with pytest.raises(Killed):
        await sweep(lake, "sales", plan.run, progress=kill)
    left = len(await objects(repository))
    assert left == 5
    swept = await sweep(lake, "sales", plan.run)
    assert swept.parts == 3
    assert await objects(repository) == set()
    assert (await sweep(lake, "sales", plan.run)).parts == 0


async def test_a_rate_is_kept(lake: Lake, repository: Repository, days: Days, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headwater.garbage.sweeping.BATCH", 1)
    for number in range(10):
        await put(repository, "main", **{f"f{number}": "x"})
    await reset.reset(repository, "main")
    days.pass_days(2)
    before = days.slept
    await collect(lake, rate=0.5)
    assert days.slept - before >= 20


async def test_a_missing_segment_ends_the_run_and_nothing_is_deleted(
    lake: Lake, repository: Repository, days: Days
) -> None:
    rows = pa.table({"path": [f"{n:05d}" for n in range(5000)], "address": ["s3://b/x"] * 5000, "size": [1] * 5000})
    await importing.import_table(repository, "main", rows, Description("import", "tests", days.now))
    await put(repository, "main", a="1")
    await reset.reset(repository, "main")
    days.pass_days(2)
    [segment, *_] = [each async for page in repository.blobs.list("meta/segments/") for each in page]
    whole = await repository.blobs.read(segment.name)
    await repository.blobs.put(segment.name, whole[:-100])
    with pytest.raises(Corrupt):
        await make_plan(lake, "sales")
    await repository.blobs.delete(segment.name)
    with pytest.raises(Missing):
        await make_plan(lake, "sales")
    assert await list_plans(repository) == []


async def test_a_namespace_that_two_repositories_share_is_refused(
    lake: Lake, repository: Repository, tmp_path: Path
) -> None:
    await lake.create("other", f"file://{tmp_path}/objects/")
    with pytest.raises(SharedNamespace, match="other"):
        await make_plan(lake, repository.name)


async def test_a_plan_that_is_not_there_is_refused(lake: Lake, repository: Repository) -> None:
    with pytest.raises(NoSuchPlan, match="make one"):
        await sweep(lake, repository.name, "20260101T000000Z-00000000")


async def test_rules_are_checked_and_kept(repository: Repository) -> None:
    assert await read_rules(repository) is None
    rules = RetentionRules(21, (RetentionRule("main", 90),))
    await write_rules(repository, rules)
    assert await read_rules(repository) == rules
    with pytest.raises(BadRequest, match="retention_days=0"):
        await write_rules(repository, RetentionRules(0))
    with pytest.raises(BadRequest, match="two rules"):
        await write_rules(repository, RetentionRules(1, (RetentionRule("a", 1), RetentionRule("a", 2))))
    await write_rules(repository, None)
    assert await read_rules(repository) is None


async def test_an_age_that_running_writers_would_suffer_from_is_refused(lake: Lake, repository: Repository) -> None:
    with pytest.raises(BadRequest, match="7200 at least"):
        await make_plan(lake, repository.name, age=60)


async def test_a_workspace_is_kept_while_something_in_it_is_young(
    lake: Lake, repository: Repository, days: Days
) -> None:
    await repository.blobs.put("workspaces/w1/a", b"1")
    days.pass_days(0.5)
    assert (await collect(lake)).deleted == 0
    days.pass_days(2)
    assert (await collect(lake)).deleted == 1


async def test_the_parts_of_an_open_upload_stay_however_old_they_are(
    lake: Lake, repository: Repository, days: Days
) -> None:
    upload = await uploads.begin(repository, "main", "large", by="me", content_type=None, metadata={})
    stored = await write.store(repository, b"a part")
    part = uploads.Part(1, stored.block.length, stored.md5, stored.at, (stored.block,))
    await uploads.add(repository, upload, part)
    await write.store(repository, b"no part")
    days.pass_days(10)
    assert (await collect(lake)).deleted == 1
    assert await repository.blobs.read(stored.block.address) == b"a part"


async def test_the_parts_of_an_open_upload_are_kept_until_it_is_aborted(
    lake: Lake, repository: Repository, days: Days
) -> None:
    name = data_name(days.now, "part1")
    await repository.blobs.put(name, b"part")
    upload = await uploads.begin(repository, "main", "big", by="tests", content_type=None, metadata={})
    await uploads.add(repository, upload, uploads.Part(1, 4, "", days.now, (Block(name, 0, 4),), copied=True))
    days.pass_days(30)
    assert (await collect(lake)).deleted == 0
    await uploads.abort(repository, upload.id)
    assert (await collect(lake)).deleted == 1


async def test_a_workspace_that_nobody_goes_on_with_is_closed_and_then_cleared(
    lake: Lake, repository: Repository, days: Days
) -> None:
    workspace = await beginning.begin(repository, "main")
    other = await beginning.begin(repository, "main")
    for each in (workspace, other):
        await workspace_writing.put_object(repository, each.id, "a", b"1")
    assert (await collect(lake)).deleted == 0
    days.pass_days(3)
    assert (await collect(lake)).deleted == 2
    with pytest.raises(WorkspaceClosed):
        await workspace_writing.put_object(repository, workspace.id, "b", b"2")


async def test_what_was_committed_from_a_workspace_is_kept(lake: Lake, repository: Repository, days: Days) -> None:
    workspace = await beginning.begin(repository, "main")
    await workspace_writing.put_object(repository, workspace.id, "a", b"1")
    await workspace_committing.commit_workspace(
        repository, workspace, Description("from a workspace", "tests", days.now)
    )
    days.pass_days(3)
    assert (await collect(lake)).deleted == 0
