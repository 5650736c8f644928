"""`lmdb://`: the embedded default, shared by processes, on a full disk, and killed."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from headwater import kv
from headwater.drive import drive
from headwater.kv import ABSENT, Set, Store
from headwater.testing.kv_increment import increment
from headwater.testing.kv_suite import KVStoreSuite

P = b"partition"


class TestLMDB(KVStoreSuite):
    @pytest.fixture
    def uri(self, tmp_path: Path) -> str:
        return f"lmdb://{tmp_path}/kv"


class TestLMDBWithoutFsync(KVStoreSuite):
    @pytest.fixture
    def uri(self, tmp_path: Path) -> str:
        return f"lmdb://{tmp_path}/kv?durability=os"


@pytest.mark.anyio
class TestOpening:
    async def test_two_stores_of_one_process_share_the_directory(self, tmp_path: Path) -> None:
        async with await kv.open(f"lmdb://{tmp_path}") as one:
            async with await kv.open(f"lmdb://{tmp_path}/../{tmp_path.name}") as other:
                await other.set(P, b"key", b"value")
            assert await one.get(P, b"key") is not None

    async def test_two_durabilities_in_one_process_are_refused(self, tmp_path: Path) -> None:
        async with await kv.open(f"lmdb://{tmp_path}"):
            with pytest.raises(kv.CannotOpen, match="durability"):
                await kv.open(f"lmdb://{tmp_path}?durability=os")

    async def test_an_unknown_durability_is_refused_by_name(self, tmp_path: Path) -> None:
        with pytest.raises(kv.CannotOpen, match="durability"):
            await kv.open(f"lmdb://{tmp_path}?durability=perhaps")

    @pytest.mark.parametrize("uri", ["lmdb://host/path", "lmdb://"])
    async def test_a_uri_without_a_path_is_refused(self, uri: str) -> None:
        with pytest.raises(kv.CannotOpen, match="lmdb:///absolute/path"):
            await kv.open(uri)

    async def test_a_directory_that_cannot_be_is_refused_by_name(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("in the way")
        with pytest.raises(kv.CannotOpen, match="file"):
            await kv.open(f"lmdb://{tmp_path}/file")

    async def test_the_file_grows_with_what_is_in_it(self, tmp_path: Path) -> None:
        async with await kv.open(f"lmdb://{tmp_path}?durability=os") as store:
            for batch in range(10):
                await store.set_many(P, {b"%d-%d" % (batch, number): b"x" * 100_000 for number in range(60)})
            found = await store.get(P, b"9-59")
        assert found is not None
        assert (tmp_path / "data.mdb").stat().st_size > 60_000_000

    def test_a_forked_child_is_told_to_open_after_the_fork(self, tmp_path: Path) -> None:
        run_python(f"""
import asyncio, os
from headwater import kv
from headwater.drive import drive

async def write_in_a_loop(store):
    await store.set(b"p", b"key", b"child")

def refused(call):
    try:
        call()
    except kv.StoreError as error:
        return "forked" in str(error)
    return False

