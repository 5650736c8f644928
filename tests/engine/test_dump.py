"""A dump of all references, and what is restored of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater import blob, kv
from headwater.engine import branches, describe, dump, merge, write
from headwater.engine.check import check
from headwater.engine.errors import BadRequest, CorruptDump
from headwater.engine.log import log
from headwater.engine.repository import Repository
from headwater.history import LogPage
from headwater.kv import Store
from headwater.testing.counting import CountingStore
from tests.engine.lakes import commit, description, files_at, lake_in, lake_over

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def repository(tmp_path: Path) -> Repository:
    """With branches, a merge, a tag, a deleted branch, and a directory that outgrew its delta."""
    lake, namespace = await lake_in("mem", tmp_path)
    repository = await lake.create("sales", namespace)
    await commit(repository, a="1")
    await branches.create_branch(repository, "dev", "main")
    await commit(repository, "dev", b="2")
    await commit(repository, c="3")
    await merge.merge(repository, "dev", "main", description("both"))
    for number in range(600):
        await write.link(repository, "dev", f"many/{number:04d}", "s3://bucket/x", size=1, checksum=f"{number:032}")
    await commit(repository, "dev", d="4")
    await branches.create_tag(repository, "v1", "main", message="one", signing_key=b"k" * 32)
    await branches.create_branch(repository, "gone", "main")
    await branches.delete_branch(repository, "gone")
    return repository


async def bare(namespace: str, store: Store | None = None) -> Repository:
    return await lake_over(store or await kv.open("mem://")).create("restored", namespace, bare=True)


async def history(repository: Repository, ref: str) -> LogPage:
    return await log(repository, ref, first_parents=False)


async def test_what_is_restored_has_the_same_branches_tags_commits_and_files(repository: Repository) -> None:
    identity = await dump.dump(repository)
    restored = await bare(repository.record.namespace)
    await dump.restore(restored, identity)
    heads = {name: branch.commit for name, branch in await branches.list_branches(repository)}
    assert {name: branch.commit for name, branch in await branches.list_branches(restored)} == heads
    assert await branches.list_tags(restored) == await branches.list_tags(repository)
    for ref in ("main", "dev", "v1", "main~1"):
        assert await history(restored, ref) == await history(repository, ref)
    assert await files_at(restored, "main") == {"a": "1", "b": "2", "c": "3"}
    assert (await check(restored)).findings == ()


async def test_the_next_commit_on_a_restored_branch_has_the_clock_it_would_have_had(repository: Repository) -> None:
    restored = await bare(repository.record.namespace)
    await dump.restore(restored, await dump.dump(repository))
    assert (await commit(restored, e="5")).clock == (await commit(repository, e="5")).clock
    assert (await check(restored)).findings == ()


async def test_what_is_staged_is_not_dumped(repository: Repository) -> None:
    await write.put(repository, "main", "staged", b"x")
    restored = await bare(repository.record.namespace)
    await dump.restore(restored, await dump.dump(repository))
    assert (await describe.get_branch(restored, "main")).clean
    assert "staged" not in await files_at(restored, "main")


async def test_restoring_twice_is_no_change(repository: Repository) -> None:
    identity = await dump.dump(repository)
    restored = await bare(repository.record.namespace)
    await dump.restore(restored, identity)
    before = await branches.list_branches(restored)
    await dump.restore(restored, identity)
    assert await branches.list_branches(restored) == before


async def test_a_repository_that_has_references_is_not_restored_into(repository: Repository) -> None:
    identity = await dump.dump(repository)
    lake = lake_over(await kv.open("mem://"))
    other = await lake.create("other", repository.record.namespace)
    with pytest.raises(BadRequest, match="bare=True"):
        await dump.restore(other, identity)


async def test_a_dump_in_many_parts_is_one_dump(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump, "DUMP_PART", 1)
    monkeypatch.setattr(dump, "DUMP_BATCH", 2)
    identity = await dump.dump(repository)
    restored = await bare(repository.record.namespace)
    manifest = await dump.restore(restored, identity)
    assert len(manifest.parts) == manifest.commits // 2 + manifest.commits % 2
    assert await history(restored, "main") == await history(repository, "main")


async def test_a_long_history_is_dumped_and_checked_in_few_trips(tmp_path: Path) -> None:
    lake, namespace = await lake_in("mem", tmp_path)
    repository = await lake.create("sales", namespace)
    for number in range(300):
        await write.link(repository, "main", f"{number}", "s3://bucket/x", size=1, checksum=f"{number}")
        await commit(repository)
    store = CountingStore(repository.store)
    opened = await lake_over(store).open("sales")
    with store.counted() as trips:
        await dump.dump(opened)
    assert trips.total < 15
    with store.counted() as trips:
        report = await check(opened)
    assert report.commits == 301
    assert trips.total < 40


async def test_a_damaged_dump_makes_no_reference(repository: Repository) -> None:
    identity = await dump.dump(repository)
    async with await blob.open(repository.record.namespace) as objects:
        names = [each.name async for page in objects.list(dump.DUMPS) for each in page]
        for name in names:
            content = await objects.read(name)
            await objects.put(name, content[:-1] + bytes([content[-1] ^ 1]))
            restored = await bare(repository.record.namespace)
            with pytest.raises(CorruptDump, match="damaged"):
                await dump.restore(restored, identity)
            await objects.delete(name)
            with pytest.raises(CorruptDump, match="not in the namespace"):
                await dump.restore(restored, identity)
            assert await branches.list_branches(restored) == []
            assert await branches.list_tags(restored) == []
            await objects.put(name, content)
    assert len(names) == 2


async def test_a_dump_is_named_by_its_hash(repository: Repository) -> None:
    with pytest.raises(BadRequest, match="64"):
        await dump.restore(await bare(repository.record.namespace), "../../secret")
