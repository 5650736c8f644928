"""What the versioned core costs at different sizes: `make bench`. Writes the tables into docs/performance.md.

One run, one process, LMDB with `durability=os` and a local directory for objects. What matters is the ratios: an
operation on ten million entries against the same on ten thousand, and bulk work against writing the same rows, sorted,
as one Parquet file.
"""

from __future__ import annotations

import asyncio
import gc
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headwater import blob, kv
from headwater.engine import branches, commit, diff, merge, read, write
from headwater.engine.advance import Made, advance
from headwater.engine.commit import Description
from headwater.engine.lake import Lake
from headwater.engine.repository import Repository
from headwater.index import CacheDirectory, SegmentCache, apply, encode_edit
from headwater.index.schema import EDITS, entries_of
from headwater.outside import real_outside
from headwater.refs.branch import Branch
from headwater.staging.errors import NothingToCommit
from headwater.staging.writing import write as stage_values

SIZES = [10_000, 1_000_000, 10_000_000]
PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
MARKS = ("<!-- core -->\n", "<!-- end of core -->\n")


def listing(entries: int) -> pa.RecordBatch:
    """A synthetic listing as edits: keys of 90 bytes, a hundred to a directory, random checksums and addresses."""
    numbers = pa.array(np.arange(entries, dtype=np.int64))

    def digits(values: pa.Array, width: int) -> pa.Array:
        return pc.utf8_lpad(values.cast(pa.string()), width, "0")

    directory = digits(pc.divide(numbers, 100), 6)
    keys = pc.binary_join_element_wise(
        "f/warehouse/sales/region=europe/year=2026/month=11/dir-",
        directory,
        "/part-",
        digits(numbers, 10),
        ".parquet",
        "",
    )
    random = np.random.default_rng(7)

    def hexes(width: int) -> pa.Array:
        letters = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
        characters = letters[random.integers(0, 16, entries * width, dtype=np.uint8)]
        offsets = pa.py_buffer(np.arange(0, (entries + 1) * width, width, dtype=np.int32))
        return pa.Array.from_buffers(pa.string(), entries, [None, offsets, pa.py_buffer(characters)])

    columns = {
        "key": keys,
        "kind": pa.repeat("object", entries),
        "size": pa.array(random.integers(0, 1 << 27, entries)),
        "modified": pc.add(numbers, 1_700_000_000_000),
        "checksum": hexes(32),
        "address": pc.binary_join_element_wise("data/f86441/", hexes(32), ""),
        "removed": pa.repeat(False, entries),  # noqa: FBT003  (a value of the column)
    }
    return pa.RecordBatch.from_arrays(
        [columns.get(field.name, pa.nulls(entries, field.type)) for field in EDITS], schema=EDITS
    )


class Timing(msgspec.Struct, frozen=True):
    """Milliseconds of each operation, in the middle of several."""

    stat: float
    list_page: float
    list_prefixes: float
    commit_one: float
    diff_near: float
    diff_far: float
    merge_near: float
    merge_far: float
    metadata_bytes: float


