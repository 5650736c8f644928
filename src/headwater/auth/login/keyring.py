"""Credentials with their secrets open, as they were at most `BELIEVED` seconds ago.

What is verified with a secret may be remembered together with the `Key` it was verified with: it holds for as long as
the keyring still answers that very object. So one look here is all that a cache elsewhere needs to stay right.
"""

from __future__ import annotations

import msgspec

from headwater.auth.directory.credentials import Credentials
from headwater.auth.directory.realm import Realm
from headwater.auth.directory.records import Credential
from headwater.auth.limits import BELIEVED, KNOWN
from headwater.auth.login.identity import Identity
from headwater.auth.login.remembered import Remembered
from headwater.refs.shared_reads import SharedReads


class Key(msgspec.Struct, frozen=True, eq=False):
    """A credential, and its secret. Never to be logged: its text leaves the secret out."""

    identity: Identity
    secret: str

    def __repr__(self) -> str:
        return f"Key({self.identity.access_key_id!r} of {self.identity.user!r})"


class _Held(msgspec.Struct, frozen=True):
    key: Key
    credential: Credential
    generation: int
    until: float


class Keyring:
    """The credentials that are in use."""

    def __init__(self, realm: Realm, credentials: Credentials) -> None:
        self._realm = realm
        self._credentials = credentials
        self._held: Remembered[str, _Held] = Remembered(KNOWN)
        self._reads: SharedReads[str, Key | None] = SharedReads(self._read)

    def known(self, access_key_id: str) -> Key | None:
        """The key, if it need not be read again. No trip."""
        held = self._held.get(access_key_id)
        if held is None or held.generation != self._realm.generation or self._realm.outside.elapsed() > held.until:
            return None
        return held.key

    async def find(self, access_key_id: str) -> Key | None:
        """The key, or None if there is no such credential. One trip now and then, and for an unknown one each time."""
        return self.known(access_key_id) or await self._reads.get(access_key_id)

    def is_current(self, key: Key) -> bool:
        """Whether what was verified with *key* still is. No trip."""
        return self.known(key.identity.access_key_id) is key

    async def _read(self, access_key_id: str) -> Key | None:
        generation, at = self._realm.generation, self._realm.outside.elapsed()
        credential = await self._credentials.find(access_key_id)
        if credential is None:
            self._held.drop(access_key_id)
            return None
        held = self._held.get(access_key_id)
        key = held.key if held is not None and held.credential == credential else self._open(credential)
        self._held.put(access_key_id, _Held(key, credential, generation, at + BELIEVED))
        return key

    def _open(self, credential: Credential) -> Key:
        secret = self._realm.sealer.open(credential.sealed, credential.access_key_id, credential.user)
        return Key(Identity(credential.user, credential.user_incarnation, credential.access_key_id), secret)
