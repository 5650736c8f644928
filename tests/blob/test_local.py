"""`file:///`, objects in a directory."""

from __future__ import annotations

import asyncio
import fcntl
import os
import resource
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headwater import blob
from headwater.blob import BlobStore, IfMatch
from headwater.drive import drive
from headwater.testing.blob_suite import BlobStoreSuite, chunks, names


class TestLocal(BlobStoreSuite):
    signs = False
    many = 1_000

    @pytest.fixture
    def uri(self, tmp_path: Path) -> str:
        return f"file://{tmp_path}/store"


class TestLocalWithoutSync(BlobStoreSuite):
    signs = False

    @pytest.fixture
    def uri(self, tmp_path: Path) -> str:
        return f"file://{tmp_path}/store?durability=os"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
async def store(root: Path) -> AsyncIterator[BlobStore]:
    async with await blob.open(f"file://{root}") as store:
        yield store


def files(root: Path) -> list[str]:
    """All that is in the directory, objects or not."""
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def directories(root: Path) -> list[str]:
    """The directories of objects."""
    found = (str(path.relative_to(root)) for path in root.rglob("*") if path.is_dir())
    return sorted(path for path in found if not path.startswith(".headwater"))


def waiting_for_locks() -> str:
    """The locks, by device and inode, that somebody waits for."""
    return "".join(line for line in Path("/proc/locks").read_text().splitlines(keepends=True) if "->" in line)