parent = drive(kv.open("lmdb://{tmp_path}/one"))
asyncio.run(write_in_a_loop(parent))
drive(parent.set(b"p", b"key", b"parent"))
if (child := os.fork()) == 0:
    checks = [
        refused(lambda: drive(parent.get(b"p", b"key"))),
        refused(lambda: drive(parent.set(b"p", b"key", b"child"))),
        refused(lambda: asyncio.run(write_in_a_loop(parent))),
        refused(lambda: drive(kv.open("lmdb://{tmp_path}/one"))),
        drive(drive(kv.open("lmdb://{tmp_path}/two")).get(b"p", b"key")) is None,
    ]
    os._exit(checks.index(False) + 1 if False in checks else 0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert drive(parent.get(b"p", b"key")).value == b"parent"
drive(parent.aclose())
""")


@pytest.mark.anyio
class TestWriting:
    async def test_the_event_loop_goes_on_while_a_write_is_made_durable(self, tmp_path: Path) -> None:
        async with await kv.open(f"lmdb://{tmp_path}") as store:
            writes = asyncio.gather(*(store.set(P, b"%d" % number, b"x" * 1000) for number in range(200)))
            turns = 0
            while not writes.done():
                turns += 1
                await asyncio.sleep(0)
            await writes
        assert turns > 3

    async def test_a_cancelled_write_leaves_the_others_alone(self, tmp_path: Path) -> None:
        async with await kv.open(f"lmdb://{tmp_path}") as store:
            tasks = [asyncio.create_task(store.set(P, b"%d" % number, b"")) for number in range(50)]
            await asyncio.sleep(0)
            for task in tasks[::2]:
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            assert {type(outcome) for outcome in outcomes[::2]} == {asyncio.CancelledError}
            assert outcomes[1::2] == [None] * 25
            for number in range(1, 50, 2):
                assert await store.get(P, b"%d" % number) is not None

    async def test_a_value_of_a_wrong_type_fails_alone(self, tmp_path: Path) -> None:
        async with await kv.open(f"lmdb://{tmp_path}") as store:
            outcomes = await asyncio.gather(
                store.set(P, b"before", b""),
                store.set(P, b"wrong", "text"),  # type: ignore[arg-type]  # what is being tested
                store.set(P, b"after", b""),
                return_exceptions=True,
            )
            assert [type(outcome) for outcome in outcomes] == [type(None), TypeError, type(None)]
            assert await store.get(P, b"after") is not None

    def test_without_an_event_loop_a_write_is_done_when_the_call_is(self, tmp_path: Path) -> None:
        store = drive(kv.open(f"lmdb://{tmp_path}"))
        predicate = drive(store.set_if(P, b"key", b"1", ABSENT))
        drive(store.pipeline([Set(P, b"other", b"")]))
        drive(store.set_if(P, b"key", b"2", predicate))
        found = drive(store.get(P, b"key"))
        assert found is not None
        assert found.value == b"2"
        drive(store.aclose())

    def test_threads_without_loops_and_a_loop_write_side_by_side(self, tmp_path: Path) -> None:
        store = drive(kv.open(f"lmdb://{tmp_path}"))

        def count() -> None:
            drive(increment(store, P, b"counter", times=25))

        threads = [Thread(target=count) for _ in range(6)]
        for thread in threads:
            thread.start()
        asyncio.run(increment(store, P, b"counter", times=25))
        for thread in threads:
            thread.join()
        found = drive(store.get(P, b"counter"))
        assert found is not None
        assert found.value == b"175"
        drive(store.aclose())


@pytest.mark.anyio
class TestLongKeys:
    async def test_many_long_keys_with_one_head_stay_in_order(self, tmp_path: Path) -> None:
        async with await kv.open(f"lmdb://{tmp_path}?durability=os") as store:
            head = b"directory/" * 60
            keys = [head + b"%05d" % number + b"/x" * 150 * (number % 2) for number in range(2000)]
            await store.set_many(P, {key: key[-10:] for key in reversed(keys)})
            await store.set_many(P, {head[:507]: b"", head[:480]: b"", head + b"~": b""})
            expected = sorted([*keys, head[:507], head[:480], head + b"~"])
            assert [entry.key async for page in store.scan(P, page=170) for entry in page] == expected
            await store.delete_many(P, keys[::3])
            left = [key for key in expected if key not in set(keys[::3])]
            assert [entry.key async for page in store.scan(P) for entry in page] == left


@pytest.mark.anyio
class TestFailure:
    def test_a_full_disk_is_an_error_that_loses_nothing(self, tmp_path: Path) -> None:
        """The size of a file is limited in a child process: to LMDB the same as a disk without space."""
        run_python(f"""
import asyncio, resource, signal
from headwater import kv

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

async def main():
    async with await kv.open("lmdb://{tmp_path}") as store:
        await store.set(b"p", b"kept", b"value")
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
        written, refused = [], None
        for number in range(1000):
            key = b"%d" % number
            try:
                await asyncio.gather(store.set(b"p", key, b"x" * 5000), store.set(b"q", key, b"x" * 5000))
            except kv.StoreUnavailable as error:
                refused = error
                break
            written.append(key)
        assert refused and "no space" in str(refused), refused
        assert len(written) > 50
        for key in written:
            assert await store.get(b"p", key) and await store.get(b"q", key)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        await store.set(b"p", b"again", b"works")
    async with await kv.open("lmdb://{tmp_path}") as store:
        assert await store.get(b"p", b"kept") and await store.get(b"p", b"again") and await store.get(b"q", written[-1])

asyncio.run(main())
""")

    @pytest.mark.parametrize("durability", ["fsync", "os"])
    async def test_kill_in_mid_write_leaves_a_sound_store_with_all_that_was_acknowledged(
        self, tmp_path: Path, durability: str
    ) -> None:
        for attempt in range(5):
            acknowledged = write_until_killed(tmp_path / "kv", durability, acknowledgements=40 + 60 * attempt)
            async with await kv.open(f"lmdb://{tmp_path}/kv?durability={durability}") as store:
                present = {entry.key async for page in store.scan(P) for entry in page}
                assert acknowledged <= present
                await check_pairs(store, present)
                await increment(store, b"q", b"still writable", times=1)


def write_until_killed(directory: Path, durability: str, *, acknowledgements: int) -> set[bytes]:
    """Eight writers in a child process that names each acknowledged write; kill -9 after some. What was named."""
    code = f"""
import asyncio, os, sys
from headwater import kv
from headwater.kv import Set

async def writer(store, number):
    for step in range(100_000):
        key = b"%d-%d-%d" % (os.getpid(), number, step)
        await store.pipeline([Set(b"partition", key + b"/a", b"x" * 3000), Set(b"partition", key + b"/b", b"")])
        sys.stdout.buffer.write(key + b"/b\\n")
        sys.stdout.buffer.flush()

async def main():
    async with await kv.open("lmdb://{directory}?durability={durability}") as store:
        await asyncio.gather(*(writer(store, number) for number in range(8)))

asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        named = [child.stdout.readline() for _ in range(acknowledgements)]
        child.kill()
        named += child.stdout.read().splitlines(keepends=True)
    return {line.strip() for line in named if line.endswith(b"\n")}


async def check_pairs(store: Store, present: set[bytes]) -> None:
    """A pipeline's second write is never there without its first."""
    for key in present:
        if key.endswith(b"/b"):
            first = await store.get(P, key[:-1] + b"a")
            assert first is not None
            assert first.value == b"x" * 3000


def run_python(code: str) -> None:
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=300)
    assert finished.returncode == 0, finished.stderr.decode()
