"""What the workers of one server know together: each writes its numbers to a file of its own, and any can add them up.

A worker that is killed loses what it counted in its last second; what it counted before stays in the sums, as a counter
must never fall. What is true only while a worker lives, such as its memory, is told of the living alone.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from headwater.server.telemetry.tally import Count, Labels, Times


class Gauge(msgspec.Struct, frozen=True, array_like=True):
    """How much there is of something now."""

    name: str
    labels: Labels
    value: float


class Snapshot(msgspec.Struct, frozen=True):
    """The numbers of one worker."""

    process: int
    counts: list[Count]
    times: list[Times]
    gauges: list[Gauge]


class Sharing:
    """The directory where the workers of one server write; or none, for one that is alone."""

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory

    def write(self, snapshot: Snapshot) -> None:
        """Replace what this worker said before. Readers see all of it or what was there before."""
        if self._directory is None:
            return
        file = self._directory / str(snapshot.process)
        try:
            half = file.with_suffix(".half")
            half.write_bytes(msgspec.msgpack.encode(snapshot))
            half.replace(file)
        except OSError:  # the disk is full, or the server has stopped: numbers are not worth a failure
            return

    def others(self) -> Sequence[Snapshot]:
        """What the other workers said last, those that are gone included, without their gauges."""
        found: list[Snapshot] = []
        for file in [] if self._directory is None else sorted(self._directory.iterdir()):
            if not file.name.isdigit() or int(file.name) == os.getpid():
                continue
            try:
                snapshot = msgspec.msgpack.decode(file.read_bytes(), type=Snapshot)
            except (OSError, msgspec.MsgspecError):  # it went away just now
                continue
            lives = Path(f"/proc/{snapshot.process}").exists()
            found.append(snapshot if lives else msgspec.structs.replace(snapshot, gauges=[]))
        return found
