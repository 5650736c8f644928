"""Counting by compare-and-swap, in tasks and in processes: the simplest thing that loses updates if CAS is broken.

    python -m headwater.testing.kv_increment < job.json

is one of the processes. The job comes on standard input because it may hold credentials.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

import msgspec

from headwater import kv
from headwater.kv import ABSENT, Store

PATIENCE = 120
"""Seconds that all may take together: where no swap ever succeeds, they would go on for ever."""


class Job(msgspec.Struct, frozen=True):
    uri: str
    credentials: dict[str, str]
    partition: bytes
    key: bytes
    times: int


async def increment(store: Store, partition: bytes, key: bytes, times: int) -> None:
    """Add one to a decimal counter, *times* times, each by compare-and-swap."""
    for _ in range(times):
        while True:
            now = await store.get(partition, key)
            count, predicate = (0, ABSENT) if now is None else (int(now.value), now.predicate)
            with suppress(kv.PredicateFailed):
                await store.set_if(partition, key, b"%d" % (count + 1), predicate)
                break


async def increment_in_processes(
    uri: str, credentials: dict[str, str], partition: bytes, key: bytes, *, processes: int, times: int
) -> None:
    """Run *processes* incrementers at once, each a Python of its own. Raises if one of them fails or never ends."""
    job = msgspec.json.encode(Job(uri, credentials, partition, key, times))
    children = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-m", __name__, stdin=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        for _ in range(processes)
    ]
    try:
        async with asyncio.timeout(PATIENCE):
            said = await asyncio.gather(*(child.communicate(job) for child in children))
    finally:
        for child in children:
            if child.returncode is None:
                child.kill()
                await child.wait()
    for child, (_, errors) in zip(children, said, strict=True):
        assert child.returncode == 0, errors.decode()


async def main() -> None:
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    async with await kv.open(job.uri, credentials=job.credentials) as store:
        await increment(store, job.partition, job.key, job.times)


if __name__ == "__main__":
    asyncio.run(main())
