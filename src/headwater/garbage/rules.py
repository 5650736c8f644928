"""For how many days what a branch once held is kept. One value in the store, which the REST API knows, too."""

from __future__ import annotations

import msgspec

from headwater.engine.errors import BadRequest
from headwater.engine.repository import Repository
from headwater.garbage.limits import DAY, MAX_BRANCH, MAX_DAYS, MAX_RULES

PARTITION = b"settings"


class RetentionRule(msgspec.Struct, frozen=True):
    """For how many days what *branch_id* once held is kept."""

    branch_id: str
    retention_days: int


class RetentionRules(msgspec.Struct, frozen=True):
    """For how many days what a branch once held is kept, unless a rule says otherwise."""

    default_retention_days: int
    branches: tuple[RetentionRule, ...] = ()


def check_rules(rules: RetentionRules) -> None:
    """Raise `BadRequest` for rules that cannot be meant so."""
    for days in (rules.default_retention_days, *(rule.retention_days for rule in rules.branches)):
        if not 1 <= days <= MAX_DAYS:
            raise BadRequest(f"retention_days={days}: what is held is kept for 1 to {MAX_DAYS} days")
    if len(rules.branches) > MAX_RULES:
        raise BadRequest(f"{len(rules.branches)} branches have rules of their own; {MAX_RULES} at most")
    if any(len(rule.branch_id.encode()) > MAX_BRANCH for rule in rules.branches):
        raise BadRequest(f"branch_id: a branch has a name of up to {MAX_BRANCH} bytes")
    names = [rule.branch_id for rule in rules.branches]
    if len(set(names)) < len(names):
        raise BadRequest("a branch has two rules: give each one")


async def read_rules(repository: Repository) -> RetentionRules | None:
    """The rules of *repository*; None: every commit is retained."""
    found = await repository.store.get(PARTITION, _key(repository))
    return None if found is None else msgspec.msgpack.decode(found.value, type=RetentionRules)


async def write_rules(repository: Repository, rules: RetentionRules | None) -> None:
    """Replace the rules; None: retain every commit."""
    repository.check_writable()
    if rules is None:
        await repository.store.delete(PARTITION, _key(repository))
        return
    check_rules(rules)
    await repository.store.set(PARTITION, _key(repository), msgspec.msgpack.encode(rules))


class Cutoffs:
    """The moments, in milliseconds since 1970, up to which a commit may have left a branch and is retained no more."""

    def __init__(self, rules: RetentionRules | None, now: int) -> None:
        self._now = now
        self._rules = rules
        self._days = {} if rules is None else {rule.branch_id: rule.retention_days for rule in rules.branches}
        self.oldest = min([self.default, *map(self.of, self._days)])

    @property
    def everything(self) -> bool:
        """Whether all commits are retained."""
        return self._rules is None

    @property
    def default(self) -> int:
        return 0 if self._rules is None else self._now - self._rules.default_retention_days * DAY

    def of(self, branch: str) -> int:
        """That of *branch*."""
        days = self._days.get(branch)
        return self.default if days is None else self._now - days * DAY


def _key(repository: Repository) -> bytes:
    return f"{repository.record.id}/retention".encode()
