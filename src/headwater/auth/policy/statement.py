"""A statement of a policy, as people write it and as the API shows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from headwater.auth.errors import InvalidPolicy
from headwater.auth.limits import MAX_ACTIONS, MAX_PATTERN, MAX_RESOURCES, MAX_STATEMENTS
from headwater.auth.policy import conditions

_ACTION = re.compile(r"\*|[a-z*?]+:[A-Za-z*?]+")
_RESOURCE = re.compile(r"\*|arn:[^:]*:[^:]*:[^:]*:[^:]*:.+", re.DOTALL)


class Statement(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whoever has the policy may (or, whatever else allows it, may not) do *action* to *resource*.

    *resource* is one pattern, or several as a JSON array in a string, which is how lakeFS writes it.
    """

    effect: Literal["allow", "deny"]
    action: tuple[str, ...]
    resource: str
    condition: dict[str, dict[str, tuple[str, ...]]] | None = None

    def resources(self) -> tuple[str, ...]:
        """The patterns of *resource*. Raises `InvalidPolicy` if it is a list that cannot be read."""
        if not self.resource.startswith("["):
            return (self.resource,)
        try:
            return _resources.decode(self.resource)
        except msgspec.MsgspecError as error:
            raise InvalidPolicy(f"resource {self.resource[:80]!r} is not a JSON array of texts: {error}") from error


_resources = msgspec.json.Decoder(tuple[str, ...])


def check(statements: Sequence[Statement]) -> None:
    """Raise `InvalidPolicy` unless a policy may consist of these."""
    if not 1 <= len(statements) <= MAX_STATEMENTS:
        raise InvalidPolicy(f"a policy with {len(statements)} statements: it has 1 to {MAX_STATEMENTS}")
    for statement in statements:
        _check(statement)


def _check(statement: Statement) -> None:
    if statement.effect not in ("allow", "deny"):
        raise InvalidPolicy(f"effect {statement.effect[:80]!r}: it is 'allow' or 'deny'")
    if not 1 <= len(statement.action) <= MAX_ACTIONS:
        raise InvalidPolicy(f"a statement with {len(statement.action)} actions: it has 1 to {MAX_ACTIONS}")
    for action in statement.action:
        if len(action) > MAX_PATTERN or _ACTION.fullmatch(action) is None:
            raise InvalidPolicy(f"action {action[:80]!r}: one reads like 'fs:ReadObject', 'fs:Read*' or '*'")
    resources = statement.resources()
    if not 1 <= len(resources) <= MAX_RESOURCES:
        raise InvalidPolicy(f"a statement with {len(resources)} resources: it has 1 to {MAX_RESOURCES}")
    for resource in resources:
        if _size(resource) > MAX_PATTERN or _RESOURCE.fullmatch(resource) is None:
            raise InvalidPolicy(
                f"resource {resource[:80]!r}: one reads like 'arn:lakefs:fs:::repository/sales/object/*' or '*', and "
                f"has {MAX_PATTERN} bytes at most"
            )
    if statement.condition is not None:
        conditions.check(statement.condition)


def _size(text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidPolicy(f"resource {text[:80]!r} cannot be stored as UTF-8: {error}") from error
