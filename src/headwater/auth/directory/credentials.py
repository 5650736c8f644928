"""Credentials: an access key id, which is no secret, and the secret to it, which is shown once.

A request names the access key id, so its record is one read away; `key/ann\\0<access key id>` finds those of a user.
The latter is written first and deleted last.
"""

from __future__ import annotations

import base64
import re

import msgspec

from headwater.auth.directory.listing import ALL, Page, Window, names, page
from headwater.auth.directory.realm import PARTITION, Realm
from headwater.auth.directory.records import Credential, CredentialWithSecret, User, decode, encode
from headwater.auth.errors import AlreadyExists, BadRequest, NotFound
from headwater.auth.limits import MAX_CREDENTIALS, MAX_SECRET, MIN_SECRET
from headwater.kv import ABSENT, Delete, PredicateFailed, Set, SetIf

_ACCESS_KEY_ID = re.compile(r"[A-Za-z0-9._=@-]{3,128}")
"""Whatever stands in a header before a `:`, and in a signature before a `/`, without being escaped."""

_SECRET = re.compile(rf"[!-~]{{{MIN_SECRET},{MAX_SECRET}}}")

_decoder = msgspec.msgpack.Decoder(Credential)


class Credentials:
    """All credentials."""

    def __init__(self, realm: Realm) -> None:
        self._realm = realm

    async def create(
        self, user: User, *, access_key_id: str | None = None, secret_access_key: str | None = None
    ) -> CredentialWithSecret:
        """A new credential of *user*, random unless both halves are given. Nobody can be shown the secret again."""
        access_key_id = new_access_key_id(self._realm) if access_key_id is None else access_key_id
        secret = new_secret(self._realm) if secret_access_key is None else secret_access_key
        check(access_key_id, secret)
        if len((await self.list(user)).items) >= MAX_CREDENTIALS:
            raise BadRequest(f"user {user.id!r} has {MAX_CREDENTIALS} credentials, as many as it may: delete one first")
        sealed = self._realm.sealer.seal(secret, access_key_id, user.id)
        credential = Credential(access_key_id, user.id, user.incarnation, self._realm.outside.now(), sealed)
        await self.add(credential)
        return CredentialWithSecret(access_key_id, secret, user.id, credential.created)

    async def add(self, credential: Credential) -> None:
        """Keep *credential*, if there is none of that access key id; else `AlreadyExists`. One pipeline."""
        index = Set(PARTITION, _index(credential.user) + credential.access_key_id.encode(), credential.user_incarnation)
        record = SetIf(PARTITION, _key(credential.access_key_id), encode(credential), ABSENT)
        with self._realm.change():
            try:
                await self._realm.store.pipeline([index, record])
            except PredicateFailed as error:
                raise AlreadyExists(f"there is a credential {credential.access_key_id!r} already") from error

    async def find(self, access_key_id: str) -> Credential | None:
        """The credential of that access key id, whoever has it, or None. One trip."""
        if _ACCESS_KEY_ID.fullmatch(access_key_id) is None:
            return None
        found = await self._realm.store.get(PARTITION, _key(access_key_id))
        return None if found is None else _decode(access_key_id, found.value)

    async def get(self, user: User, access_key_id: str) -> Credential:
        """The credential of *user* of that access key id; else `NotFound`."""
        found = await self.find(access_key_id)
        if found is None or not _belongs(found, user):
            raise NotFound(f"user {user.id!r} has no credential {access_key_id[:130]!r}")
        return found

    async def list(self, user: User, window: Window = ALL) -> Page[Credential]:
        """A page of the credentials of *user*, by access key id."""
        found: list[tuple[str, Credential]] = []
        async for entries in names(self._realm.store, _index(user.id), window):
            ids = [name for name, incarnation in entries if incarnation == user.incarnation]
            if not ids:
                continue
            records = await self._realm.store.get_many(PARTITION, [_key(id_) for id_ in ids])
            decoded = [_decode(id_, one.value) for id_, one in zip(ids, records, strict=True) if one is not None]
            found += [(one.access_key_id, one) for one in decoded if _belongs(one, user)]
            if len(found) > window.amount:
                break
        return page(found, window.amount)

    async def delete(self, user: User, access_key_id: str) -> None:
        """Delete a credential of *user*; else `NotFound`. Other processes believe in it for `BELIEVED` seconds more."""
        await self.get(user, access_key_id)
        with self._realm.change():
            index = Delete(PARTITION, _index(user.id) + access_key_id.encode())
            await self._realm.store.pipeline([Delete(PARTITION, _key(access_key_id)), index])

    async def delete_all(self, user: User) -> None:
        """Delete every credential of *user*, and what other users of that id have left of theirs."""
        with self._realm.change():
            async for entries in names(self._realm.store, _index(user.id), ALL):
                ids = [name for name, _ in entries]
                records = await self._realm.store.get_many(PARTITION, [_key(id_) for id_ in ids])
                decoded = [_decode(id_, one.value) for id_, one in zip(ids, records, strict=True) if one is not None]
                await self._realm.store.delete_many(
                    PARTITION, [_key(one.access_key_id) for one in decoded if one.user == user.id]
                )
                await self._realm.store.delete_many(PARTITION, [_index(user.id) + id_.encode() for id_ in ids])


def check(access_key_id: str, secret: str) -> None:
    """Raise unless these can be a credential that every client can send."""
    if _ACCESS_KEY_ID.fullmatch(access_key_id) is None:
        raise BadRequest(
            f"access key id {access_key_id[:130]!r}: it has 3 to 128 letters, digits, '.', '_', '=', '@' and '-'"
        )
    if _SECRET.fullmatch(secret) is None:
        raise BadRequest(
            f"the secret for access key {access_key_id!r}: it has {MIN_SECRET} to {MAX_SECRET} printable ASCII "
            "characters, no spaces"
        )


def new_access_key_id(realm: Realm) -> str:
    """20 characters, of the shape that tools which look for leaked ones know; 70 bits of it are random."""
    return f"AKIAJ{base64.b32encode(realm.outside.random(10)).decode()[:14]}Q"


def new_secret(realm: Realm) -> str:
    """40 characters, 240 bits."""
    return base64.b64encode(realm.outside.random(30)).decode()


def _belongs(credential: Credential, user: User) -> bool:
    return credential.user == user.id and credential.user_incarnation == user.incarnation


def _decode(access_key_id: str, value: bytes) -> Credential:
    return decode(_decoder, f"credential {access_key_id!r}", value)


def _key(access_key_id: str) -> bytes:
    return b"credential/" + access_key_id.encode()


def _index(user: str) -> bytes:
    return f"key/{user}\0".encode()
