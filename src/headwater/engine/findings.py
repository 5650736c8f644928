"""What a check of a repository finds: plain data, precise enough to act on."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from headwater.history import Commit


class Finding(msgspec.Struct, frozen=True):
    """One thing that is not as it must be."""

    what: str
    """Its kind: "branch", "tag", "commit", "delta", "clock", "tree", "segment", "staged" or "reference log"."""

    name: str
    """Which one: the name of a reference, the id of a commit, tree or segment, or a place in the clock index."""

    problem: str


class Report(msgspec.Struct, frozen=True):
    """What was looked at, and all that is wrong with it. Every reachable thing was looked at just once."""

    findings: tuple[Finding, ...]
    branches: int
    tags: int
    commits: int
    trees: int
    segments: int

    @property
    def sound(self) -> bool:
        """Nothing is wrong."""
        return not self.findings


class Findings:
    """Findings as they are made."""

    def __init__(self) -> None:
        self.made: list[Finding] = []

    def add(self, what: str, name: str, problem: object) -> None:
        self.made.append(Finding(what, name, str(problem)))


def parents_of(commits: Iterable[Commit]) -> list[str]:
    """The ids of all parents of *commits*, each once."""
    return list(dict.fromkeys(parent for commit in commits for parent in commit.parents))
