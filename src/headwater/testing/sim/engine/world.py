"""The world of one run: a key-value store in memory that notes how branches move, and engines that reach it badly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from headwater import blob
from headwater.blob import BlobStore
from headwater.engine.lake import Lake
from headwater.engine.repository import Mode, Repository
from headwater.engine.write import stage
from headwater.index import Entry
from headwater.kv import Predicate, Store, StoreUnavailable
from headwater.kv.drivers.memory import MemoryStore
from headwater.outside import Outside
from headwater.refs import branches
from headwater.refs.branch import decode
from headwater.testing.faulty import FaultyStore
from headwater.testing.sim.engine.objects import SlowBlobs
from headwater.testing.sim.engine.record import Record
from headwater.testing.sim.simulation import Simulation
from headwater.testing.toxics import Toxic

REPOSITORY = "lake"
EPOCH = 1_700_000_000_000
"""Milliseconds since 1970 at which every run begins."""

FIRST = "first"
"""The path that something is staged at when a run begins."""

STAGE = b"stage/"

SKEW = 10.0
"""Seconds by which the clocks of two engines differ at most."""


class WatchedStore(MemoryStore):
    """Tells a record of each branch record that is written, in the order in which they are."""

    def __init__(self, record: Record, time: Callable[[], float]) -> None:
        super().__init__()
        self._record = record
        self._time = time
        self.tokens: dict[str, float] = {}
        """Every token under which anything was ever staged, and when that was last."""

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        written = await super().set_if(partition, key, value, predicate)
        self._note_stage(partition)
        if key.startswith(branches.PREFIX):
            name = key.removeprefix(branches.PREFIX).decode()
            self._record.moved(self._time(), name, decode(name, value))
        return written

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        await super().set(partition, key, value)
        self._note_stage(partition)

    def _note_stage(self, partition: bytes) -> None:
        if partition.startswith(STAGE):
            self.tokens[partition.removeprefix(STAGE).decode()] = self._time()


class World:
    """One repository, and as many engines on it as there are clients: they share the stores and nothing else."""

    def __init__(self, simulation: Simulation, toxics: Sequence[Toxic], *, slow_objects: float = 0.0) -> None:
        self.simulation = simulation
        self.random = simulation.random
        self.record = Record()
        self.memory = WatchedStore(self.record, lambda: simulation.time)
        self._faulty = FaultyStore(self.memory, simulation.random, toxics, note=simulation.note)
        self._slow_objects = slow_objects
        self._blobs: BlobStore | None = None

    async def begin(self, mode: Mode = "object") -> None:
        """A repository with a branch, and something staged."""
        repository = await self._lake(self.memory).create(REPOSITORY, "mem://lake", mode=mode)
        await stage(repository, "main", Entry(f"f/{FIRST}", checksum=FIRST))

    async def engine(self) -> Repository:
        """The repository, as a client of its own reaches it."""
        lake = self._lake(self._faulty)
        while True:
            try:
                return await lake.open(REPOSITORY)
            except StoreUnavailable:
                await asyncio.sleep(0.1)

    async def undisturbed(self) -> Repository:
        """The repository over a store that never fails."""
        return await self._lake(self.memory).open(REPOSITORY)

    def _lake(self, store: Store) -> Lake:
        return Lake(store, self._open_blobs, self._outside())

    async def _open_blobs(self, _: str) -> BlobStore:
        if self._blobs is None:  # one without a name: a run that failed may still hold its own
            self._blobs = SlowBlobs(await blob.open("mem://"), self.random, self._slow_objects)
        return self._blobs

    def _outside(self) -> Outside:
        skew = self.random.uniform(0, SKEW)
        return Outside(
            now=lambda: EPOCH + int((self.simulation.time + skew) * 1000),
            elapsed=lambda: self.simulation.time,
            random=self.random.randbytes,
            sleep=asyncio.sleep,
        )
