"""Objects over S3, beside an S3 server over a plain directory: gets and puts of three sizes, alone and by 32 at a time.

One run, one client library (obstore), one worker of ours on a directory with `durability=os`, which is what the other
server does. Each number is the best of a few rounds, which take turns. A third server is ours with its objects on the
other one: what it serves is compared with the same bytes from there directly. Writes the table into docs/s3.md.
"""

from __future__ import annotations

import asyncio
import os
import platform
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlencode

import httpx
import msgspec
from obstore.store import S3Store

from dev.servers import headwater, versitygw
from dev.servers.headwater import Headwater

ROUNDS = 3
PAGE = Path(__file__).parents[1] / "docs" / "s3.md"
MARKS = ("<!-- measured -->\n", "<!-- end of measured -->\n")
BUCKET = "bench"


class Size(msgspec.Struct, frozen=True):
    """An object to measure, and how many of them a round moves, alone and by many."""

    name: str
    bytes: int
    alone: int
    by_many: int


SIZES = [Size("1 KiB", 1024, 300, 1600), Size("1 MiB", 1 << 20, 60, 128), Size("64 MiB", 64 << 20, 4, 8)]
CONNECTIONS = (1, 32)


def store_of(endpoint: str, access_key_id: str, secret: str) -> S3Store:
    return S3Store(
        BUCKET,
        endpoint=endpoint,
        access_key_id=access_key_id,
        secret_access_key=secret,
        region="us-east-1",
        client_options={"allow_http": True},
    )


async def timed(call: Callable[[int], Awaitable[object]], times: int, connections: int) -> float:
    """Calls a second, by so many at a time."""
    numbers = iter(range(times))

    async def one() -> None:
        for number in numbers:
            await call(number)

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(connections)))
    return times / (time.perf_counter() - began)


async def rates(store: S3Store, size: Size, connections: int) -> tuple[float, float]:
    """Puts and gets a second."""
    body = os.urandom(size.bytes)
    times = size.alone if connections == 1 else size.by_many
    name = size.name.replace(" ", "")

    async def put(number: int) -> None:
        await store.put_async(f"main/{name}/{number % 64}", body, use_multipart=False)

    async def get(number: int) -> None:
        found = await store.get_async(f"main/{name}/{number % 64}")
        async for _ in found.stream(1 << 20):
            pass

    await timed(put, min(times, 64), connections)
    puts = await timed(put, times, connections)
    return puts, await timed(get, times, connections)


async def measure(stores: dict[str, S3Store]) -> list[list[str]]:
    """The rows of the table."""
    rows = []
    for size in SIZES:
        for connections in CONNECTIONS:
            best = dict.fromkeys(stores, (0.0, 0.0))
            for _ in range(ROUNDS):
                for name, store in stores.items():
                    puts, gets = await rates(store, size, connections)
                    best[name] = max(best[name][0], puts), max(best[name][1], gets)
            ours, peer, through = best.values()
            cells = [shown(size, rate) for pair in (ours, peer) for rate in pair]
            ratios = [ours[0] / peer[0], ours[1] / peer[1], through[1] / peer[1]]
            rows.append([size.name, str(connections), *cells, *(f"{ratio:.2f}" for ratio in ratios)])
            print("  ".join(rows[-1]), flush=True)
    return rows


def shown(size: Size, rate: float) -> str:
    """Small ones by the second, large ones by their bytes."""
    return f"{rate:,.0f}/s" if size.bytes < 1 << 20 else f"{rate * size.bytes / (1 << 20):,.0f} MiB/s"


def table(rows: list[list[str]]) -> str:
    head = [
        "object",
        "connections",
        "put",
        "get",
        "its put",
        "its get",
        "put, ratio",
        "get, ratio",
        "get through, ratio",
    ]
    lines = [head, ["---"] * len(head), *rows]
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return f"`make bench`, {machine}, versitygw beside us:\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def client(server: Headwater) -> S3Store:
    return store_of(server.url, *server.login)


async def make_bucket(server: Headwater) -> None:
    async with httpx.AsyncClient(base_url=server.api, auth=server.login) as api:
        (await api.post("/repositories", json={"name": BUCKET})).raise_for_status()


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        places = [Path(directory, name) for name in ("ours", "peer", "through")]
        for place in places:
            place.mkdir()
        with headwater.serve(places[0]) as ours, versitygw.serve(places[1]) as peer:
            for name in (BUCKET, "beneath"):
                peer.make_bucket(name)
            beneath = {
                "HEADWATER_STORAGE": f"s3://beneath?{urlencode({'endpoint': peer.endpoint, 'region': 'us-east-1'})}",
                "HEADWATER_STORAGE_CREDENTIALS": f"access_key_id={peer.access_key_id},"
                f"secret_access_key={peer.secret_access_key}",
            }
            with headwater.serve(places[2], beneath) as through:
                asyncio.run(run(ours, peer, through))


async def run(ours: Headwater, peer: versitygw.S3, through: Headwater) -> None:
    await make_bucket(ours)
    await make_bucket(through)
    stores = {
        "ours": client(ours),
        "peer": store_of(peer.endpoint, peer.access_key_id, peer.secret_access_key),
        "through": client(through),
    }
    text = table(await measure(stores))
    before, _, rest = PAGE.read_text().partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    PAGE.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
