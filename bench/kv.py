"""What each key-value store costs here: `make bench`. Writes the table into docs/kv.md.

Every driver does the same in one run, over loopback and against the real server; LMDB is also set against a dict, which
no store can beat at reading, and against itself with one write at a time. Each number is the best of a few rounds,
because whatever else the machine does only adds. `python -m bench.kv redis etcd` measures the embedded stores and these
two, and leaves the page alone: numbers of two runs do not compare. `--rounds 1` is faster, and rougher.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import platform
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from dev.servers import bigtable, cassandra, dynamodb, etcd, hbase, mariadb, postgresql, redis, versitygw
from dev.servers.process import NotInstalled
from headwater import kv
from headwater.kv import ABSENT

P = b"bench"
VALUE = b"v" * 100
CLIENTS = 32
PAGE = Path(__file__).parents[1] / "docs" / "kv.md"
MARKS = ("<!-- measured -->\n", "<!-- end of measured -->\n")


class Subject(msgspec.Struct, frozen=True):
    """A store to measure, and how many calls of each kind a client makes in a round."""

    name: str
    uri: str
    calls: int
    scanned: int = 100_000
    credentials: dict[str, str] = {}


class Costs(msgspec.Struct, frozen=True):
    """Microseconds an operation, by one client and by many; *scan* is for an entry."""

    get: float
    get_by_many: float
    set: float
    set_by_many: float
    set_if: float
    scan: float


async def measure(subject: Subject, times: int) -> Costs:
    calls, entries = subject.calls, subject.scanned
    async with await kv.open(subject.uri, credentials=subject.credentials) as store:
        for first in range(0, entries, 5_000):
            await store.set_many(b"scan", {b"%08d" % number: VALUE for number in range(first, first + 5_000)})

        async def get(number: int) -> None:
            await store.get(b"scan", b"%08d" % (number * 7919 % entries))

        async def put(number: int) -> None:
            await store.set(P, b"%d" % number, VALUE)

        async def swap() -> None:
            found = await store.get(P, b"swapped")
            predicate = found.predicate if found else ABSENT
            for _ in range(calls):
                predicate = await store.set_if(P, b"swapped", VALUE, predicate)

        async def scan() -> None:
            assert sum([len(page) async for page in store.scan(b"scan")]) == entries

        await spread(get, calls // 4, CLIENTS)  # connections, caches
        rounds = [
            Costs(
                get=await cost(spread(get, calls, 1), calls),
                get_by_many=await cost(spread(get, calls * 4, CLIENTS), calls * 4),
                set=await cost(spread(put, calls, 1), calls),
                set_by_many=await cost(spread(put, calls * 4, CLIENTS), calls * 4),
                set_if=await cost(swap(), calls),
                scan=await cost(scan(), entries),
            )
            for _ in range(times)
        ]
    return Costs(*map(min, zip(*map(msgspec.structs.astuple, rounds), strict=True)))


async def spread(call: Callable[[int], Awaitable[None]], calls: int, clients: int) -> None:
    """Make *calls* calls, *clients* at a time."""

    async def client(first: int) -> None:
        for number in range(first, calls, clients):
            await call(number)

    await asyncio.gather(*(client(first) for first in range(clients)))


async def cost(work: Awaitable[None], operations: int) -> float:
    """Microseconds that *work* takes for each of its *operations*."""
    gc.collect()
    began = time.perf_counter()
    await work
    return (time.perf_counter() - began) / operations * 1e6


async def dict_lookup(times: int) -> float:
    """Microseconds to find bytes in a dict: what no store can be faster than."""
    values = {b"%08d" % number: VALUE for number in range(100_000)}
    keys = [b"%08d" % (number * 7919 % 100_000) for number in range(100_000)]

    async def look_up() -> None:
        for key in keys:
            values[key]

    return min([await cost(look_up(), len(keys)) for _ in range(times)])


def subjects(only: Sequence[str]) -> Iterator[Subject]:
    """Every store that can be had here; of the served ones only those named, if any are. A server runs for its turn."""
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as scratch:
        directory = Path(scratch)
        yield Subject("mem", "mem://", calls=5_000)
        yield Subject("lmdb", f"lmdb://{directory}/fsync", calls=1_000)
        yield Subject("lmdb, durability=os", f"lmdb://{directory}/os?durability=os", calls=5_000)
        yield Subject("file", f"file://{directory}/objects", calls=300, scanned=10_000)
        for name, served in SERVED.items():
            if only and name not in only:
                continue
            home = directory / name
            home.mkdir(mode=0o777)
            try:
                with served(home) as subject:
                    yield subject
            except NotInstalled as reason:
                print(f"left out: {reason}", file=sys.stderr)


@contextmanager
def on_postgresql(home: Path) -> Iterator[Subject]:
    with postgresql.serve(home) as server:
        yield Subject("postgresql", server.uri, calls=500, credentials=server.credentials)


@contextmanager
def on_mysql(home: Path) -> Iterator[Subject]:
    with mariadb.serve(home) as server:
        yield Subject("mysql (MariaDB)", server.uri, calls=500, credentials=server.credentials)


@contextmanager
def on_redis(home: Path) -> Iterator[Subject]:
    with redis.serve(home) as server:
        yield Subject("redis, appendfsync always", server.uri, calls=500, credentials=server.credentials)


@contextmanager
def on_etcd(home: Path) -> Iterator[Subject]:
    with etcd.serve(home) as port:
        yield Subject("etcd, one member", f"etcd://127.0.0.1:{port}", calls=200, scanned=10_000)


@contextmanager
def on_dynamodb(home: Path) -> Iterator[Subject]:
    with dynamodb.serve(home) as endpoint:
        login = {"access_key_id": "anybody", "secret_access_key": "anything"}
        uri = f"dynamodb://bench?region=eu-west-1&endpoint={endpoint}"
        yield Subject("dynamodb (the vendor's emulator)", uri, calls=200, scanned=10_000, credentials=login)


@contextmanager
def on_bigtable(home: Path) -> Iterator[Subject]:
    with bigtable.serve(home) as endpoint:
        uri = f"bigtable://bench/emulated/bench?endpoint={endpoint}"
        yield Subject("bigtable (the vendor's emulator)", uri, calls=200, scanned=10_000)


@contextmanager
def on_cassandra(home: Path) -> Iterator[Subject]:
    with cassandra.serve(home) as server:
        yield Subject("cassandra, one node", server.uri, calls=200, scanned=10_000, credentials=server.credentials)


@contextmanager
def on_hbase(home: Path) -> Iterator[Subject]:
    with hbase.serve(home) as server:
        yield Subject("hbase, one process", f"hbase://127.0.0.1:{server.port}/bench", calls=200, scanned=10_000)


@contextmanager
def on_s3(home: Path) -> Iterator[Subject]:
    with versitygw.serve(home) as server:
        server.make_bucket("bench")
        login = {"access_key_id": server.access_key_id, "secret_access_key": server.secret_access_key}
        uri = f"s3://bench/kv?region=us-east-1&endpoint={server.endpoint}"
        yield Subject("s3 (versitygw)", uri, calls=200, scanned=5_000, credentials=login)


SERVED = {
    "postgresql": on_postgresql,
    "mysql": on_mysql,
    "redis": on_redis,
    "etcd": on_etcd,
    "dynamodb": on_dynamodb,
    "bigtable": on_bigtable,
    "cassandra": on_cassandra,
    "hbase": on_hbase,
    "s3": on_s3,
}


def table(costs: list[tuple[Subject, Costs]]) -> str:
    lines = [
        f"| store | get, 1 client | get, {CLIENTS} | set, 1 | set, {CLIENTS} | set_if, 1 | an entry of a scan |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for subject, cost in costs:
        numbers = " | ".join(f"{number:,.{1 if number < 100 else 0}f}" for number in msgspec.structs.astuple(cost))
        lines.append(f"| {subject.name} | {numbers}, of {subject.scanned:,} |")
    return "\n".join(lines)


def ratios(lmdb: Costs, lookup: float) -> str:
    return (
        f"- LMDB, durable: {CLIENTS} writers at once do {lmdb.set / lmdb.set_by_many:.1f} times the writes of one.\n"
        f"- LMDB: a get costs {lmdb.get / lookup:.0f} times a lookup in a dict of bytes ({lookup:.2f} us)."
    )


async def main() -> None:
    load = os.getloadavg()[0]
    costs = []
    arguments = argparse.ArgumentParser(prog="python -m bench.kv")
    arguments.add_argument("only", nargs="*", metavar="SERVER", help=f"of {', '.join(SERVED)}")
    arguments.add_argument("--rounds", type=int, default=3)
    asked = arguments.parse_args()
    unknown = set(asked.only) - set(SERVED)
    if unknown:
        arguments.error(f"no such server: {', '.join(sorted(unknown))}")
    for subject in subjects(asked.only):
        print(f"measuring {subject.name} …", file=sys.stderr)
        costs.append((subject, await measure(subject, asked.rounds)))
    lmdb = next(cost for subject, cost in costs if subject.name == "lmdb")
    report = (
        f"`make bench`: microseconds an operation, the best of {asked.rounds} rounds; values of {len(VALUE)} bytes; "
        f"client, server and disk\non one machine ({platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}), whose load was {load:.1f} before:\n\n"
        f"{table(costs)}\n\n{ratios(lmdb, await dict_lookup(asked.rounds))}\n"
    )
    print(report)
    if asked.only:
        return
    before, rest = PAGE.read_text().split(MARKS[0])
    PAGE.write_text(before + MARKS[0] + "\n" + report + "\n" + MARKS[1] + rest.split(MARKS[1])[1])


if __name__ == "__main__":
    asyncio.run(main())
