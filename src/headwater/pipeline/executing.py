"""What executors do with objects: a batch of rows at a time, as many requests side by side as a store likes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar

import pyarrow as pa

from headwater import blob
from headwater.blob import BlobStore
from headwater.engine.addresses import is_foreign, split_address
from headwater.pipeline.limits import SIDE_BY_SIDE
from headwater.pipeline.place import Objects
from headwater.sdk.sync.running import Runner

Item = TypeVar("Item")
Result = TypeVar("Result")


class Stores:
    """The object stores that a task works with: a namespace, what else the job has named, and foreign places."""

    def __init__(self, named: Sequence[BlobStore], namespace: Objects) -> None:
        self.named = list(named)
        self._namespace = namespace
        self._foreign: dict[str, BlobStore] = {}

    async def located(self, address: str) -> tuple[BlobStore, str]:
        """The store that has the object at *address*, and its name there. Foreign ones are reached as the lake is."""
        if not is_foreign(address):
            return self.named[0], address
        place, name = split_address(address)
        if place not in self._foreign:
            same = place.partition(":")[0] == self._namespace.uri.partition(":")[0]
            options = self._namespace.uri.partition("?")[2] if same else ""
            credentials = self._namespace.credentials if same else {}
            self._foreign[place] = await blob.open(
                f"{place}?{options}" if options else place, credentials=credentials or None
            )
        return self._foreign[place], name

    async def aclose(self) -> None:
        for store in (*self.named, *self._foreign.values()):
            await store.aclose()


Work = Callable[[Stores, pa.RecordBatch], Awaitable[pa.RecordBatch]]


def on_executors(work: Work, *objects: Objects) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    """*work* as `mapInArrow` takes it. The first of *objects* is the namespace that addresses are names in."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        runner = Runner()
        stores = runner.run_on_loop(_opened(objects))
        try:
            for batch in batches:
                if len(batch):
                    yield runner.run_on_loop(_made(work, stores, batch))
        finally:
            runner.run_on_loop(stores.aclose())
            runner.close()

    return run


async def _opened(objects: Sequence[Objects]) -> Stores:
    return Stores([await each.open() for each in objects], objects[0])


async def _made(work: Work, stores: Stores, batch: pa.RecordBatch) -> pa.RecordBatch:
    return await work(stores, batch)


async def side_by_side(items: Iterable[Item], call: Callable[[Item], Awaitable[Result]]) -> list[Result]:
    """What *call* answers for each of *items*, in order; so many at a time."""
    room = asyncio.Semaphore(SIDE_BY_SIDE)

    async def one(item: Item) -> Result:
        async with room:
            return await call(item)

    return list(await asyncio.gather(*(one(item) for item in items)))


def columns(batch: pa.RecordBatch, *names: str) -> Iterable[tuple[Any, ...]]:
    """The rows of some columns: for what costs a request each."""
    return zip(*(batch.column(name).to_pylist() for name in names), strict=True)
