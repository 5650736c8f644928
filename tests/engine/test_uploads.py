"""Uploads in parts: what becomes of the records and the bytes, whoever fails or races."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest

from headwater import blob, kv
from headwater.engine import commit, read, uploads, write
from headwater.engine.commit import Description
from headwater.engine.completing import Chosen, check_parts, complete
from headwater.engine.conditional import IfAbsent
from headwater.engine.errors import PartTooSmall, PreconditionFailed, UploadNotFound
from headwater.engine.lake import Lake
from headwater.engine.limits import MAX_BLOCKS
from headwater.engine.repository import Repository
from headwater.engine.uploads import Part, Upload
from headwater.index import Entry
from headwater.outside import real_outside

pytestmark = pytest.mark.anyio


@pytest.fixture
async def repository() -> AsyncIterator[Repository]:
    async with await kv.open("mem://") as store:
        yield await Lake(store, blob.open, real_outside()).create("rivers", "mem://")


async def begin(repository: Repository, path: str = "large") -> Upload:
    return await uploads.begin(repository, "main", path, by="me", content_type=None, metadata={"a": "b"})


async def send(repository: Repository, upload: Upload, number: int, body: bytes) -> Part:
    stored = await write.store(repository, body)
    part = Part(number, len(body), stored.md5, stored.at, (stored.block,))
    await uploads.add(repository, upload, part)
    return part


async def finish(repository: Repository, upload: Upload, chosen: list[Part]) -> Entry:
    async def stage(entry: Entry) -> None:
        await write.stage(repository, "main", entry)

    return await complete(repository, await uploads.find(repository, upload.id), chosen, {"c": "d"}, stage)


async def content(repository: Repository, path: str) -> bytes:
    reading = await read.get(repository, "main", path)
    return b"".join([chunk async for chunk in reading.chunks])


async def records(repository: Repository) -> list[bytes]:
    prefixes = (uploads.UPLOADS, uploads.PARTS)
    return [
        record.key
        async for page in repository.store.scan(repository.partition)
        for record in page
        if record.key.startswith(prefixes)
    ]


async def test_an_upload_becomes_an_entry_of_the_time_of_its_beginning_and_leaves_no_record(
    repository: Repository,
) -> None:
    upload = await begin(repository)
    parts = [await send(repository, upload, number, bytes([number])) for number in (1, 2)]
    assert [address for _, address in await open_addresses(repository)] == [part.blocks[0].address for part in parts]
    entry = await finish(repository, upload, parts)
    assert (entry.modified, entry.size, entry.metadata) == (upload.started, 2, {"a": "b", "c": "d"})
    assert await content(repository, "large") == b"\1\2"
    assert await records(repository) == []
    became = await uploads.ended(repository, upload.id)
    assert became is not None
    assert became.checksum == entry.checksum


async def test_at_every_moment_the_bytes_are_named_by_the_upload_or_by_an_entry(repository: Repository) -> None:
    upload = await begin(repository)
    part = await send(repository, upload, 1, b"x")

    async def stage(entry: Entry) -> None:
        assert await open_addresses(repository)
        await write.stage(repository, "main", entry)
        assert await open_addresses(repository)

    await complete(repository, await uploads.find(repository, upload.id), [part], {}, stage)
    assert not await open_addresses(repository)


async def test_a_completion_that_failed_is_completed_by_the_next(repository: Repository) -> None:
    upload = await begin(repository)
    part = await send(repository, upload, 1, b"x")

    async def fail(entry: Entry) -> None:  # noqa: ARG001
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await complete(repository, await uploads.find(repository, upload.id), [part], {}, fail)
    await finish(repository, upload, [part])
    assert await content(repository, "large") == b"x"


async def test_an_abort_during_a_completion_takes_no_bytes_away(repository: Repository) -> None:
    upload = await begin(repository)
    part = await send(repository, upload, 1, b"x")

    async def stage(entry: Entry) -> None:
        await uploads.abort(repository, upload.id)
        await write.stage(repository, "main", entry)

    await complete(repository, await uploads.find(repository, upload.id), [part], {}, stage)
    assert await content(repository, "large") == b"x"
    assert await records(repository) == []


async def test_a_part_that_comes_after_the_end_is_refused_and_leaves_no_record(repository: Repository) -> None:
    upload = await begin(repository)
    await uploads.abort(repository, upload.id)
    with pytest.raises(UploadNotFound):
        await send(repository, upload, 1, b"x")
    assert await records(repository) == []


async def test_two_who_complete_at_once_make_the_same_object(repository: Repository) -> None:
    upload = await begin(repository)
    part = await send(repository, upload, 1, b"x")
    found = await uploads.find(repository, upload.id)

    async def stage(entry: Entry) -> None:
        await asyncio.sleep(0)
        await write.stage(repository, "main", entry)

    one, other = await asyncio.gather(*(complete(repository, found, [part], {}, stage) for _ in range(2)))
    assert one == other
    assert await content(repository, "large") == b"x"


async def test_many_parts_are_behind_lists_and_read_as_one(repository: Repository) -> None:
    upload = await begin(repository)
    parts = [await send(repository, upload, number, b"%05d" % number) for number in range(1, 2 * MAX_BLOCKS)]
    with pytest.raises(PartTooSmall):
        check_parts(parts, [Chosen(part.number, part.md5) for part in parts])
    entry = await finish(repository, upload, parts)
    assert len(entry.blocks) == 1
    await commit.commit(repository, "main", Description("large", "me", repository.outside.now()))
    whole = b"".join(b"%05d" % part.number for part in parts)
    assert await content(repository, "large") == whole
    middle = await read.get(repository, "main", "large", start=998, end=1007)
    assert b"".join([chunk async for chunk in middle.chunks]) == whole[998:1007]


async def open_addresses(repository: Repository) -> list[tuple[str, str]]:
    return [each async for each in uploads.addresses(repository)]


async def test_a_part_that_arrives_late_never_takes_away_what_the_object_names(repository: Repository) -> None:
    """A client that heard nothing sends a part again, and completes; then the first sending is through, too."""
    upload = await begin(repository)
    stored = await write.store(repository, b"x")
    late = Part(1, 1, stored.md5, stored.at, (stored.block,))
    store = repository.store
    await store.set(repository.partition, uploads.PARTS + f"{upload.id}/00001".encode(), msgspec.msgpack.encode(late))
    await finish(repository, upload, await uploads.parts(repository, upload.id))
    with pytest.raises(UploadNotFound):
        await uploads.add(repository, upload, late)
    assert await content(repository, "large") == b"x"
    assert await records(repository) == []


async def test_an_upload_that_was_completed_unheard_keeps_its_bytes_when_it_is_aborted(repository: Repository) -> None:
    upload = await begin(repository)
    parts = [await send(repository, upload, number, bytes([number])) for number in (1, 2)]

    async def stage_and_die(entry: Entry) -> None:
        await write.stage(repository, "main", entry)
        raise ConnectionError

    async def stage_if_absent(entry: Entry) -> None:
        await write.stage(repository, "main", entry, IfAbsent())

    with pytest.raises(ConnectionError):
        await complete(repository, await uploads.find(repository, upload.id), parts, {}, stage_and_die)
    with pytest.raises(PreconditionFailed):
        await complete(repository, await uploads.find(repository, upload.id), parts[:1], {}, stage_if_absent)
    await uploads.abort(repository, upload.id)
    assert await content(repository, "large") == b"\1\2"


async def test_who_completes_beside_another_is_not_aborted_because_the_other_failed(repository: Repository) -> None:
    upload = await begin(repository)
    part = await send(repository, upload, 1, b"x")
    found = await uploads.find(repository, upload.id)

    one_failed, other_began = asyncio.Event(), asyncio.Event()

    async def fail(_: Entry) -> None:
        await other_began.wait()
        raise PreconditionFailed("what is there is not as the condition says")

    async def stage(entry: Entry) -> None:
        other_began.set()
        await one_failed.wait()
        await uploads.abort(repository, upload.id)
        await write.stage(repository, "main", entry)

    async def one() -> None:
        with pytest.raises(PreconditionFailed):
            await complete(repository, found, [part], {}, fail)
        one_failed.set()

    await asyncio.gather(one(), complete(repository, found, [part], {}, stage))
    assert await content(repository, "large") == b"x"
    assert await records(repository) == []


async def test_an_upload_that_was_refused_by_a_condition_is_aborted_with_its_bytes(repository: Repository) -> None:
    upload = await begin(repository)
    part = await send(repository, upload, 1, b"x")

    async def fail(_: Entry) -> None:
        raise PreconditionFailed("what is there is not as the condition says")

    with pytest.raises(PreconditionFailed):
        await complete(repository, await uploads.find(repository, upload.id), [part], {}, fail)
    await uploads.abort(repository, upload.id)
    assert await repository.blobs.stat(part.blocks[0].address) is None