class Home:
    """A lake in a directory of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    async def open(self) -> Lake:
        cache = SegmentCache(CacheDirectory(self.directory / "cache"))
        store = await kv.open(f"lmdb://{self.directory}/kv?durability=os")
        return Lake(store, blob.open, real_outside(), cache=cache)

    def namespace(self, name: str) -> str:
        return f"file://{self.directory}/objects/{name}?durability=os"

    def metadata_size(self, name: str) -> int:
        return sum(path.stat().st_size for path in (self.directory / "objects" / name / "meta").rglob("*.parquet"))


def description(message: str = "bench") -> Description:
    return Description(message, "bench", time.time_ns() // 1_000_000)


async def import_listing(repository: Repository, edits: pa.RecordBatch) -> None:
    async def make(branch: Branch) -> Made:
        return [branch.commit], await apply(await repository.index_of(branch.commit), edits)

    await advance(repository, "main", description(), make)


async def measure(home: Home, lake: Lake, size: int) -> Timing:
    name = f"size-{size}"
    repository = await lake.create(name, home.namespace(name))
    await import_listing(repository, listing(size))
    gc.collect()
    random = np.random.default_rng(3)
    some = iter(random.integers(0, size, 100_000).tolist())

    def path(number: int) -> str:
        directory = f"warehouse/sales/region=europe/year=2026/month=11/dir-{number // 100:06d}"
        return f"{directory}/part-{number:010d}.parquet"

    await branches.create_branch(repository, "dev", "main")
    warm = [path(next(some)) for _ in range(20)]
    for each in warm:
        await read.stat(repository, "main", each)

    async def one_commit() -> float:
        await write.put(repository, "dev", f"new/{next(some)}", b"x")
        return await milliseconds(lambda: commit.commit(repository, "dev", description()))

    async def changed(branch: str, apart: int) -> None:
        await branches.create_branch(repository, branch, "main")
        for number in range(100):
            await write.put(repository, branch, path(number * apart), b"changed " + branch.encode())
        await commit.commit(repository, branch, description())

    async def one_merge(apart: int) -> float:
        source, target = f"source-{next(some)}", f"target-{next(some)}"
        await changed(source, apart)
        await branches.create_branch(repository, target, "main")
        await write.put(repository, target, "new/of-target", b"x")
        await commit.commit(repository, target, description())
        return await milliseconds(lambda: merge.merge(repository, source, target, description()))

    near, far = 7, size // 100
    await changed("near", near)
    await changed("far", far)
    directory = "warehouse/sales/region=europe/year=2026/month=11/"
    return Timing(
        stat=await median(lambda: read.stat(repository, "main", warm[next(some) % 20]), 300),
        list_page=await median(
            lambda: read.list_entries(repository, "main", prefix=warm[next(some) % 20].rpartition("/")[0] + "/"), 100
        ),
        list_prefixes=await median(
            lambda: read.list_entries(repository, "main", prefix=directory, delimiter="/", amount=100), 20
        ),
        commit_one=statistics.median([await one_commit() for _ in range(60)]),
        diff_near=await median(lambda: diff.diff(repository, "main", "near"), 20),
        diff_far=await median(lambda: diff.diff(repository, "main", "far"), 20),
        merge_near=statistics.median([await one_merge(near) for _ in range(7)]),
        merge_far=statistics.median([await one_merge(far) for _ in range(7)]),
        metadata_bytes=home.metadata_size(name) / size,
    )


async def milliseconds(call: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await call()
    return (time.perf_counter() - began) * 1000


async def median(call: Callable[[], Awaitable[object]], times: int) -> float:
    await call()
    return statistics.median([await milliseconds(call) for _ in range(times)])


async def bulk(home: Home, lake: Lake) -> list[str]:
    """Imports and large commits, as multiples of writing the same rows as one Parquet file."""
    rows = listing(1_000_000)
    plain = min(parquet_seconds(rows, home.directory / "plain.parquet") for _ in range(2))
    repository = await lake.create("bulk-import", home.namespace("bulk-import"))
    imported = await milliseconds(lambda: import_listing(repository, rows)) / 1000
    lines = [
        f"| write 1 M sorted rows as one Parquet file (pyarrow) | {plain:.2f} s | 1 |",
        f"| import 1 M | {imported:.2f} s | {imported / plain:.1f} |",
    ]
    for count in (100_000, 1_000_000):
        repository = await lake.create(f"bulk-{count}", home.namespace(f"bulk-{count}"))
        await stage(repository, rows.slice(0, count))
        part = parquet_seconds(rows.slice(0, count), home.directory / "plain.parquet")
        took = await milliseconds(partial(commit.commit, repository, "main", description())) / 1000
        lines.append(f"| commit {count:,} staged | {took:.2f} s | {took / part:.1f} |")
    return lines


def parquet_seconds(rows: pa.RecordBatch, path: Path) -> float:
    table = pa.Table.from_batches([rows]).drop_columns(["removed"])
    began = time.perf_counter()
    pq.write_table(
        table,
        path,
        compression="zstd",
        use_dictionary=["kind", "content_type"],
        column_encoding={
            "key": "DELTA_BYTE_ARRAY",
            "size": "DELTA_BINARY_PACKED",
            "modified": "DELTA_BINARY_PACKED",
        },
    )
    return time.perf_counter() - began


async def stage(repository: Repository, rows: pa.RecordBatch) -> None:
    for first in range(0, len(rows), 10_000):
        entries = entries_of(rows.slice(first, 10_000).select(EDITS.names[:-1]))
        values = {entry.key.encode(): encode_edit(entry.key, entry) for entry in entries}
        await stage_values(repository.store, repository.branches, repository.outside, "main", values)


async def contention(home: Home, lake: Lake) -> list[str]:
    """Committers that share a branch, in one process."""
    repository = await lake.create("contention", home.namespace("contention"))
    landed = {"small": 0, "large": 0}

    async def committer(who: str, puts: int, until: float) -> None:
        number = 0
        while time.perf_counter() < until:
            number += 1
            paths = [f"{who}/{number}-{each}" for each in range(puts)]
            await asyncio.gather(*(write.put(repository, "main", path, b"x") for path in paths))
            try:
                await commit.commit(repository, "main", description(f"{who} {number}"))
            except NothingToCommit:
                continue
            landed[who] += 1

    until = time.perf_counter() + 20
    await asyncio.gather(committer("small", 1, until), committer("large", 10, until))
    share = landed["large"] / (landed["small"] + landed["large"])
    lines = [f"- two committers, 20 s: {landed['small']} commits of 1 put, {landed['large']} of 10 ({share:.0%})"]

    eight = await lake.create("eight", home.namespace("eight"))
    counts = [0] * 8
    taken = 0

    async def one_of_eight(number: int, until: float) -> None:
        nonlocal taken
        while time.perf_counter() < until:
            await write.put(eight, "main", f"{number}/{counts[number]}-{taken}", b"x")
            try:
                await commit.commit(eight, "main", description())
                counts[number] += 1
            except NothingToCommit:
                taken += 1

    await asyncio.gather(*(one_of_eight(number, time.perf_counter() + 10) for number in range(8)))
    puts = sum(counts) + taken
    there = 0
    after = ""
    while page := await read.list_entries(eight, "main", after=after, amount=1000):
        there += len(page)
        after = page[-1].key.removeprefix("f/")
    lines.append(
        f"- eight committers on one branch, 10 s: {sum(counts) / 10:.0f} commits/s; {puts} puts acknowledged, "
        f"{there} there ({taken} of them committed along with somebody else's)"
    )
    return lines


async def main() -> None:
    directory = Path(tempfile.mkdtemp(prefix="headwater-bench-"))
    try:
        home = Home(directory)
        lake = await home.open()
        timings = []
        for size in SIZES:
            print(f"measuring {size:,} entries …", file=sys.stderr)
            timings.append(await measure(home, lake, size))
        lines = [
            f"| | {' | '.join(f'{size:,}' for size in SIZES)} | largest / smallest |",
            "| --- " * (len(SIZES) + 2) + "|",
        ]
        for field in msgspec.structs.fields(Timing):
            values = [getattr(timing, field.name) for timing in timings]
            lines.append(
                f"| {field.name.replace('_', ' ')} | {' | '.join(f'{value:.3g}' for value in values)} | "
                f"{values[-1] / values[0]:.2f} |"
            )
        print("bulk …", file=sys.stderr)
        heavy = await bulk(home, lake)
        print("contention …", file=sys.stderr)
        shared = await contention(home, lake)
        await lake.aclose()
    finally:
        shutil.rmtree(directory)
    report = "\n".join(
        [
            f"`make bench`, {platform.machine()}, 2 cores, Python {platform.python_version()}; milliseconds, warm:",
            "",
            *lines,
            "",
            "| bulk | | times the Parquet file |",
            "| --- | --- | --- |",
            *heavy,
            "",
            *shared,
            "",
        ]
    )
    print(report)
    before, rest = PAGE.read_text().split(MARKS[0])
    PAGE.write_text(before + MARKS[0] + "\n" + report + "\n" + MARKS[1] + rest.split(MARKS[1])[1])


if __name__ == "__main__":
    asyncio.run(main())