@pytest.mark.anyio
class TestPlaces:
    async def test_a_stream_that_fails_leaves_no_file(self, store: BlobStore, root: Path) -> None:
        async def failing() -> AsyncIterator[bytes]:
            yield b"x" * 3_000_000
            raise ConnectionResetError

        with pytest.raises(ConnectionResetError):
            await store.put("a/b", failing())
        assert files(root) == []

    async def test_a_put_that_is_cancelled_leaves_no_file_once_the_store_is_closed(
        self, store: BlobStore, root: Path
    ) -> None:
        begun = asyncio.Event()

        async def endless() -> AsyncIterator[bytes]:
            yield b"x" * 3_000_000
            begun.set()
            await asyncio.Event().wait()

        putting = asyncio.create_task(store.put("a/b", endless()))
        await asyncio.wait_for(begun.wait(), 30)
        putting.cancel()
        await asyncio.wait([putting])
        await store.aclose()
        assert files(root) == []

    async def test_a_refused_put_leaves_no_file_and_no_directory(self, store: BlobStore, root: Path) -> None:
        with pytest.raises(blob.ConditionFailed):
            await store.put("a/b/c", b"", condition=IfMatch("etag"))
        assert (files(root), directories(root)) == ([], [])

    async def test_an_object_is_a_plain_file_of_its_name(self, store: BlobStore, root: Path) -> None:
        await store.put("a/b", b"hello")
        assert (root / "a" / "b").read_bytes() == b"hello"

    async def test_a_name_cannot_be_an_object_and_a_directory(self, store: BlobStore) -> None:
        await store.put("a/b", b"")
        with pytest.raises(blob.NotSupported, match="both"):
            await store.put("a", b"")
        with pytest.raises(blob.NotSupported, match="both"):
            await store.put("a/b/c", b"")
        assert await names(store) == ["a/b"]

    async def test_empty_directories_are_removed_and_never_listed(self, store: BlobStore, root: Path) -> None:
        await store.put("a/b/c/d", b"")
        await store.put("a/e", b"")
        await store.delete("a/b/c/d")
        assert directories(root) == ["a"]
        (root / "left" / "over").mkdir(parents=True)
        [page] = [page async for page in store.list(delimiter=True)]
        assert [entry.name for entry in page] == ["a/"]
        await store.put("left", b"an object where only directories were")
        assert await names(store) == ["a/e", "left"]

    async def test_puts_and_deletes_that_share_a_directory_do_not_lose_each_other(self, store: BlobStore) -> None:
        async def come_and_go(number: int) -> None:
            for _ in range(20):
                await store.put(f"d/e/{number}", b"")
                assert await store.stat(f"d/e/{number}") is not None
                await store.delete(f"d/e/{number}")

        await asyncio.gather(*(come_and_go(number) for number in range(8)))
        assert await names(store) == []

    async def test_a_put_under_a_name_of_its_own_waits_for_no_turn(self, tmp_path: Path) -> None:
        async with await blob.open(f"file://{tmp_path}?durability=os") as store:
            await store.put("d/held", b"")
            held = os.open(tmp_path / "d", os.O_RDONLY)
            try:
                fcntl.flock(held, fcntl.LOCK_EX)
                async with asyncio.timeout(30):
                    await store.put_unseen("d/new", b"hello")
            finally:
                os.close(held)
            assert await store.read("d/new") == b"hello"

    async def test_what_fails_under_a_name_of_its_own_leaves_nothing(self, tmp_path: Path) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        async with await blob.open(f"file://{tmp_path}?durability=os") as store:
            await store.put_unseen("d/e/first", b"")
            ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
            try:
                with pytest.raises(blob.BlobUnavailable):
                    await store.put_unseen("d/e/second", b"x" * 2000)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
                signal.signal(signal.SIGXFSZ, ignored)
            assert files(tmp_path) == ["d/e/first"]

    async def test_a_name_that_is_taken_is_not_unseen(self, tmp_path: Path) -> None:
        async with await blob.open(f"file://{tmp_path}?durability=os") as store:
            await store.put("taken", b"first")
            with pytest.raises(blob.NotSupported):
                await store.put_unseen("taken", b"second")
            assert await store.read("taken") == b"first"

    async def test_a_put_whose_directory_is_pruned_while_it_waits_makes_it_anew(
        self, store: BlobStore, root: Path
    ) -> None:
        (root / "d").mkdir()
        held = os.open(root / "d", os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        putting = asyncio.create_task(store.put("d/object", b"hello"))
        async with asyncio.timeout(30):
            while f":{os.fstat(held).st_ino} " not in waiting_for_locks():  # noqa: ASYNC110  (nobody tells)
                await asyncio.sleep(0.01)
        (root / "d").rmdir()
        os.close(held)
        await putting
        assert await store.read("d/object") == b"hello"

    async def test_a_link_to_nowhere_in_place_of_a_directory_is_an_error(self, store: BlobStore, root: Path) -> None:
        (root / "a").symlink_to("nowhere")
        with pytest.raises(blob.BlobUnavailable, match="link"):
            await store.put("a/b", b"")

    async def test_what_is_not_an_object_is_not_listed_or_read(self, store: BlobStore, root: Path) -> None:
        await store.put("object", b"")
        (root / "link").symlink_to("/etc/hostname")
        (root / "links").symlink_to("/etc")
        (root / "new\nline").touch()
        os.link(root / "object", os.fsencode(root) + b"/\xff")
        os.mkfifo(root / "pipe")
        assert await names(store) == ["object"]
        for name in ("link", "pipe"):
            assert await store.stat(name) is None

    async def test_an_etag_is_newer_even_than_a_file_from_the_future(self, store: BlobStore, root: Path) -> None:
        await store.put("object", b"same")
        future = 4_000_000_000_000_000_000
        os.utime(root / "object", ns=(future, future))
        before = await store.stat("object")
        after = await store.put("object", b"same")
        assert before is not None
        assert after.etag != before.etag
        assert (root / "object").stat().st_mtime_ns > future

    async def test_a_stream_that_outgrows_the_disk_is_an_error_and_leaves_nothing(
        self, store: BlobStore, root: Path
    ) -> None:
        await store.put("object", b"first")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
        try:
            with pytest.raises(blob.BlobUnavailable, match="object"):
                await store.put("object", chunks(b"x" * 600_000, b"x" * 600_000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert await store.read("object") == b"first"
        assert files(root) == ["object"]


@pytest.mark.anyio
class TestDurability:
    @pytest.fixture
    def synced(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """The inodes that the system was asked to make durable."""
        inodes: list[int] = []
        fsync = os.fsync

        def watched(descriptor: int) -> None:
            fsync(descriptor)
            inodes.append(os.fstat(descriptor).st_ino)

        monkeypatch.setattr(os, "fsync", watched)
        return inodes

    async def test_a_put_syncs_the_file_and_the_way_to_it(self, tmp_path: Path, synced: list[int]) -> None:
        async with await blob.open(f"file://{tmp_path}/new/store") as store:
            assert inodes(tmp_path, tmp_path / "new") <= {*synced}
            synced.clear()
            await store.put("a/b/c", b"")
        root = tmp_path / "new" / "store"
        assert {*synced} == inodes(root, root / "a", root / "a/b", root / "a/b/c")
        assert synced[0] == (root / "a/b/c").stat().st_ino

    async def test_a_later_put_syncs_the_file_and_its_directory(self, tmp_path: Path, synced: list[int]) -> None:
        async with await blob.open(f"file://{tmp_path}") as store:
            await store.put("a/b/c", b"")
            synced.clear()
            await store.put("a/b/d", b"")
        assert {*synced} == inodes(tmp_path / "a/b/d", tmp_path / "a/b")

    async def test_a_delete_syncs_the_directory_that_is_left(self, tmp_path: Path, synced: list[int]) -> None:
        async with await blob.open(f"file://{tmp_path}") as store:
            await store.put("a/b/c", b"")
            await store.put("a/d", b"")
            synced.clear()
            await store.delete("a/b/c")
        assert {*synced} == inodes(tmp_path / "a")

    async def test_without_durability_nothing_waits_for_the_disk(self, tmp_path: Path, synced: list[int]) -> None:
        async with await blob.open(f"file://{tmp_path}/new?durability=os") as store:
            await store.put("a/b", b"")
            await store.delete("a/b")
        assert synced == []


def inodes(*paths: Path) -> set[int]:
    return {path.stat().st_ino for path in paths}


INCREMENT = """
import asyncio, sys
from headwater import blob

async def main(uri, times):
    async with await blob.open(uri) as store:
        for _ in range(times):
            while True:
                now = await store.fetch("counter")
                try:
                    await store.put("counter", b"%d" % (int(now.body) + 1), condition=blob.IfMatch(now.stat.etag))
                    break
                except blob.ConditionFailed:
                    pass

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""

STREAM = """
import asyncio, sys
from headwater import blob

async def source():
    for _ in range(3):  # more than may lie between a source and its file: so there is one when the last is taken
        yield b"x" * 1_000_000
    print("begun", flush=True)
    await asyncio.to_thread(sys.stdin.readline)

async def main(uri):
    async with await blob.open(uri) as store:
        await store.put("a/b", source())

asyncio.run(main(sys.argv[1]))
"""


def started(program: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.anyio
class TestProcesses:
    async def test_increments_by_several_processes_are_all_there(self, root: Path) -> None:
        async with await blob.open(f"file://{root}?durability=os") as store:
            await store.put("counter", b"0")
            processes = [started(INCREMENT, f"file://{root}?durability=os", "50") for _ in range(4)]
            for process in processes:
                with process:
                    assert process.wait(60) == 0
            assert await store.read("counter") == b"200"

    async def test_what_a_dead_writer_left_is_removed_and_what_a_living_one_writes_is_not(self, root: Path) -> None:
        with started(STREAM, f"file://{root}") as dying, started(STREAM, f"file://{root}") as living:
            for process in (dying, living):
                assert process.stdout is not None
                assert process.stdout.readline() == "begun\n"
            assert len(files(root)) == 2
            dying.send_signal(signal.SIGKILL)
            dying.wait(10)
            async with await blob.open(f"file://{root}") as store:
                assert await names(store) == []
                assert len(files(root)) == 1
                living.communicate("go on\n", timeout=10)
                assert await names(store) == files(root) == ["a/b"]


def test_without_an_event_loop_everything_runs_in_place(root: Path) -> None:
    async def use() -> list[str]:
        async with await blob.open(f"file://{root}") as store:
            stored = await store.put("d/object", chunks(b"hel", b"lo"))
            await store.put("d/object", b"hello, again", condition=IfMatch(stored.etag))
            async with await store.get("d/object", start=7) as reading:
                assert [chunk async for chunk in reading] == [b"again"]
            return await names(store)

    assert drive(use()) == ["d/object"]


@pytest.mark.parametrize("error", [FileNotFoundError("none of ours"), ValueError("bad")])
def test_without_an_event_loop_a_source_fails_with_its_own_error(root: Path, error: Exception) -> None:
    async def failing() -> AsyncIterator[bytes]:
        yield b"x"
        raise error

    async def use() -> None:
        async with await blob.open(f"file://{root}") as store:
            await store.put("object", failing())

    with pytest.raises(type(error), match=str(error)):
        drive(use())
    assert files(root) == []
