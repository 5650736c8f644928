"""What users may do, compiled, as it was at most `BELIEVED` seconds ago."""

from __future__ import annotations

import msgspec

from headwater.auth.directory.attachments import Attachments
from headwater.auth.directory.realm import Realm
from headwater.auth.directory.records import User
from headwater.auth.directory.users import Users
from headwater.auth.errors import NotAuthenticated
from headwater.auth.limits import BELIEVED, KNOWN
from headwater.auth.login.identity import Identity
from headwater.auth.login.remembered import Remembered
from headwater.auth.policy.access import Access
from headwater.refs.shared_reads import SharedReads


class _Held(msgspec.Struct, frozen=True):
    access: Access
    user: User
    policies: tuple[tuple[str, bytes, object], ...]
    generation: int
    until: float


class Accesses:
    """The access of every user who asks for anything."""

    def __init__(self, realm: Realm, users: Users, attachments: Attachments) -> None:
        self._realm = realm
        self._users = users
        self._attachments = attachments
        self._held: Remembered[str, _Held] = Remembered(KNOWN)
        self._reads: SharedReads[str, _Held | None] = SharedReads(self._read)

    def known(self, identity: Identity) -> Access | None:
        """What it may do, if that need not be read again. No trip."""
        held = self._held.get(identity.user)
        if (
            held is None
            or held.generation != self._realm.generation
            or held.user.incarnation != identity.incarnation
            or self._realm.outside.elapsed() > held.until
        ):
            return None
        return held.access

    async def of(self, identity: Identity) -> Access:
        """What it may do; `NotAuthenticated` if the user is gone. 5 trips now and then, 2 more for each group."""
        access = self.known(identity)
        if access is not None:
            return access
        held = await self._reads.get(identity.user)
        if held is None or held.user.incarnation != identity.incarnation:
            raise NotAuthenticated
        return held.access

    async def _read(self, user_id: str) -> _Held | None:
        generation, at = self._realm.generation, self._realm.outside.elapsed()
        user = await self._users.find(user_id)
        if user is None:
            self._held.drop(user_id)
            return None
        policies = await self._attachments.applying_to(user)
        said = tuple((policy.id, policy.incarnation, policy.statements) for policy in policies)
        held = self._held.get(user_id)
        if held is not None and held.policies == said:
            access = held.access
        else:
            access = Access(user_id, [statement for policy in policies for statement in policy.statements])
        fresh = _Held(access, user, said, generation, at + BELIEVED)
        self._held.put(user_id, fresh)
        return fresh
