"""What growing files, ingesting and workspaces cost: `make bench BENCH=growing`. Writes into docs/performance.md.

Files that grow: an append, a commit of it, and what a range of ten commits added, at histories of 100 and of 100,000
commits, on stores in memory, taken in turns: ratios. Ingesting a million objects: committing them, and finding that
nothing is new, against listing them alone.
"""

from __future__ import annotations

import asyncio
import gc
import platform
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from headwater import blob, kv
from headwater.blob import BlobStore, Stat
from headwater.blob.namespace import workspace_prefix
from headwater.blob.store import Listed
from headwater.engine.commit import Description, commit
from headwater.engine.ingesting import Source, ingest, plan_ingest
from headwater.engine.lake import Lake
from headwater.engine.repository import Repository
from headwater.engine.workspaces.beginning import begin
from headwater.engine.workspaces.committing import commit_workspace
from headwater.engine.workspaces.ids import WorkspaceRef
from headwater.files.append import append
from headwater.files.ranges import read_file
from headwater.outside import real_outside
from headwater.staging.errors import NothingToCommit
from headwater.testing.counting_blobs import CountingBlobs

LENGTHS = (100, 100_000)
OBJECTS = 1_000_000
ROUNDS = 400
PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
MARKS = ("<!-- growing -->\n", "<!-- end of growing -->\n")


class Grown(msgspec.Struct, frozen=True):
    """A repository with a file that was appended to in so many commits, of which the last are told."""

    repository: Repository
    commits: list[str]


class Million(CountingBlobs):
    """A store that lists a million objects below any prefix, as fast as their descriptions can be made."""

    def __init__(self, inner: BlobStore) -> None:
        super().__init__(inner)
        self.names: Sequence[str] = ()
        self.prefix: str | None = None

    def pretend(self, prefix: str) -> None:
        self.prefix = prefix
        self.names = [f"{prefix}dir-{number // 1000:04d}/part-{number:08d}.parquet" for number in range(OBJECTS)]

    async def list(
        self, prefix: str = "", *, start_after: str = "", delimiter: bool = False, page: int = 1000
    ) -> AsyncIterator[Sequence[Listed]]:
        if self.prefix is None or prefix != self.prefix:
            async for listed in super().list(prefix, start_after=start_after, delimiter=delimiter, page=page):
                yield listed
            return
        for start in range(0, OBJECTS, page):
            some: Sequence[Listed] = [
                Stat(name, 1 << 20, f'"{hash(name) & (1 << 63) - 1:032x}"', 1_700_000_000_000)
                for name in self.names[start : start + page]
            ]
            yield some


def description() -> Description:
    return Description("bench", "bench", time.time_ns() // 1_000_000)


async def seconds(call: Callable[[], Awaitable[object]]) -> float:
    gc.collect()
    begun = time.process_time()
    await call()
    return time.process_time() - begun


async def grown(length: int) -> Grown:
    repository = await Lake(await kv.open("mem://"), blob.open, real_outside()).create(
        "bench", f"mem://bench-{length}", mode="append"
    )
    commits: list[str] = []
    for number in range(length):
        await append(repository, "main", "log", b"%010d\n" % number)
        commits.append((await commit(repository, "main", description())).id)
        if number % 20_000 == 19_999:
            print(f"{number + 1:,} commits …", file=sys.stderr)
    return Grown(repository, commits[-20:])


async def one(world: Grown) -> dict[str, float]:
    """Microseconds of each, once."""

    async def ranged() -> None:
        reading = await read_file(world.repository, "log", since=world.commits[-11], until=world.commits[-1])
        assert len(b"".join([chunk async for chunk in reading.chunks])) == 110

    appended = await timed(lambda: append(world.repository, "main", "log", b"another\n"))
    committed = await timed(lambda: commit(world.repository, "main", description()))
    return {"append": appended, "commit of an append": committed, "range of ten commits": await timed(ranged)}


async def timed(call: Callable[[], Awaitable[object]]) -> float:
    begun = time.process_time()
    await call()
    return (time.process_time() - begun) * 1e6


async def growing() -> list[str]:
    worlds = [await grown(length) for length in LENGTHS]
    gc.collect()
    gc.freeze()  # what the stores in memory hold is not what is measured
    found: list[list[dict[str, float]]] = [[], []]
    for _ in range(ROUNDS):  # in turns, so that what else goes on is shared
        for place, world in enumerate(worlds):
            found[place].append(await one(world))
    lines = [
        f"| microseconds | {' | '.join(f'{length:,} commits' for length in LENGTHS)} | ratio |",
        "| --- " * 4 + "|",
    ]
    for name in found[0][0]:
        few, many = (statistics.median(each[name] for each in side) for side in found)
        lines.append(f"| {name} | {few:.0f} | {many:.0f} | {many / few:.2f} |")
    return lines


async def ingesting() -> list[str]:
    store = Million(await blob.open("mem://million"))

    async def open_blobs(_: str) -> BlobStore:
        return store

    repository = await Lake(await kv.open("mem://"), open_blobs, real_outside()).create("bench", "mem://million")
    source = Source("mem://million/kafka/", "kafka")
    store.pretend("")

    async def listing() -> None:
        async for page in store.list(""):
            assert page

    listed = statistics.median([await seconds(listing) for _ in range(3)])
    planned = await seconds(lambda: plan_ingest(repository, "main", source))
    first = await seconds(lambda: ingest(repository, "main", source, description()))

    async def again() -> None:
        try:
            await ingest(repository, "main", source, description())
        except NothingToCommit:
            return
        raise AssertionError("nothing was new")

    second = await seconds(again)
    store.prefix = None
    workspace = await begin(repository, "main")
    store.pretend(workspace_prefix(workspace.id))
    whole = await seconds(lambda: commit_workspace(repository, WorkspaceRef("main", workspace.id), description()))
    rows = [
        ("listing them", listed),
        ("what would be ingested", planned),
        ("the first commit", first),
        ("again, with nothing new", second),
        ("committing a workspace", whole),
    ]
    return [
        f"| {OBJECTS:,} objects | seconds | times the listing |",
        "| --- | --- | --- |",
        *(f"| {name} | {value:.2f} | {value / listed:.1f} |" for name, value in rows),
    ]


async def main() -> None:
    heavy = await ingesting()
    print("\n".join(heavy), file=sys.stderr)
    report = "\n".join(
        [
            f"`make bench BENCH=growing`, {platform.machine()}, 2 cores, Python {platform.python_version()}; stores in",
            "memory, times of the processor:",
            "",
            *(await growing()),
            "",
            *heavy,
            "",
        ]
    )
    print(report)
    before, rest = PAGE.read_text().split(MARKS[0])
    PAGE.write_text(before + MARKS[0] + "\n" + report + "\n" + MARKS[1] + rest.split(MARKS[1])[1])


if __name__ == "__main__":
    asyncio.run(main())
