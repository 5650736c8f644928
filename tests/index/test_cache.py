"""The cache of decoded segments: bounded, shared by processes, and never needed."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest

from headwater.drive import drive
from headwater.index import CacheDirectory, Corrupt, Cutting, Entry, Index, Missing, SegmentCache
from headwater.index.flights import Flights
from headwater.index.schema import SCHEMA
from headwater.index.segment import make_segment
from tests.index.world import CountingBlobs, bulk, new_blobs, new_store, plain, written

MODEL = {f"{number:04d}": plain(f"{number:04d}") for number in range(400)}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def rows(salt: int) -> pa.RecordBatch:
    return bulk({f"{salt}/{number:03d}": plain(f"{salt}/{number:03d}") for number in range(100)}).select(SCHEMA.names)


def files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())


async def kept_in(directory: Path) -> tuple[CountingBlobs, Index]:
    """An index of `MODEL` of which every segment is in the cache in *directory*."""
    blobs = CountingBlobs(new_blobs())
    index = await written(new_store(blobs, cache=SegmentCache(CacheDirectory(directory))), MODEL)
    blobs.forget()
    return blobs, index


def reopened(blobs: CountingBlobs, index: Index, directory: Path) -> Index:
    """The same index as another process would have it."""
    return Index(new_store(blobs, cache=SegmentCache(CacheDirectory(directory))), index.record)


def test_what_one_process_has_decoded_another_maps(tmp_path: Path) -> None:
    blobs, index = drive(kept_in(tmp_path))
    other = reopened(blobs, index, tmp_path)
    assert drive(other.get_many(list(MODEL))) == list(MODEL.values())
    assert [name for name in blobs.read_names if "segments" in name] == []


def test_a_real_second_process_reads_what_the_first_has_left(tmp_path: Path) -> None:
    cache = SegmentCache(CacheDirectory(tmp_path))
    cache.put("ab" * 32, rows(1))
    program = (
        "import sys, pathlib\n"
        "from headwater.index import CacheDirectory, SegmentCache\n"
        "cache = SegmentCache(CacheDirectory(pathlib.Path(sys.argv[1])))\n"
        "print(cache.get('ab' * 32).get('1/042').checksum, cache.get('cd' * 32))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [plain("").checksum, "None"]


@pytest.mark.parametrize("keep", [0, 1, 40, -1])
def test_a_half_written_file_is_fetched_again(tmp_path: Path, keep: int) -> None:
    blobs, index = drive(kept_in(tmp_path))
    for path in files(tmp_path):
        path.write_bytes(path.read_bytes()[:keep])
    assert drive(reopened(blobs, index, tmp_path).get("0123")) == MODEL["0123"]
    assert len([name for name in blobs.read_names if "segments" in name]) == 1
    blobs.forget()
    assert drive(reopened(blobs, index, tmp_path).get("0123")) == MODEL["0123"]
    assert [name for name in blobs.read_names if "segments" in name] == []


def test_a_file_with_a_changed_byte_is_never_believed(tmp_path: Path) -> None:
    directory = CacheDirectory(tmp_path)
    directory.put("ab" * 32, rows(1))
    [path] = files(tmp_path)
    content = path.read_bytes()
    for position in range(0, len(content), 97):
        broken = bytearray(content)
        broken[position] ^= 1
        path.write_bytes(broken)
        assert directory.get("ab" * 32) is None
        assert not path.exists()


def test_the_directory_may_be_deleted_while_in_use(tmp_path: Path) -> None:
    blobs, index = drive(kept_in(tmp_path / "cache"))
    other = reopened(blobs, index, tmp_path / "cache")
    assert drive(other.get("0000")) == MODEL["0000"]
    shutil.rmtree(tmp_path / "cache")
    assert drive(other.get_many(list(MODEL))) == list(MODEL.values())
    assert files(tmp_path / "cache")


def test_a_directory_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    blobs, index = drive(kept_in(tmp_path / "file"))
    assert drive(reopened(blobs, index, tmp_path / "file").get_many(list(MODEL))) == list(MODEL.values())


def test_a_directory_is_bounded_and_drops_what_was_used_longest_ago(tmp_path: Path) -> None:
    size = CacheDirectory(tmp_path / "one").put("00" * 32, rows(0))
    assert size is not None
    [one] = files(tmp_path / "one")
    directory = CacheDirectory(tmp_path / "cache", capacity=10 * one.stat().st_size + 999)
    for number in range(30):
        directory.put(f"{number:02x}" * 32, rows(number))
        path = next(path for path in files(tmp_path / "cache") if path.name.startswith(f"{number:02x}"))
        os.utime(path, (number, number))
        if (tmp_path / "cache" / "00").exists():
            os.utime(tmp_path / "cache" / "00" / f"{'00' * 32}.arrow", (1_000, 1_000))
    left = files(tmp_path / "cache")
    assert sum(path.stat().st_size for path in left) <= 10 * one.stat().st_size + 999
    assert directory.get("00" * 32) is not None
    assert directory.get("01" * 32) is None
    assert directory.get("1d" * 32) is not None


def test_memory_is_bounded_where_there_is_no_directory() -> None:
    cache = SegmentCache(memory=3 * rows(1).nbytes)
    for number in range(10):
        cache.put(f"{number:02x}" * 32, rows(number))
    assert [cache.get(f"{number:02x}" * 32) is not None for number in range(10)] == [False] * 7 + [True] * 3


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what of its memory is of files")
def test_the_pages_of_what_was_used_long_ago_are_given_back_and_still_read(tmp_path: Path) -> None:
    many = [f"{number:02x}" * 32 for number in range(40)]
    large = pa.concat_batches([rows(1)] * 200)
    CacheDirectory(tmp_path).put(many[0], large)
    size = sum(path.stat().st_size for path in files(tmp_path))
    cache = SegmentCache(CacheDirectory(tmp_path), resident=3 * size)
    before = memory_of_files()
    for name in many:
        cache.put(name, large)
    assert memory_of_files() - before < 10 * size
    for name in many:
        found = cache.get(name)
        assert found is not None
        assert found.batch.equals(large)
    assert memory_of_files() - before < 10 * size


def memory_of_files() -> int:
    """Bytes of this process's memory that are of files."""
    told = re.search(r"RssFile:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert told is not None
    return int(told[1]) * 1024


def test_a_segment_in_use_outlives_its_file(tmp_path: Path) -> None:
    cache = SegmentCache(CacheDirectory(tmp_path))
    mapped = cache.put("ab" * 32, rows(1))
    shutil.rmtree(tmp_path)
    assert mapped.entries(0, 100)[-1].key == "1/099"


@pytest.mark.anyio
async def test_concurrent_requests_for_a_segment_fetch_it_once() -> None:
    blobs = CountingBlobs(new_blobs())
    index = await written(new_store(blobs, cutting=Cutting()), MODEL)
    blobs.forget()
    cold = Index(new_store(blobs), index.record)
    found = await asyncio.gather(*(cold.get(key) for key in list(MODEL)[:50]))
    assert found == list(MODEL.values())[:50]
    assert len(blobs.read_names) == 2


@pytest.mark.anyio
async def test_when_the_one_that_fetches_is_cancelled_another_goes() -> None:
    flights: Flights[str] = Flights()
    waiting, never = asyncio.Event(), asyncio.Event()

    async def stuck() -> str:
        waiting.set()
        await never.wait()
        return "never"

    async def quick() -> str:
        return "fetched"

    first = asyncio.create_task(flights.fetch("it", stuck))
    await waiting.wait()
    others = [asyncio.create_task(flights.fetch("it", quick)) for _ in range(3)]
    await asyncio.sleep(0)
    others[0].cancel()
    first.cancel()
    assert await asyncio.gather(*others[1:]) == ["fetched"] * 2
    with pytest.raises(asyncio.CancelledError):
        await first


def test_threads_without_an_event_loop_never_fetch_the_same_thing_side_by_side() -> None:
    flights: Flights[str] = Flights()
    fetching, go_on = threading.Semaphore(1), threading.Event()
    results: list[str] = []

    async def fetch() -> str:
        assert fetching.acquire(blocking=False)
        assert go_on.wait(10)
        fetching.release()
        return "it"

    threads = [threading.Thread(target=lambda: results.append(drive(flights.fetch("it", fetch)))) for _ in range(5)]
    for thread in threads:
        thread.start()
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert results == ["it"] * 5


def test_a_failed_fetch_is_tried_anew_next_time() -> None:
    blobs = new_blobs()
    index = drive(written(new_store(blobs), MODEL))
    segment = drive(index.tree()).segments[0]
    name = f"meta/segments/{segment[:2]}/{segment}.parquet"
    file = drive(blobs.read(name))
    drive(blobs.delete(name))
    cold = Index(new_store(blobs), index.record)
    with pytest.raises(Missing):
        drive(cold.get("0000"))
    drive(blobs.put(name, file))
    assert drive(cold.get("0000")) == MODEL["0000"]


def test_what_is_missing_or_corrupt_is_named_and_not_served() -> None:
    blobs = new_blobs()
    index = drive(written(new_store(blobs), MODEL))
    segments = list(drive(index.tree()).segments)
    gone, broken = segments[0], segments[1]
    drive(blobs.delete(f"meta/segments/{gone[:2]}/{gone}.parquet"))
    drive(blobs.put(f"meta/segments/{broken[:2]}/{broken}.parquet", make_segment(rows(1)).file))
    cold = Index(new_store(blobs), index.record)
    tree = drive(cold.tree())
    with pytest.raises(Missing, match=gone):
        drive(cold.get(tree.firsts[0]))
    with pytest.raises(Corrupt, match=broken):
        drive(cold.get(tree.firsts[1]))
    assert isinstance(drive(cold.get(tree.firsts[2])), Entry)
    name = index.record.tree
    assert name is not None
    drive(blobs.put(f"meta/trees/{name[:2]}/{name}.parquet", b"PAR1 or so"))
    with pytest.raises(Corrupt, match=name):
        drive(Index(new_store(blobs), index.record).get("0001"))
