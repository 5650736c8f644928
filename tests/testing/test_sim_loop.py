"""The simulator's loop: asyncio as usual, in virtual time, with the order of things drawn from the seed."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

import pytest

from headwater.testing.sim import Simulation, SimulationError

T = TypeVar("T")
Main = Callable[[], Coroutine[Any, Any, T]]


def simulated(main: Main[T], seed: int = 1) -> T:
    with Simulation(seed) as sim:
        process = sim.spawn("main", main())
        sim.run()
        return process.result()


def simulated_always(main: Main[T], expected: T) -> None:
    """Whatever the order in which ready tasks run, the outcome is the same."""
    for seed in range(50):
        assert simulated(main, seed) == expected


def test_an_hour_of_sleeping_takes_no_time() -> None:
    async def main() -> float:
        for _ in range(60):
            await asyncio.sleep(60)
        return asyncio.get_running_loop().time()

    began = time.monotonic()
    assert simulated(main) == 3600
    assert time.monotonic() - began < 1


def test_time_stands_still_while_anything_is_ready() -> None:
    async def main() -> list[str]:
        events = []

        async def sleeper() -> None:
            await asyncio.sleep(0.001)
            events.append("slept")

        sleeping = asyncio.create_task(sleeper())
        for _ in range(1000):
            await asyncio.sleep(0)
        events.append("worked")
        await sleeping
        return events

    simulated_always(main, ["worked", "slept"])


def test_timers_fire_in_the_order_of_their_times() -> None:
    async def main() -> list[float]:
        fired: list[float] = []

        async def sleeper(seconds: float) -> None:
            await asyncio.sleep(seconds)
            fired.append(seconds)

        await asyncio.gather(*(sleeper(seconds) for seconds in (3, 0.5, 2, 1)))
        return fired

    simulated_always(main, [0.5, 1, 2, 3])


def test_ready_tasks_run_in_every_order() -> None:
    async def main() -> tuple[int, ...]:
        order: list[int] = []

        async def step(number: int) -> None:
            order.append(number)

        await asyncio.gather(*(step(number) for number in range(3)))
        return tuple(order)

    assert len({simulated(main, seed) for seed in range(60)}) == 6


def test_a_cancelled_timer_does_not_move_time() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        loop.call_later(1000, lambda: None).cancel()
        await asyncio.sleep(1)
        return loop.time()

    with Simulation(1) as sim:
        process = sim.spawn("main", main())
        sim.run()
        assert process.result() == sim.time == 1


def test_timeout_cuts_a_wait_short_at_its_time() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await asyncio.sleep(10)
        async with asyncio.timeout(5):
            await asyncio.sleep(4)
        return asyncio.get_running_loop().time()

    simulated_always(main, 9.0)


def test_wait_for_cancels_what_takes_too_long() -> None:
    async def main() -> list[str]:
        ends = []

        async def slow() -> None:
            try:
                await asyncio.sleep(10)
            finally:
                ends.append("cancelled")

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(slow(), 5)
        ends.append(await asyncio.wait_for(asyncio.sleep(1, "in time"), 5))
        return ends

    simulated_always(main, ["cancelled", "in time"])


def test_a_lock_lets_one_in_at_a_time() -> None:
    async def main() -> int:
        lock, count = asyncio.Lock(), 0

        async def increment() -> None:
            nonlocal count
            async with lock:
                seen = count
                await asyncio.sleep(0)
                count = seen + 1

        await asyncio.gather(*(increment() for _ in range(10)))
        return count

    simulated_always(main, 10)


def test_without_the_lock_updates_are_lost() -> None:
    async def main() -> int:
        count = 0

        async def increment() -> None:
            nonlocal count
            seen = count
            await asyncio.sleep(0)
            count = seen + 1

        await asyncio.gather(*(increment() for _ in range(10)))
        return count

    assert any(simulated(main, seed) < 10 for seed in range(10))


def test_an_event_wakes_all_who_wait() -> None:
    async def main() -> list[bool]:
        event = asyncio.Event()
        waiting = [asyncio.create_task(event.wait()) for _ in range(5)]
        await asyncio.sleep(1)
        event.set()
        return await asyncio.gather(*waiting)

    simulated_always(main, [True] * 5)


def test_a_queue_hands_on_everything_in_order() -> None:
    async def main() -> list[int]:
        queue: asyncio.Queue[int] = asyncio.Queue(maxsize=2)

        async def produce() -> None:
            for number in range(20):
                await queue.put(number)

        producing = asyncio.create_task(produce())
        taken = [await queue.get() for _ in range(20)]
        await producing
        return taken

    simulated_always(main, list(range(20)))


def test_a_semaphore_and_a_condition_hold_back_who_must_wait() -> None:
    async def main() -> int:
        semaphore, condition, inside, most = asyncio.Semaphore(3), asyncio.Condition(), 0, 0

        async def visit() -> None:
            nonlocal inside, most
            async with semaphore:
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0.1)
                inside -= 1
            async with condition:
                condition.notify_all()

        visits = [asyncio.create_task(visit()) for _ in range(9)]
        async with condition:
            await condition.wait_for(lambda: inside == 0)
        await asyncio.gather(*visits)
        return most

    simulated_always(main, 3)


def test_gather_answers_in_the_order_of_its_arguments() -> None:
    async def main() -> list[int]:
        return await asyncio.gather(*(asyncio.sleep(delay, delay) for delay in (3, 1, 2)))

    simulated_always(main, [3, 1, 2])


def test_a_task_group_cancels_the_others_when_one_fails() -> None:
    async def main() -> int:
        cancelled = 0

        async def stay() -> None:
            nonlocal cancelled
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                cancelled += 1
                raise

        async def fail() -> None:
            await asyncio.sleep(1)
            raise ValueError

        async def together() -> None:
            async with asyncio.TaskGroup() as group:
                for _ in range(5):
                    group.create_task(stay())
                group.create_task(fail())

        with pytest.raises(ExceptionGroup):
            await together()
        return cancelled

    simulated_always(main, 5)


def test_a_shielded_task_outlives_its_waiter() -> None:
    async def main() -> str:
        inner = asyncio.ensure_future(asyncio.sleep(10, "done"))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(inner), 1)
        return await inner

    simulated_always(main, "done")


def test_an_async_generator_that_is_dropped_half_way_is_closed_within_the_run() -> None:
    async def main() -> list[str]:
        events = []

        async def numbers() -> AsyncIterator[int]:
            try:
                for number in range(10):
                    yield number
            finally:
                await asyncio.sleep(1)
                events.append("closed")

        async for number in numbers():
            if number == 3:
                break
        await asyncio.sleep(2)
        return events

    simulated_always(main, ["closed"])


LEAVING: dict[str, Callable[[asyncio.AbstractEventLoop], Any]] = {
    "run_in_executor": lambda loop: loop.run_in_executor(None, time.monotonic),
    "add_signal_handler": lambda loop: loop.add_signal_handler(signal.SIGTERM, lambda: None),
    "create_connection": lambda loop: loop.create_connection(asyncio.Protocol, "127.0.0.1", 1),
    "create_server": lambda loop: loop.create_server(asyncio.Protocol, "127.0.0.1", 1),
    "getaddrinfo": lambda loop: loop.getaddrinfo("localhost", 1),
    "add_reader": lambda loop: loop.add_reader(0, lambda: None),
    "subprocess_exec": lambda loop: loop.subprocess_exec(asyncio.SubprocessProtocol, "true"),
    "run_forever": lambda loop: loop.run_forever(),
    "stop": lambda loop: loop.stop(),
}


@pytest.mark.parametrize(("name", "leave"), LEAVING.items(), ids=LEAVING)
def test_what_would_leave_the_simulation_fails_the_run_even_if_its_caller_goes_on(
    name: str, leave: Callable[[asyncio.AbstractEventLoop], Any]
) -> None:
    async def main() -> None:
        with pytest.raises(SimulationError):
            leave(asyncio.get_running_loop())

    with pytest.raises(SimulationError, match=name):
        simulated(main)


def test_another_thread_cannot_reach_into_the_simulation() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        refused: list[Exception] = []

        def reach_in() -> None:
            try:
                loop.call_soon_threadsafe(lambda: None)
            except SimulationError as error:
                refused.append(error)

        thread = threading.Thread(target=reach_in)
        thread.start()
        thread.join()
        assert len(refused) == 1

    with pytest.raises(SimulationError, match="another thread"):
        simulated(main)


def test_a_simulation_inside_of_a_running_loop_is_refused() -> None:
    async def main() -> None:
        with pytest.raises(SimulationError, match="inside of a running event loop"):
            simulated(partial(asyncio.sleep, 0))

    asyncio.run(main())


def test_an_error_in_a_callback_fails_the_run() -> None:
    async def main() -> None:
        asyncio.get_running_loop().call_soon(lambda: 1 / 0)
        await asyncio.sleep(1)

    with pytest.raises(ZeroDivisionError):
        simulated(main)


def test_an_error_of_a_task_that_nobody_awaits_fails_the_run() -> None:
    async def fail() -> None:
        raise ValueError("nobody hears me")

    async def main() -> None:
        asyncio.create_task(fail())  # noqa: RUF006  (dropped on purpose)
        await asyncio.sleep(1)

    with pytest.raises(ValueError, match="nobody hears me"):
        simulated(main)
