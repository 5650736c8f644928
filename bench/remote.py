"""What a call of the SDK on a server costs, beside a bare request of the same client library to the same server.

One run over loopback, one worker, `durability=os`. Bare is httpx asking whether the server lives: what is beyond that
is the operation, and what the SDK makes of its answer.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx

import headwater
from dev.servers.headwater import Headwater, serve
from headwater import aio

ROUNDS = 7
TIMES = 60
CONTENT = bytes(1024)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory, serve(Path(directory)) as server:
        awaited = asyncio.run(awaiting(server))
        waited = waiting(server)
    print(f"{'':18}{'aio, ms':>10}{'x bare':>8}{'waits, ms':>11}{'x bare':>8}")
    for name, spent in awaited.items():
        both = waited.get(name)
        beside = "" if both is None else f"{both * 1000:11.2f}{both / awaited['bare']:8.1f}"
        print(f"{name:18}{spent * 1000:10.2f}{spent / awaited['bare']:8.1f}{beside}")


async def awaiting(server: Headwater) -> dict[str, float]:
    """Seconds of each call, with `await`."""
    async with (
        httpx.AsyncClient(base_url=server.api, auth=server.login) as bare,
        await aio.connect(server.url, *server.login) as lake,
    ):
        repo = await lake.create_repo("bench")
        main = repo.branch("main")
        for number in range(1000):
            await main.put(f"many/{number:04}", CONTENT)
        await main.commit("all of it")
        events = (await lake.create_repo("events", mode="append")).branch("main")
        calls: dict[str, Callable[[], Awaitable[object]]] = {
            "bare": lambda: bare.get("/healthcheck"),
            "stat": lambda: main.stat("many/0500"),
            "get 1 KiB": lambda: main.get("many/0500"),
            "put 1 KiB": lambda: main.put("new", CONTENT),
            "append 1 KiB": lambda: events.append("log", CONTENT),
            "list 1000": lambda: main.list("many/").next_page(),
            "1000 as a table": lambda: main.as_arrow("many/"),
            "log": lambda: main.log().next_page(),
        }
        spent: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(ROUNDS):
            for name, call in calls.items():
                spent[name].append(await _timed(call, 5 if "1000" in name else TIMES))
        return {name: statistics.median(rounds) for name, rounds in spent.items()}


def waiting(server: Headwater) -> dict[str, float]:
    """Seconds of some of the calls, from a program without an event loop."""
    with headwater.connect(server.url, *server.login) as lake:
        main = lake.repo("bench").branch("main")
        calls: dict[str, Callable[[], object]] = {
            "stat": lambda: main.stat("many/0500"),
            "get 1 KiB": lambda: main.get("many/0500"),
            "put 1 KiB": lambda: main.put("new", CONTENT),
            "list 1000": lambda: list(main.list("many/")),
        }
        found = {}
        for name, call in calls.items():
            rounds = []
            for _ in range(ROUNDS):
                began = time.perf_counter()
                for _ in range(times := 5 if "1000" in name else TIMES):
                    call()
                rounds.append((time.perf_counter() - began) / times)
            found[name] = statistics.median(rounds)
        return found


async def _timed(call: Callable[[], Awaitable[object]], times: int) -> float:
    began = time.perf_counter()
    for _ in range(times):
        await call()
    return (time.perf_counter() - began) / times


if __name__ == "__main__":
    main()
