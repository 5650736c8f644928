"""What one user may do: all policies that apply to it, compiled once and asked on every request.

What is not allowed is forbidden, and what is denied stays denied whatever allows it. A statement with a condition
counts if the condition holds. If it cannot be told, because nobody knows where the request comes from, an allowing one
does not count and a denying one does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from headwater.auth.errors import Forbidden
from headwater.auth.permissions import ACTIONS, AllOf, AnyOf, Permission, Requirement
from headwater.auth.policy.conditions import Conditions
from headwater.auth.policy.patterns import Patterns, Piece, pieces
from headwater.auth.policy.statement import Statement


class Decision(msgspec.Struct, frozen=True):
    """Whether a requirement is met; if not, for lack of which permission, and whether a statement denies it."""

    allowed: bool
    lacking: Permission | None = None
    denied: bool = False


ALLOWED: Final = Decision(allowed=True)
NEVER: Final = Decision(allowed=False)


class _Compiled(msgspec.Struct, frozen=True):
    actions: Patterns
    resources: tuple[list[Piece], ...]
    allows: bool
    conditions: Conditions | None


class _Conditional(msgspec.Struct, frozen=True):
    resources: Patterns
    conditions: Conditions


class _Rules:
    """What the statements say of one action."""

    __slots__ = ("_allow", "_allow_if", "_deny", "_deny_if")

    def __init__(self, statements: Sequence[_Compiled]) -> None:
        self._allow, self._allow_if = _sorted(each for each in statements if each.allows)
        self._deny, self._deny_if = _sorted(each for each in statements if not each.allows)

    def deny(self, resource: str, source: str | None) -> bool:
        if self._deny.match(resource):
            return True
        return bool(self._deny_if) and any(
            each.conditions.hold(source) is not False and each.resources.match(resource) for each in self._deny_if
        )

    def allow(self, resource: str, source: str | None) -> bool:
        if self._allow.match(resource):
            return True
        return bool(self._allow_if) and any(
            each.conditions.hold(source) is True and each.resources.match(resource) for each in self._allow_if
        )


def _sorted(statements: Iterable[_Compiled]) -> tuple[Patterns, list[_Conditional]]:
    """The resources of those that always count, and those that count on a condition."""
    always: list[list[Piece]] = []
    conditional: list[_Conditional] = []
    for each in statements:
        if each.conditions is None:
            always += each.resources
        else:
            conditional.append(_Conditional(Patterns(each.resources), each.conditions))
    return Patterns(always), conditional


class Access:
    """What the user with this id may do, as *statements* say. Immutable to its callers; a look takes a microsecond."""

    __slots__ = ("_rules", "_statements", "user")

    def __init__(self, user: str, statements: Iterable[Statement]) -> None:
        self.user = user
        self._statements = [_compile(user, statement) for statement in statements]
        self._rules: dict[str, _Rules] = {}

    def allows(self, action: str, resource: str, source: str | None = None) -> bool:
        """Whether it may do *action* to *resource* in a request from the address *source*."""
        rules = self._rules.get(action) or self._rules_of(action)
        return not rules.deny(resource, source) and rules.allow(resource, source)

    def check(self, requirement: Requirement, source: str | None = None) -> Decision:
        """Whether *requirement* is met by a request from the address *source*, and if not, why."""
        match requirement:
            case Permission(action, resource):
                if self.allows(action, resource, source):
                    return ALLOWED
                denied = self._rules_of(action).deny(resource, source)
                return Decision(allowed=False, lacking=requirement, denied=denied)
            case AllOf(parts):
                return next((met for part in parts if not (met := self.check(part, source)).allowed), ALLOWED)
            case AnyOf(parts):
                decisions = [self.check(part, source) for part in parts]
                return next((met for met in decisions if met.allowed), decisions[0] if decisions else NEVER)

    def require(self, requirement: Requirement, source: str | None = None) -> None:
        """Raise `Forbidden` unless *requirement* is met by a request from the address *source*."""
        decision = self.check(requirement, source)
        if not decision.allowed:
            raise Forbidden(refusal(self.user, decision))

    def _rules_of(self, action: str) -> _Rules:
        rules = self._rules.get(action)
        if rules is None:
            assert action in ACTIONS, action  # noqa: S101  (a route that needs what no policy can name is a defect)
            rules = _Rules([each for each in self._statements if each.actions.match(action)])
            self._rules[action] = rules
        return rules


def refusal(user: str, decision: Decision) -> str:
    """Why, for the one who is refused."""
    if decision.lacking is None:
        return f"user {user!r} may not do this"
    action, resource = decision.lacking.action, decision.lacking.resource
    if decision.denied:
        return f"user {user!r} is denied {action} on {resource} by a policy"
    return f"user {user!r} has no policy that allows {action} on {resource}: ask an administrator for one"


def _compile(user: str, statement: Statement) -> _Compiled:
    return _Compiled(
        actions=Patterns(pieces(action) for action in statement.action),
        resources=tuple(pieces(resource, user) for resource in statement.resources()),
        allows=statement.effect == "allow",
        conditions=Conditions(statement.condition) if statement.condition else None,
    )
