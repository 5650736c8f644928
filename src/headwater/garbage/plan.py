"""What a plan says, and what a sweep did: values, for who has neither the plan nor Polars at hand."""

from __future__ import annotations

import msgspec

from headwater.garbage.rules import RetentionRules

PLANS = "meta/gc/"


class Plan(msgspec.Struct, frozen=True):
    """What is to be deleted from a repository, and how it was found. Its rows are in files beside it."""

    run: str
    repository: str
    repository_id: str
    marked: int
    """When marking was over, in milliseconds since 1970."""

    now: int
    """When the run began: what the days of the rules are counted from."""

    cutoff: int
    """What was written or copied since then is kept."""

    rules: RetentionRules | None
    candidates: int
    commits: int
    segments: int
    objects: int
    """How many objects are to be deleted, and their bytes."""

    bytes: int

    @property
    def objects_prefix(self) -> str:
        return f"{PLANS}{self.run}/objects/"

    @property
    def commits_prefix(self) -> str:
        return f"{PLANS}{self.run}/commits/"


class Swept(msgspec.Struct, frozen=True):
    """What a sweep deleted, or would have; and what it spared because something referred to it again."""

    run: str
    dry_run: bool
    deleted: int = 0
    bytes: int = 0
    spared: int = 0
    parts: int = 0
    """Files of the plan that were gone through by this sweep; those that an earlier one had done are not counted."""
