"""Many requests, one read: and none of them is answered by a read that began before it."""

from __future__ import annotations

import asyncio

import pytest

from headwater.drive import drive
from headwater.refs.shared_reads import SharedReads


class Counter:
    """Answers how many reads were begun; each read waits for *gate*."""

    def __init__(self) -> None:
        self.begun = 0
        self.gate: asyncio.Event | None = None

    async def read(self, key: str) -> int:
        del key
        self.begun += 1
        answer = self.begun
        if self.gate is not None:
            await self.gate.wait()
        return answer


async def turns() -> None:
    """Let everybody who can go on do so."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_those_who_come_while_a_read_is_under_way_share_the_next_one() -> None:
    async def story() -> list[int]:
        counter = Counter()
        counter.gate = asyncio.Event()
        reads = SharedReads(counter.read)
        first = asyncio.create_task(reads.get("main"))
        await turns()
        later = [asyncio.create_task(reads.get("main")) for _ in range(3)]
        await turns()
        counter.gate.set()
        return [await first, *(await asyncio.gather(*later))]

    assert asyncio.run(story()) == [1, 2, 2, 2]


def test_one_who_gives_up_leaves_the_read_to_the_others() -> None:
    async def story() -> int:
        counter = Counter()
        counter.gate = asyncio.Event()
        reads = SharedReads(counter.read)
        impatient, patient = (asyncio.create_task(reads.get("main")) for _ in range(2))
        await turns()
        impatient.cancel()
        await turns()
        counter.gate.set()
        return await patient

    assert asyncio.run(story()) == 1


def test_what_was_cut_off_with_its_loop_is_not_waited_for_on_the_next() -> None:
    counter = Counter()
    reads = SharedReads(counter.read)

    async def cut_off() -> None:
        counter.gate = asyncio.Event()
        for _ in range(2):  # one under way, and one behind it
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(reads.get("main"), 0.001)

    async def undisturbed() -> int:
        counter.gate = None
        return await asyncio.wait_for(reads.get("main"), 10)

    asyncio.run(cut_off())
    assert asyncio.run(undisturbed()) == 2


def test_without_a_loop_each_reads_by_itself() -> None:
    counter = Counter()
    reads = SharedReads(counter.read)
    assert [drive(reads.get("main")) for _ in range(2)] == [1, 2]
