"""Running coroutines without an event loop."""

from __future__ import annotations

import asyncio

import pytest

from headwater.drive import drive, together


async def answer(value: int) -> int:
    return value


def test_a_coroutine_that_never_waits_is_run_to_its_end() -> None:
    assert drive(answer(7)) == 7


def test_an_error_in_the_coroutine_is_the_callers() -> None:
    async def fail() -> None:
        raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        drive(fail())


def test_a_coroutine_that_waits_is_refused_and_closed() -> None:
    ended = []

    async def wait() -> None:
        try:
            await asyncio.sleep(0)
        finally:
            ended.append(True)

    with pytest.raises(RuntimeError, match="event loop"):
        drive(wait())
    assert ended == [True]


def test_together_answers_in_order_with_a_loop_and_without() -> None:
    calls = [lambda number=number: answer(number) for number in range(5)]
    assert drive(together(calls)) == [0, 1, 2, 3, 4]
    assert asyncio.run(together(calls)) == [0, 1, 2, 3, 4]


def test_together_is_side_by_side_under_a_loop() -> None:
    async def meet() -> list[None]:
        barrier = asyncio.Barrier(3)

        async def arrive() -> None:
            await barrier.wait()

        return await asyncio.wait_for(together([arrive, arrive, arrive]), timeout=10)

    assert asyncio.run(meet()) == [None, None, None]
