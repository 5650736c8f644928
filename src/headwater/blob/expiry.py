"""Rules by which a store deletes objects after a time, by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec


class ExpiryRule(msgspec.Struct, frozen=True):
    """Objects whose names in the bucket begin with *prefix*, and that have all of *tags*, are deleted after *days*."""

    id: str
    prefix: str
    tags: Mapping[str, str]
    days: int


class RuleSet(msgspec.Struct, frozen=True):
    """What became of setting a rule: how many *others* the bucket has, and whether it *replaced* one of the same id."""

    others: int
    replaced: bool


class Expiry(Protocol):
    """The rules of one bucket, of which others may have set some."""

    async def put_rule(self, rule: ExpiryRule) -> RuleSet:
        """Have *rule* among the rules of the bucket, in place of one with its id. All others stay as they are.

        Read, changed and written: who else changes the rules in that moment may be undone, which S3 has no way to tell.
        """
