"""From what a caller says to what the ports take: defaults, and a condition."""

from __future__ import annotations

from collections.abc import Mapping

from headwater.engine.conditional import Condition, IfAbsent, IfMatch
from headwater.engine.errors import BadRequest
from headwater.sdk.ports import Behaviour, Strategy

__all__ = ["NO_METADATA", "NO_PREFIXES", "Behaviour", "Strategy", "condition_of"]

NO_METADATA: Mapping[str, str] = {}
NO_PREFIXES: Mapping[str, Behaviour] = {}


def condition_of(*, if_absent: bool, if_match: str | None) -> Condition | None:
    if if_absent and if_match is not None:
        raise BadRequest("if_absent and if_match contradict each other: give one of them")
    if if_absent:
        return IfAbsent()
    return None if if_match is None else IfMatch(if_match)
