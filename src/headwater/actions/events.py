"""Events: the moments that hooks can be tied to, by the names that action files have for them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from headwater.actions.occasion import Occasion, Verb

VERBS: tuple[Verb, ...] = (
    "commit",
    "merge",
    "revert",
    "cherry-pick",
    "create-branch",
    "delete-branch",
    "create-tag",
    "delete-tag",
)

PREPARE = "prepare-commit"
"""Before a commit is made of what is staged: what these hooks stage is in it."""

EVENTS = frozenset({PREPARE} | {f"{when}-{verb}" for when in ("pre", "post") for verb in VERBS})

MAKES_COMMIT: frozenset[Verb] = frozenset({"commit", "merge", "revert", "cherry-pick"})
"""What makes a commit, which is looked at before it lands."""

OF_TAGS: frozenset[Verb] = frozenset({"create-tag", "delete-tag"})


def is_of_tags(event: str) -> bool:
    return event.endswith("-tag")


class Event(msgspec.Struct, frozen=True):
    """One moment: what happens to what, and the commit that it is about."""

    name: str
    time: int
    repository: str
    by: str
    occasion: Occasion
    source: str
    """What hooks may read to see what it is about: a branch, or a commit."""

    commit: str

    def told(self, action: str, hook: str) -> dict[str, Any]:
        """What a hook is told, in the words of lakeFS."""
        occasion = self.occasion
        moment = datetime.fromtimestamp(self.time / 1000, UTC)
        fields: dict[str, Any] = {
            "event_type": self.name,
            "event_time": moment.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "action_name": action,
            "hook_id": hook,
            "repository_id": self.repository,
            "source_ref": self.source,
            "committer": self.by,
        }
        if occasion.verb in OF_TAGS:
            fields["tag_id"] = occasion.tag
        else:
            fields["branch_id"] = occasion.branch
        if occasion.verb in MAKES_COMMIT:
            fields["commit_message"] = occasion.message
            fields["commit_metadata"] = dict(occasion.metadata)
        if occasion.verb == "merge":
            fields["merge_source"] = occasion.source
        if self.commit:
            fields["commit_id"] = self.commit
        return fields
