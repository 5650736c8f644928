"""What a request to the server costs, beside a bare answer of the same ASGI server, and whether workers grow.

    python -m bench.server              rates, latencies, CPU, and memory after 200,000 requests
    python -m bench.server 1000000      … after a million

One run over loopback, one worker, `durability=os`. Bare is an application that answers "hello" and nothing else, on
Granian as Headwater sets it up. As the client shares the cores with the server, the fraction of the CPU time that a
request takes tells more than that of the rates, and hardly moves when the machine has other work.
"""

from __future__ import annotations

import asyncio
import base64
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import uvloop

from bench._wire import Connection, request
from dev.servers.headwater import Headwater, serve
from dev.servers.process import free_port, running

SECONDS = 2.0
CLIENTS = (1, 32)
OBJECTS = 1000
CONTENT = os.urandom(1024)
MEMORY_AFTER = 200_000

Made = Callable[[int], bytes]
"""The n-th request of its kind, as bytes."""


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else MEMORY_AFTER
    with tempfile.TemporaryDirectory() as directory:
        port = free_port()
        command = [sys.executable, "-m", "bench._bare", str(port)]
        with running(command, port=port, directory=Path(directory), environment={"PYTHONPATH": str(Path.cwd())}):
            bare = {clients: uvloop.run(measured(port, f"bench._bare {port}", hello, clients)) for clients in CLIENTS}
        with serve(Path(directory)) as server:
            fill(server)
            show(server, bare)
            grow(server, count)


def show(server: Headwater, bare: dict[int, Figures]) -> None:
    """Measure each kind of request, and print the table."""
    print("| | clients | requests/s | of bare | CPU of bare | p50 ms | p99 ms | CPU ms |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for clients in CLIENTS:
        tell("bare", clients, bare[clients], bare[clients])
    port = int(server.url.rpartition(":")[2])
    for name, made in requests_to(server).items():
        for clients in CLIENTS:
            figures = uvloop.run(measured(port, str(server.data), made, clients))
            tell(name, clients, figures, bare[clients])


def grow(server: Headwater, count: int) -> None:
    """Print what memory the worker has at first, and after so many requests of all kinds."""
    port = int(server.url.rpartition(":")[2])
    kinds = requests_to(server)
    at_first = resident(str(server.data))
    began = time.perf_counter()
    for name in ("stat", "get 1 KiB", "list 100"):
        uvloop.run(sent(port, kinds[name], count // 3))
    now = resident(str(server.data))
    print(f"\nworker: {at_first / 1e6:.0f} MB, after {count:,} requests {now / 1e6:.0f} MB", end="")
    print(f" ({time.perf_counter() - began:.0f} s)")


class Figures:
    """How a kind of request did."""

    def __init__(self, seconds: float, spent: list[float], processor: float) -> None:
        ordered = sorted(spent)
        self.rate = len(ordered) / seconds
        self.p50 = statistics.median(ordered)
        self.p99 = ordered[int(len(ordered) * 0.99)]
        self.processor = processor / len(ordered)


def tell(name: str, clients: int, figures: Figures, bare: Figures) -> None:
    print(
        f"| {name} | {clients} | {figures.rate:.0f} | {figures.rate / bare.rate:.2f} | "
        f"{bare.processor / figures.processor:.2f} | {figures.p50 * 1000:.2f} | {figures.p99 * 1000:.2f} | "
        f"{figures.processor * 1000:.3f} |",
        flush=True,
    )


def fill(server: Headwater) -> None:
    """A thousand committed objects in one directory."""
    with httpx.Client(base_url=server.api, auth=server.login, timeout=60) as client:
        client.post("/repositories", json={"name": "bench"}).raise_for_status()
        for number in range(OBJECTS):
            url = "/repositories/bench/branches/main/objects"
            client.post(url, params={"path": f"many/{number:04}"}, content=CONTENT).raise_for_status()
        client.post("/repositories/bench/branches/main/commits", json={"message": "all"}).raise_for_status()
        client.post("/repositories/bench/branches", json={"name": "new", "source": "main"}).raise_for_status()


def hello(_: int) -> bytes:
    return request("GET", "/")


def requests_to(server: Headwater) -> dict[str, Made]:
    login = base64.b64encode(":".join(server.login).encode()).decode()
    headers = {"authorization": f"Basic {login}"}
    refs = "/api/v1/repositories/bench/refs/main/objects"
    new = "/api/v1/repositories/bench/branches/new/objects"
    return {
        "stat": lambda n: request("GET", f"{refs}/stat?path=many/{n % OBJECTS:04}", headers),
        "list 100": lambda _: request("GET", f"{refs}/ls?prefix=many/&amount=100", headers),
        "get 1 KiB": lambda n: request("GET", f"{refs}?path=many/{n % OBJECTS:04}", headers),
        "put 1 KiB": lambda n: request("POST", f"{new}?path=put/{n % 10_000:05}", headers, CONTENT),
    }


async def measured(port: int, of: str, made: Made, clients: int) -> Figures:
    """Send requests over so many connections for a while, after some that do not count."""
    await sent(port, made, 50 * clients, clients)
    processor, began = processor_seconds(of), time.perf_counter()
    spent = await sent(port, made, sys.maxsize, clients, seconds=SECONDS)
    return Figures(time.perf_counter() - began, spent, processor_seconds(of) - processor)


async def sent(port: int, made: Made, count: int, clients: int = 8, seconds: float = 1e9) -> list[float]:
    """Send *count* requests, or as many as go into *seconds*. Returns how long each took."""
    spent: list[float] = []
    numbers = iter(range(count))
    end = time.perf_counter() + seconds

    async def one_client() -> None:
        connection = await Connection.to(port)
        for number in numbers:
            began = time.perf_counter()
            if began >= end:
                break
            status = await connection.ask(made(number))
            assert 200 <= status < 300, status
            spent.append(time.perf_counter() - began)
        connection.close()

    await asyncio.gather(*(one_client() for _ in range(clients)))
    return spent


def processes(of: str) -> list[Path]:
    """The processes of the server whose command line has *of* in it, its workers included."""
    found: dict[str, tuple[str, str]] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                parent = (path / "stat").read_text().rpartition(")")[2].split()[1]
                found[path.name] = parent, (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:  # it ended just now
                continue
    mains = {name for name, (_, command) in found.items() if of in command and "guard.py" not in command}
    return [Path("/proc") / name for name, (parent, _) in found.items() if name in mains or parent in mains]


def processor_seconds(of: str) -> float:
    total = 0
    for path in processes(of):
        fields = (path / "stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def resident(of: str) -> float:
    """Bytes of the largest process: the worker."""
    sizes = [int((path / "statm").read_text().split()[1]) for path in processes(of)]
    return float(max(sizes) * os.sysconf("SC_PAGE_SIZE"))


if __name__ == "__main__":
    main()
