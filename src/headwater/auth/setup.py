"""The first administrator, and getting back in.

Who sets up is decided by one swap: the record of the setup holds all that is to be made of it, the sealed secret
included, so whoever comes upon one that a crash has left half done finishes it, and it comes out the same.
"""

from __future__ import annotations

from collections.abc import Collection, Coroutine
from contextlib import suppress

import msgspec

from headwater.auth.directory.attachments import Attachments
from headwater.auth.directory.credentials import Credentials, check, new_access_key_id, new_secret
from headwater.auth.directory.groups import Groups
from headwater.auth.directory.memberships import Memberships
from headwater.auth.directory.policies import Policies
from headwater.auth.directory.realm import PARTITION, Realm
from headwater.auth.directory.records import Credential, CredentialWithSecret, User, check_id, check_text, decode
from headwater.auth.directory.users import Users
from headwater.auth.errors import AlreadyExists, AlreadySetUp
from headwater.auth.premade import ADMINS, GROUPS, POLICIES
from headwater.kv import ABSENT, PredicateFailed

KEY = b"setup"


class _Record(msgspec.Struct, frozen=True, array_like=True):
    user: User
    credential: Credential
    done: bool


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Record)


class Setup:
    """Brings an installation from nothing to one administrator, once."""

    def __init__(
        self,
        realm: Realm,
        *,
        users: Users,
        groups: Groups,
        policies: Policies,
        memberships: Memberships,
        attachments: Attachments,
        credentials: Credentials,
    ) -> None:
        self._realm = realm
        self._users = users
        self._groups = groups
        self._policies = policies
        self._memberships = memberships
        self._attachments = attachments
        self._credentials = credentials

    async def is_done(self) -> bool:
        """Whether there is, or was, a first administrator. One trip; finishes what a crash has left half done."""
        found = await self._realm.store.get(PARTITION, KEY)
        if found is None:
            return False
        record = decode(_decoder, "the setup", found.value)
        if not record.done:
            await self._finish(record)
        return True

    async def run(
        self,
        user: str,
        *,
        access_key_id: str | None = None,
        secret_access_key: str | None = None,
        friendly_name: str | None = None,
        email: str | None = None,
    ) -> CredentialWithSecret:
        """Make the pre-made policies and groups, the first administrator, and its credential, which is shown this once.

        Of several callers one succeeds; the others get `AlreadySetUp`.
        """
        check_id("user", user)
        check_text("the friendly name", friendly_name)
        check_text("the e-mail address", email)
        realm, now = self._realm, self._realm.outside.now()
        access_key_id = new_access_key_id(realm) if access_key_id is None else access_key_id
        secret = new_secret(realm) if secret_access_key is None else secret_access_key
        check(access_key_id, secret)
        administrator = User(user, self._users.new_incarnation(), now, friendly_name, email)
        sealed = realm.sealer.seal(secret, access_key_id, user)
        credential = Credential(access_key_id, user, administrator.incarnation, now, sealed)
        record = _Record(administrator, credential, done=False)
        try:
            await realm.store.set_if(PARTITION, KEY, _encoder.encode(record), ABSENT)
        except PredicateFailed as error:
            raise AlreadySetUp("there is a first administrator already: log in as one to add more") from error
        await self._finish(record)
        return CredentialWithSecret(access_key_id, secret, user, now)

    async def add_administrator(self, user: str) -> CredentialWithSecret:
        """A fresh credential for *user*, who is made, or made an administrator, if it is not: the way back in.

        For whoever has the store and the server's secret in hand; no request leads here.
        """
        await self._make_premade([ADMINS])
        found = await self._users.find(user) or await self._users.create(user)
        await self._memberships.add(ADMINS, user)
        return await self._credentials.create(found)

    async def _finish(self, record: _Record) -> None:
        await self._make_premade(GROUPS)
        await _unless_there(self._users.add(record.user))
        await _unless_there(self._credentials.add(record.credential))
        await self._memberships.add(ADMINS, record.user.id)
        done = msgspec.structs.replace(record, done=True)
        await self._realm.store.set(PARTITION, KEY, _encoder.encode(done))

    async def _make_premade(self, names: Collection[str]) -> None:
        """Make what is missing of these groups and of their policies. A policy that is there stays as it is."""
        for group in names:
            for policy in GROUPS[group]:
                await _unless_there(self._policies.create(policy, POLICIES[policy]))
            await _unless_there(self._groups.create(group))
            for policy in GROUPS[group]:
                await self._attachments.attach_to_group(policy, group)


async def _unless_there(making: Coroutine[object, object, object]) -> None:
    """For what may have been made before a crash, or by whoever does the same at the same time."""
    with suppress(AlreadyExists):
        await making
