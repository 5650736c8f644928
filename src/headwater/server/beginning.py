"""How the workers of one server began: whether one ever answered, and if none did, why.

It decides what the death of a worker means. Before any has answered, something is wrong with the settings or the
machine, and trying again would only say so again: the server ends, with that reason. Afterwards it is an accident, of
the worker or of a store: it is replaced, however often, for those that live should not end with it.
"""

from __future__ import annotations

import time
from pathlib import Path

from headwater.errors import HeadwaterError

_ANSWERED = "answered"
_FAILED = "failed"


class CannotStart(HeadwaterError):
    """No worker of the server could begin to answer. The message says why."""


class Beginning:
    """What workers and the process that looks after them tell each other, in a *directory* of theirs."""

    def __init__(self, directory: Path) -> None:
        self._answered = directory / _ANSWERED
        self._failed = directory / _FAILED

    def answers(self) -> None:
        """A worker has begun to answer."""
        self._answered.touch()

    def fails(self, reason: str) -> None:
        """A worker cannot begin to answer."""
        self._failed.write_text(reason)

    @property
    def was_seen(self) -> bool:
        """Whether a worker ever answered."""
        return self._answered.exists()

    def failure(self) -> CannotStart | None:
        """Why no worker ever answered, if one said so."""
        return None if self.was_seen or not self._failed.exists() else CannotStart(self._failed.read_text())


class Replaced(dict[int, float]):
    """When each worker was replaced, as Granian asks when one dies again: if that was just now, it gives up."""

    def __init__(self, beginning: Beginning) -> None:
        super().__init__()
        self._beginning = beginning

    def get(self, worker: int, default: float = 0) -> float:  # type: ignore[override]  # noqa: ARG002
        """Long ago, so that it goes on; but just now, as long as no worker ever answered."""
        return 0.0 if self._beginning.was_seen else time.monotonic()
