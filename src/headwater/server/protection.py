"""What is set of a repository beside what it holds: which branches are protected, and how long what is kept.

A protected branch takes no writes and no commits but by merging. The rules are patterns of names, in which `*` is any
text and `?` any character.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Generic, TypeVar

import msgspec

from headwater.engine.errors import BadRequest, PreconditionFailed
from headwater.engine.repository import Repository
from headwater.errors import HeadwaterError
from headwater.garbage.rules import RetentionRules, check_rules
from headwater.kv import ABSENT, PredicateFailed, Store, UnknownOutcome
from headwater.outside import Outside
from headwater.server.limits import REMEMBERED
from headwater.staging.tries import tries

PARTITION = b"settings"
MAX_RULES = 1000
"""Branch rules of a repository: each write looks at all of them."""

MAX_PATTERN = 300
"""Bytes of a pattern: names of branches are no longer, and a thousand such rules fit into one value."""

Rules = TypeVar("Rules", bound=msgspec.Struct)


class ProtectedBranch(HeadwaterError):
    """The branch is protected: it changes by merging alone."""


class RuleNotFound(HeadwaterError):
    """There is no such rule."""


class BranchRule(msgspec.Struct, frozen=True):
    """The branches whose names match *pattern*."""

    pattern: str


class ProtectionRules(msgspec.Struct, frozen=True):
    """The protected branches."""

    rules: tuple[BranchRule, ...] = ()


class Setting(msgspec.Struct, Generic[Rules], frozen=True):
    """Rules as they are stored, and the tag that names this version of them."""

    rules: Rules | None
    etag: str


class RepositorySettings:
    """The rules of repositories. Each is one value in the store."""

    def __init__(self, store: Store, outside: Outside) -> None:
        self._store = store
        self._outside = outside
        self._elapsed = outside.elapsed
        self._remembered = 0.0 if store.immediate else REMEMBERED
        self._known: dict[str, tuple[ProtectionRules, float]] = {}

    async def protection(self, repository: Repository) -> Setting[ProtectionRules]:
        """Which branches are protected."""
        return await self._get(repository, "branch_protection", ProtectionRules)

    async def set_protection(self, repository: Repository, rules: ProtectionRules, if_match: str | None) -> None:
        """Replace the rules, if they are still those that *if_match* names."""
        if len(rules.rules) > MAX_RULES:
            raise BadRequest(f"{len(rules.rules)} rules; a repository has {MAX_RULES} at most")
        for rule in rules.rules:
            if not 1 <= len(rule.pattern.encode()) <= MAX_PATTERN:
                raise BadRequest(f"pattern {rule.pattern[:80]!r}: it has 1 to {MAX_PATTERN} bytes")
        await self._set(repository, "branch_protection", rules, if_match)
        self._known.pop(repository.record.id, None)

    async def change_protection(
        self, repository: Repository, change: Callable[[tuple[BranchRule, ...]], tuple[BranchRule, ...]]
    ) -> None:
        """Replace the rules with what *change* makes of them; it is asked again if somebody else was quicker."""
        async for _ in tries(self._outside, f"changing the protected branches of {repository.name!r}"):
            found = await self.protection(repository)
            rules = change((found.rules or ProtectionRules()).rules)
            try:
                await self.set_protection(repository, ProtectionRules(rules), found.etag)
            except (PreconditionFailed, UnknownOutcome):
                continue
            return

    async def retention(self, repository: Repository) -> Setting[RetentionRules]:
        """How long what is kept; no rules: for ever."""
        return await self._get(repository, "retention", RetentionRules)

    async def set_retention(self, repository: Repository, rules: RetentionRules | None) -> None:
        """Replace the rules, or keep everything."""
        if rules is not None:
            check_rules(rules)
        await self._set(repository, "retention", rules, None)

    async def check_stageable(self, repository: Repository, branch: str) -> None:
        """Raise `ProtectedBranch` if nothing may be written to *branch*."""
        await self._check(repository, branch, "written to")

    async def check_committable(self, repository: Repository, branch: str) -> None:
        """Raise `ProtectedBranch` if nothing may be committed to *branch* directly."""
        await self._check(repository, branch, "committed to")

    async def forget(self, repository: Repository) -> None:
        """Delete all that is set of a repository that is gone."""
        for what in ("branch_protection", "retention"):
            await self._store.delete(PARTITION, _key(repository, what))

    async def _check(self, repository: Repository, branch: str, what: str) -> None:
        known = self._known.get(repository.record.id)
        if known is None or self._elapsed() - known[1] >= self._remembered:
            at = self._elapsed()
            rules = (await self.protection(repository)).rules or ProtectionRules()
            known = self._known[repository.record.id] = rules, at
        pattern = protecting(known[0].rules, branch)
        if pattern is not None:
            raise ProtectedBranch(
                f"branch {branch!r} is protected by the rule {pattern!r}: it cannot be {what}, only merged into"
            )

    async def _get(self, repository: Repository, what: str, kind: type[Rules]) -> Setting[Rules]:
        found = await self._store.get(PARTITION, _key(repository, what))
        if found is None:
            return Setting(None, "")
        return Setting(msgspec.msgpack.decode(found.value, type=kind), _etag(found.value))

    async def _set(self, repository: Repository, what: str, rules: Rules | None, if_match: str | None) -> None:
        repository.check_writable()
        key = _key(repository, what)
        if rules is None:
            await self._store.delete(PARTITION, key)
            return
        value = msgspec.msgpack.encode(rules)
        if if_match is None:
            await self._store.set(PARTITION, key, value)
            return
        found = await self._store.get(PARTITION, key)
        if if_match != ("" if found is None else _etag(found.value)):
            raise PreconditionFailed("the rules are not those that if-match names: read them again")
        try:
            await self._store.set_if(PARTITION, key, value, ABSENT if found is None else found.predicate)
        except PredicateFailed:
            raise PreconditionFailed("the rules were changed meanwhile: read them again") from None


def protecting(rules: Sequence[BranchRule], branch: str) -> str | None:
    """The pattern of the first of *rules* that protects *branch*."""
    return next((rule.pattern for rule in rules if fnmatchcase(branch, rule.pattern.replace("[", "[[]"))), None)


def _key(repository: Repository, what: str) -> bytes:
    return f"{repository.record.id}/{what}".encode()


def _etag(value: bytes) -> str:
    return hashlib.md5(value, usedforsecurity=False).hexdigest()
