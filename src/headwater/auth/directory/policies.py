"""Policies: named lists of statements, which do nothing until they are attached."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from headwater.auth.directory.entities import Entities
from headwater.auth.directory.links import Links
from headwater.auth.directory.realm import Realm
from headwater.auth.directory.records import Policy, encode
from headwater.auth.errors import InvalidPolicy
from headwater.auth.limits import MAX_POLICY
from headwater.auth.policy.statement import Statement, check


class Policies(Entities[Policy]):
    """All policies."""

    def __init__(self, realm: Realm, links: Links) -> None:
        super().__init__(realm, links, "policy", Policy)

    async def create(self, id: str, statements: Sequence[Statement]) -> Policy:  # noqa: A002
        """Keep a new policy. Raises `InvalidPolicy` if a statement could not be followed to the letter."""
        check(statements)
        policy = Policy(id, self.new_incarnation(), self._realm.outside.now(), tuple(statements))
        _check_size(policy)
        return await self.add(policy)

    async def update(self, id: str, statements: Sequence[Statement]) -> Policy:  # noqa: A002
        """Let the policy say this instead, wherever it is attached."""
        check(statements)
        policy = msgspec.structs.replace(await self.get(id), statements=tuple(statements))
        _check_size(policy)
        return await self.replace(policy)


def _check_size(policy: Policy) -> None:
    size = len(encode(policy))
    if size > MAX_POLICY:
        raise InvalidPolicy(f"policy {policy.id[:80]!r} has {size} bytes, {MAX_POLICY} at most: make two of it")
