"""A check of a repository: nothing wrong with a sound one, and precisely what, with a damaged one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from headwater.blob.namespace import segment_name, tree_name
from headwater.engine import branches, describe, importing, merge, write
from headwater.engine.check import Finding, check
from headwater.engine.compaction import compact
from headwater.engine.repository import Repository, own_of
from headwater.history import Commit, record
from headwater.history import commit as commit_codec
from headwater.history.clock import Component, clock_key
from headwater.index import Block, Entry, IndexRecord
from headwater.index.delta import encode_own
from headwater.index.schema import batch_of_edits
from headwater.index.segment import make_segment
from headwater.refs import branch as branch_codec
from headwater.refs import branches as branch_store
from headwater.refs import reference_log, tags
from headwater.staging.tokens import partition_of as staging_partition_of
from tests.engine.lakes import commit, description, lake_in

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def repository(tmp_path: Path) -> Repository:
    """With something of each kind that can be damaged."""
    lake, namespace = await lake_in("mem", tmp_path)
    repository = await lake.create("sales", namespace)
    await commit(repository, a="1")
    await commit(repository, b="2")
    rows = 20_000
    listing = {"path": [f"x/{n:06d}" for n in range(rows)], "address": ["s3://b/x"] * rows, "size": [1] * rows}
    await importing.import_table(repository, "main", pa.table(listing), description())
    await branches.create_branch(repository, "dev", "main")
    await commit(repository, "dev", c="3")
    await merge.merge(repository, "dev", "main", description())
    await branches.create_tag(repository, "v1", "main~1", message="one")
    await commit(repository, d="4")
    await commit(repository, e="5")
    await write.put(repository, "main", "staged", b"x")
    await compact(repository, "main")
    await write.put(repository, "main", "staged", b"y")
    return repository


async def found(repository: Repository) -> list[Finding]:
    return list((await check(repository)).findings)


async def head(repository: Repository, ref: str = "main") -> Commit:
    return await describe.get_commit(repository, ref)


async def rewrite(repository: Repository, key: bytes, change: Callable[[bytes], bytes]) -> None:
    before = await repository.store.get(repository.partition, key)
    assert before is not None
    await repository.store.set(repository.partition, key, change(before.value))


async def set_branch(repository: Repository, name: str, **fields: object) -> None:
    changed = msgspec.structs.replace(await describe.get_branch(repository, name), **fields)
    await repository.store.set(repository.partition, branch_store.key_of(name), branch_codec.encode(changed))


def key(prefix: bytes, identity: str) -> bytes:
    return prefix + bytes.fromhex(identity)


async def test_a_sound_repository_has_no_findings_and_everything_is_counted(repository: Repository) -> None:
    report = await check(repository)
    assert report.sound
    assert (report.branches, report.tags, report.commits) == (2, 1, 9)
    assert report.trees == 1
    assert report.segments > 1


async def test_a_commit_that_is_gone(repository: Repository) -> None:
    gone = await head(repository, "main~3")
    await repository.store.delete(repository.partition, key(b"commit/", gone.id))
    findings = await found(repository)
    [finding] = [each for each in findings if each.what == "commit"]
    assert finding.name == gone.id
    assert finding.problem.startswith("is not there, and ")
    assert {each.what for each in findings} <= {"commit", "clock"}


async def test_a_commit_that_is_damaged_in_one_bit(repository: Repository) -> None:
    bad = await head(repository, "main~1")
    await rewrite(repository, key(b"commit/", bad.id), lambda value: value[:-9] + bytes([value[-9] ^ 1]) + value[-8:])
    [finding] = [each for each in await found(repository) if each.what == "commit"]
    assert finding.name == bad.id
    assert "damaged" in finding.problem


async def test_a_delta_that_is_gone_or_damaged(repository: Repository) -> None:
    last = await head(repository)
    assert last.inherited
    await rewrite(repository, key(b"delta/", last.id), lambda value: value + b"!")
    [damaged] = [each for each in await found(repository) if each.name == last.id]
    assert (damaged.what, "damaged" in damaged.problem) == ("delta", True)
    await repository.store.delete(repository.partition, key(b"delta/", last.id))
    [gone] = [each for each in await found(repository) if each.name == last.id]
    assert (gone.what, "not there" in gone.problem) == ("delta", True)


async def land(repository: Repository, made: Commit, inherited: bytes | None = None) -> None:
    """Put *made* at the head of dev, whatever it says of itself."""
    await repository.store.set(repository.partition, key(b"commit/", made.id), commit_codec.encode(made))
    if inherited is not None:
        await repository.store.set(repository.partition, key(b"delta/", made.id), inherited)
    await set_branch(repository, "dev", commit=made.id)
    parent = await repository.commits.get(made.parents[0])
    await repository.store.set(repository.partition, clock_key(parent.clock.last), bytes.fromhex(parent.id))


def named(made: Commit) -> Commit:
    """*made* with the id that its bytes have."""
    return msgspec.structs.replace(made, id=record.name(commit_codec.canonical(made)))


async def made_on_dev(repository: Repository, **fields: object) -> Commit:
    branch = await describe.get_branch(repository, "dev")
    parent = await repository.commits.get(branch.commit)
    made = Commit.create([parent], branch.incarnation, message="forged", committer="", time=1, tree=parent.tree)
    return named(msgspec.structs.replace(made, **fields))


async def test_a_generation_that_does_not_follow_from_the_parents(repository: Repository) -> None:
    made = await made_on_dev(repository, generation=77)
    await land(repository, made)
    [finding] = await found(repository)
    assert (finding.what, finding.name) == ("commit", made.id)
    assert "has generation 77; by its parents" in finding.problem


async def test_a_clock_that_does_not_follow_from_the_parent(repository: Repository) -> None:
    made = await made_on_dev(repository)
    last = made.clock.last
    components = (*made.clock.components[:-1], Component(last.incarnation, last.n + 5))
    made = named(msgspec.structs.replace(made, clock=msgspec.structs.replace(made.clock, components=components)))
    await land(repository, made)
    [finding] = await found(repository)
    assert finding == Finding("commit", made.id, "has a clock that does not follow from that of its parent")


async def test_own_changes_that_are_not_in_order(repository: Repository) -> None:
    entry = Entry("f/z", blocks=(Block("x", 0, 1),), size=1, checksum="x")
    own = own_of(IndexRecord(None, encode_own({"f/z": entry}), 1))
    assert own is not None
    made = await made_on_dev(repository, own=own[:-1])
    await land(repository, made)
    [finding] = await found(repository)
    assert (finding.what, finding.name) == ("delta", made.id)


async def test_a_clock_entry_that_is_gone_wrong_or_leads_nowhere(repository: Repository) -> None:
    parent = await head(repository, "main~1")
    place = f"({parent.clock.last.incarnation.hex()}, {parent.clock.last.n})"
    index = clock_key(parent.clock.last)
    await repository.store.delete(repository.partition, index)
    assert await found(repository) == [Finding("clock", place, f"has no entry, and commit {parent.id} stands there")]
    other = await head(repository, "main~2")
    await repository.store.set(repository.partition, index, bytes.fromhex(other.id))
    assert await found(repository) == [
        Finding("clock", place, f"leads to commit {other.id}, and commit {parent.id} stands there"),
        Finding("clock", place, f"leads to commit {other.id}, which does not stand there"),
    ]
    for nowhere in (b"\1" * 32, b"short"):
        await repository.store.set(repository.partition, index, nowhere)
        assert Finding("clock", place, f"leads to commit {nowhere.hex()}, which cannot be read") in await found(
            repository
        )


async def test_a_branch_whose_record_cannot_be_read(repository: Repository) -> None:
    await rewrite(repository, branch_store.key_of("dev"), lambda value: value[:-1])
    [finding] = await found(repository)
    assert (finding.what, finding.name) == ("branch", "dev")


async def test_a_branch_that_leads_nowhere(repository: Repository) -> None:
    await set_branch(repository, "dev", commit="7f" * 32)
    assert await found(repository) == [Finding("commit", "7f" * 32, "is not there, and branch dev needs it")]
    await set_branch(repository, "dev", commit="")
    assert await found(repository) == [Finding("branch", "dev", "has no head")]


async def test_two_branches_of_one_incarnation(repository: Repository) -> None:
    main = await describe.get_branch(repository, "main")
    await set_branch(repository, "dev", incarnation=main.incarnation)
    assert await found(repository) == [Finding("branch", "main", "has the incarnation of branch dev")]


async def test_a_tag_that_is_damaged_and_one_that_leads_nowhere(repository: Repository) -> None:
    tag = await describe.get_tag(repository, "v1")
    await rewrite(repository, tags.key_of("v1"), lambda value: value.replace(b"one", b"two"))
    [finding] = await found(repository)
    assert (finding.what, finding.name) == ("tag", "v1")
    stray = type(tag).create("v1", "7f" * 32, message="", tagger="", time=1)
    value = tags.encode_record(tags.record_of(stray, b"m" * 8))
    await repository.store.set(repository.partition, tags.key_of("v1"), value)
    assert await found(repository) == [Finding("commit", "7f" * 32, "is not there, and tag v1 needs it")]


Damage = Callable[[Repository, str], Awaitable[None]]


async def delete(repository: Repository, name: str) -> None:
    await repository.blobs.delete(name)


async def truncate(repository: Repository, name: str) -> None:
    await repository.blobs.put(name, (await repository.blobs.read(name))[:-7])


async def flip(repository: Repository, name: str) -> None:
    content = bytearray(await repository.blobs.read(name))
    content[len(content) // 3] ^= 1
    await repository.blobs.put(name, bytes(content))


@pytest.mark.parametrize("damage", [delete, truncate, flip])
async def test_a_tree_that_is_gone_or_damaged(repository: Repository, damage: Damage) -> None:
    tree = (await head(repository)).tree
    await damage(repository, tree_name(tree))
    [finding] = await found(repository)
    assert (finding.what, finding.name) == ("tree", tree)


@pytest.mark.parametrize("damage", [delete, truncate, flip])
async def test_a_segment_that_is_gone_or_damaged_though_it_is_cached(repository: Repository, damage: Damage) -> None:
    index = await repository.index_of((await head(repository)).id)
    segment = (await index.tree()).segments[1]
    await index.store.rows(segment)
    await damage(repository, segment_name(segment))
    [finding] = await found(repository)
    assert (finding.what, finding.name) == ("segment", segment)


async def forge_tree(repository: Repository, cut: list[int], key_of: Callable[[int], str]) -> str:
    """Have dev lead to a tree whose segments end where *cut* says."""
    index = repository.empty_index().store
    entries = [Entry(key_of(n), blocks=(Block("s3://b/x", 0, 1),), size=1, checksum="x") for n in range(cut[-1])]
    rows = batch_of_edits({entry.key: entry for entry in entries}).drop_columns("removed")
    stripes = await index.put_segments(
        [rows.slice(start, end - start) for start, end in zip([0, *cut], cut, strict=False)], keep=False
    )
    tree = (await index.tree(None)).with_stripes(stripes)
    await index.put_tree(tree)
    await land(repository, await made_on_dev(repository, tree=tree.id))
    return tree.id


async def test_segments_that_end_where_none_may(repository: Repository) -> None:
    await forge_tree(repository, [10, 20], lambda number: f"f/{number:04d}")
    [finding] = await found(repository)
    assert (finding.what, finding.problem.split(":")[0]) == ("segment", "ends where no segment may end")


async def test_entries_in_no_key_space(repository: Repository) -> None:
    await forge_tree(repository, [10], lambda number: f"x/{number:04d}")
    [finding] = await found(repository)
    assert (finding.what, finding.problem) == ("segment", "has a key in no key space: x/0000")


async def test_segments_that_overlap(repository: Repository) -> None:
    index = repository.empty_index().store
    stripes = []
    for first in (0, 5):
        entries = {f"f/{n}": Entry(f"f/{n}", size=1, checksum="x") for n in range(first, first + 4)}
        rows = batch_of_edits(entries).drop_columns("removed")
        stripes += await index.put_segments([make_segment(rows).rows], keep=False)
    wrong = [msgspec.structs.replace(stripes[0], last="f/6"), stripes[1]]
    tree = (await index.tree(None)).with_stripes(wrong)
    await index.put_tree(tree)
    await land(repository, await made_on_dev(repository, tree=tree.id))
    findings = await found(repository)
    assert Finding("tree", tree.id, "has segments that overlap") in findings
    assert any(each.what == "segment" and "that a tree tells of" in each.problem for each in findings)


async def test_a_staged_entry_that_cannot_be_read(repository: Repository) -> None:
    token = (await describe.get_branch(repository, "main")).token
    await repository.store.set(staging_partition_of(token), b"f/staged", b"\xff")
    [finding] = await found(repository)
    assert (finding.what, finding.name) == ("staged", "f/staged")
    assert finding.problem.endswith("(on branch main)")


async def test_a_log_of_references_that_is_damaged(repository: Repository) -> None:
    partition = reference_log.partition_of(repository.record.id)
    at_head = await repository.store.get(partition, reference_log.HEAD)
    assert at_head is not None
    newest = reference_log.decode_head(at_head.value).commit
    await repository.store.delete(partition, key(b"commit/", newest))
    assert await found(repository) == [
        Finding("commit", newest, "is not there, and the head of the reference log needs it")
    ]
    await repository.store.set(partition, reference_log.HEAD, b"\xff")
    [finding] = await found(repository)
    assert (finding.what, finding.name) == ("reference log", "head")
