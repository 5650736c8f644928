"""A store as it is seen through a bad network: late, throttled, failing, and failing after having done it.

Nothing here breaks what a `Store` promises. It only does, often, what a real database does once in a month.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextvars import Context
from functools import partial
from itertools import count
from random import Random
from typing import Any, TypeAlias

import msgspec

from headwater.kv.errors import SlowDown, StoreError, StoreUnavailable, UnknownOutcome
from headwater.kv.limits import PAGE
from headwater.kv.store import Operation, Page, Predicate, Set, Store, Versioned, after, run
from headwater.testing.toxics import ApplyLate, Delay, FailAfter, FailBefore, Throttle, Toxic

Call: TypeAlias = Callable[[], Awaitable[Any]]
Note: TypeAlias = Callable[..., None]


class _Fate(msgspec.Struct, frozen=True):
    """What becomes of a request: so many of its calls are made, it fails, and the others are made late or never."""

    calls: int
    error: StoreError | None = None
    late: float | None = None


class FaultyStore(Store):
    """*inner*, with *toxics* in the way. All chance comes from *random*: the same draws, the same faults.

    A request lives on the *server*: in a task of its own and outside of the client's context. So a client that gives
    up, is cancelled or crashes does not stop what it has sent. A bulk or a pipeline is run one operation after the
    other, with the requests of others in between: more is not promised, so more is not given.

    *note* is told what is sent and what becomes of it, as (text, arguments): `Simulation.note` is made for it.
    """

    def __init__(self, inner: Store, random: Random, toxics: Sequence[Toxic] = (), *, note: Note | None = None) -> None:
        self._inner = inner
        self._random = random
        self._delays = [toxic for toxic in toxics if isinstance(toxic, Delay)]
        self._failures = [toxic for toxic in toxics if not isinstance(toxic, Delay)]
        self._note = note or _silent
        self._numbers = count(1)
        self._in_flight: dict[int, asyncio.Task[None]] = {}

    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        [found] = await self._read("get", (partition, key), [partial(self._inner.get, partition, key)])
        return found  # type: ignore[no-any-return]  # what the one call answered

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        await self._write("set", (partition, key, value), [partial(self._inner.set, partition, key, value)])

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        call = partial(self._inner.set_if, partition, key, value, predicate)
        [written] = await self._write("set_if", (partition, key, value), [call])
        return written  # type: ignore[no-any-return]  # what the one call answered

    async def delete(self, partition: bytes, key: bytes) -> None:
        await self._write("delete", (partition, key), [partial(self._inner.delete, partition, key)])

    async def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        pages = aiter(self._inner.scan(partition, start, page=page))
        while True:
            [entries] = await self._read("scan", (partition, start), [partial(_next_page, pages)])
            if not entries:
                return
            yield entries

    async def get_many(self, partition: bytes, keys: Sequence[bytes]) -> list[Versioned | None]:
        calls = [partial(self._inner.get, partition, key) for key in keys]
        return await self._read("get_many", (partition, *keys), calls)

    async def set_many(self, partition: bytes, values: Mapping[bytes, bytes]) -> None:
        operations = [Set(partition, key, value) for key, value in values.items()]
        calls = [partial(run, self._inner, operation) for operation in operations]
        await self._write("set_many", tuple(operations), self._shuffled(calls))

    async def delete_many(self, partition: bytes, keys: Iterable[bytes]) -> None:
        named = list(keys)
        calls = [partial(self._inner.delete, partition, key) for key in named]
        await self._write("delete_many", (partition, *named), self._shuffled(calls))

    async def pipeline(self, operations: Sequence[Operation]) -> None:
        calls = [partial(self._step, operations, position) for position in range(len(operations))]
        await self._write("pipeline", tuple(operations), calls)

    async def _step(self, operations: Sequence[Operation], position: int) -> None:
        with after(position, operations):
            await run(self._inner, operations[position])

    async def settle(self) -> None:
        """Return when nothing is on its way any more, late writes included."""
        while self._in_flight:
            await asyncio.wait(list(self._in_flight.values()))

    async def aclose(self) -> None:
        await self.settle()
        await self._inner.aclose()

    def _shuffled(self, calls: Sequence[Call]) -> list[Call]:
        return self._random.sample(calls, len(calls))

    async def _read(self, name: str, arguments: tuple[object, ...], calls: Sequence[Call]) -> list[Any]:
        return await self._send(name, arguments, calls, self._fate(len(calls), writes=False))

    async def _write(self, name: str, arguments: tuple[object, ...], calls: Sequence[Call]) -> list[Any]:
        return await self._send(name, arguments, calls, self._fate(len(calls), writes=True))

    async def _send(self, name: str, arguments: tuple[object, ...], calls: Sequence[Call], fate: _Fate) -> list[Any]:
        """The client's side: hand the request over, and wait for an answer."""
        loop = asyncio.get_running_loop()
        number = next(self._numbers)
        self._note("#{} {}{}", number, name, arguments)
        answer: asyncio.Future[list[Any]] = loop.create_future()
        serving = self._serve(number, calls, fate, answer)
        self._in_flight[number] = loop.create_task(serving, name="server", context=Context())
        return await answer

    async def _serve(self, number: int, calls: Sequence[Call], fate: _Fate, answer: asyncio.Future[list[Any]]) -> None:
        """The server's side: it goes on whether or not the client still waits for the answer."""
        try:
            outcome = await self._attempt(calls[: fate.calls])
            answered = "" if fate.error is None else f", answered {type(fate.error).__name__}"
            self._note("#{} {}{}", number, _told(outcome, len(calls)), answered)
            await self._dawdle()
            _reply(answer, fate.error or outcome)
            if fate.late is not None and not isinstance(outcome, Exception):
                await asyncio.sleep(fate.late)
                afterwards = await self._attempt(calls[fate.calls :])
                self._note("#{} {}, late", number, _told(afterwards, len(calls) - fate.calls))
                if isinstance(afterwards, Exception) and not isinstance(afterwards, StoreError):
                    raise afterwards  # nobody waits for it any more, yet a defect must not go unheard
        finally:
            answer.cancel()
            del self._in_flight[number]

    async def _attempt(self, calls: Sequence[Call]) -> list[Any] | Exception:
        """Make *calls* in order, and stop at the first that fails: its error is the outcome."""
        answers = []
        for call in calls:
            await self._dawdle()
            try:
                answers.append(await call())
            except Exception as error:  # noqa: BLE001  (whatever it is, it belongs to the client)
                return error
        return answers

    async def _dawdle(self) -> None:
        for delay in self._delays:
            if self._strikes(delay):
                await asyncio.sleep(self._random.random() * delay.longest)

    def _fate(self, calls: int, *, writes: bool) -> _Fate:
        for toxic in self._failures:
            if not self._strikes(toxic):
                continue
            match toxic:
                case FailBefore():
                    return _Fate(0, StoreUnavailable("the request did not arrive (FailBefore): try again"))
                case Throttle():
                    return _Fate(0, SlowDown("too many requests (Throttle): try again later"))
                case FailAfter() if writes:
                    return _Fate(
                        1 + self._below(calls), UnknownOutcome("the answer was lost (FailAfter): read to know")
                    )
                case FailAfter():
                    return _Fate(calls, StoreUnavailable("the answer was lost (FailAfter): try again"))
                case ApplyLate() if writes:
                    error = UnknownOutcome("no answer in time (ApplyLate): read to know, and again to be sure")
                    return _Fate(self._below(calls), error, late=self._random.random() * toxic.longest)
        return _Fate(calls)

    def _strikes(self, toxic: Toxic) -> bool:
        return self._random.random() < toxic.probability

    def _below(self, limit: int) -> int:
        return int(self._random.random() * limit)


async def _next_page(pages: AsyncIterator[Page]) -> Page:
    """The next page, or an empty one at the end."""
    async for entries in pages:
        return entries
    return ()


def _reply(answer: asyncio.Future[list[Any]], outcome: list[Any] | Exception) -> None:
    if answer.done():  # the client gave up waiting
        return
    if isinstance(outcome, Exception):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)


def _told(outcome: list[Any] | Exception, calls: int) -> str:
    if isinstance(outcome, Exception):
        return type(outcome).__name__
    return "done" if len(outcome) == calls else f"{len(outcome)} of {calls} done"


def _silent(text: str, *arguments: object) -> None:
    """Nobody is listening."""
