"""The telemetry of one worker: its numbers, which it shares with the others, and its traces."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import headwater
from headwater.server.limits import SHARE_EVERY
from headwater.server.telemetry.sharing import Gauge, Sharing, Snapshot
from headwater.server.telemetry.tally import Count, Tally
from headwater.server.telemetry.tracing import Tracer, tracer_to

if TYPE_CHECKING:  # or the process that only looks after workers would have the engine, too
    from headwater.index import SegmentCache


class Telemetry:
    """Numbers and traces. *directory* is where the workers of the server share numbers; *trace* is where traces go."""

    def __init__(self, directory: Path | None = None, trace: str = "") -> None:
        self.tally = Tally()
        self.tracer: Tracer | None = tracer_to(trace, headwater.__version__) if trace else None
        self.cache: SegmentCache | None = None
        self.in_progress: dict[str, int] = {}
        """Requests that are being worked on, by service."""

        self._sharing = Sharing(directory)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to share numbers."""
        self._task = asyncio.get_running_loop().create_task(self._share())

    async def aclose(self) -> None:
        """Share and send what there still is."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        self._sharing.write(self._snapshot())
        if self.tracer is not None:
            await asyncio.to_thread(self.tracer.close)

    def page(self) -> bytes:
        """The numbers of all workers, for Prometheus. Those of the others are a second old at most."""
        from headwater.server.telemetry.exposition import page_of  # noqa: PLC0415  (a server may never be asked)

        return page_of([self._snapshot(), *self._sharing.others()])

    async def _share(self) -> None:
        while True:
            self._sharing.write(self._snapshot())
            await asyncio.sleep(SHARE_EVERY)

    def _snapshot(self) -> Snapshot:
        process = os.getpid()
        gauges = [
            Gauge("headwater_workers", (), 1),
            Gauge("headwater_worker_resident_bytes", (("process", str(process)),), _resident()),
        ]
        gauges += [
            Gauge("lakefs_concurrent_requests", (("service", service),), count)
            for service, count in self.in_progress.items()
        ]
        counts = self.tally.counts()
        if self.cache is not None:
            counts.append(Count("headwater_segment_cache_hits_total", (), self.cache.hits))
            counts.append(Count("headwater_segment_cache_misses_total", (), self.cache.misses))
        return Snapshot(process, counts, self.tally.times(), gauges)


def _resident() -> float:
    """Bytes of memory of this process."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * float(os.sysconf("SC_PAGE_SIZE"))
    except OSError:
        return 0.0
