"""What the core tells about itself: counts and times behind two methods, for a server to publish and a test to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Protocol


class Metrics(Protocol):
    """Where counts and times go. Names and labels are those that operators of such systems know."""

    def count(self, name: str, **labels: str) -> None:
        """One more of *name* with these labels."""

    def timer(self, name: str, **labels: str) -> Callable[[float], None]:
        """What is to be called with the seconds that each *name* with these labels took."""


class Silent:
    """Counts and times go nowhere."""

    def count(self, name: str, **labels: str) -> None:  # noqa: ARG002  (that is what silence is)
        return None

    def timer(self, name: str, **labels: str) -> Callable[[float], None]:  # noqa: ARG002  (see above)
        return lambda _: None


class Counts:
    """Counts kept in memory: `counts["graveler_branch_reads_total", (("branch", "main"), …)]`. Of times, how many."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()

    def count(self, name: str, **labels: str) -> None:
        self.counts[name, tuple(sorted(labels.items()))] += 1

    def timer(self, name: str, **labels: str) -> Callable[[float], None]:
        return lambda _: self.count(name, **labels)

    def total(self, name: str, **labels: str) -> int:
        """How often *name* was counted with these labels, whatever the others."""
        wanted = set(labels.items())
        return sum(count for (counted, found), count in self.counts.items() if counted == name and wanted <= set(found))
