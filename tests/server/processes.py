"""The processes of a server: its workers, and the one that looks after them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from dev.servers.headwater import Headwater


class Process(NamedTuple):
    """A process, and the one that started it."""

    id: int
    parent: int

    def seconds(self) -> float:
        """What it took of a processor so far."""
        fields = Path(f"/proc/{self.id}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def of_parent(self) -> Process:
        return _process(self.parent)

    def command(self) -> str:
        """How it was called; nothing, of one that ended."""
        with suppress(OSError):
            return Path(f"/proc/{self.id}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        return ""


def workers_of(server: Headwater) -> list[Process]:
    """The workers of *server*: what its main process spawned."""
    everything = _everything()
    [main] = [each for each in everything if str(server.data) in each.command() and "guard.py" not in each.command()]
    return [each for each in everything if each.parent == main.id and "spawn_main" in each.command()]


def _everything() -> list[Process]:
    found: list[Process] = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with suppress(OSError):  # it ended just now
                found.append(_process(int(path.name)))
    return found


def _process(identity: int) -> Process:
    fields = Path(f"/proc/{identity}/stat").read_text().rpartition(")")[2].split()
    return Process(identity, int(fields[1]))
