"""From what a request shows to who it is: Basic headers, bearer tokens, and logging in for one.

A header that was found right once costs a look into a dictionary from then on, until the credential it was verified
with is gone or changed. What is remembered is a keyed hash of it, so a dump of the memory gives nobody's secret away
through this table.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

import msgspec

from headwater.auth.directory.realm import Realm
from headwater.auth.errors import NotAuthenticated
from headwater.auth.limits import KNOWN, MAX_TOKEN, TOKEN_LIFE
from headwater.auth.login.attempts import Attempts
from headwater.auth.login.identity import Identity
from headwater.auth.login.keyring import Key, Keyring
from headwater.auth.login.remembered import Remembered
from headwater.auth.login.tokens import Token, Tokens

_NOBODY = "AKIAJNOBODYHASTHISQQ"
_NOBODYS = "nobody has this secret, so no one shows it"


class _Verified(msgspec.Struct, frozen=True):
    key: Key
    expires: int | None
    """Of a token, in milliseconds since 1970."""


class Authenticator:
    """Establishes identities. A `client` is an address, or whatever else tells one client from the next."""

    def __init__(self, realm: Realm, keyring: Keyring, tokens: Tokens, attempts: Attempts) -> None:
        self._outside = realm.outside
        self._sealer = realm.sealer
        self._keyring = keyring
        self._tokens = tokens
        self._attempts = attempts
        self._salt = realm.outside.random(32)
        self._verified: Remembered[bytes, _Verified] = Remembered(KNOWN)
        self._nobodys = realm.sealer.seal(_NOBODYS, _NOBODY, "")

    def known(self, authorization: str) -> Identity | None:
        """Whom the header stands for, if it was found right a moment ago. No trip."""
        verified = self._verified.get(self._digest(authorization))
        if verified is None or not self._keyring.is_current(verified.key):
            return None
        if verified.expires is not None and verified.expires <= self._outside.now():
            return None
        return verified.key.identity

    async def header(self, authorization: str, client: str) -> Identity:
        """Whom an `Authorization` header stands for, `Basic` or `Bearer`; else `NotAuthenticated`.

        No trip as a rule, one now and then. Raises `TooManyAttempts` as `basic` does.
        """
        identity = self.known(authorization)
        if identity is not None:
            return identity
        scheme, _, value = authorization.partition(" ")
        match scheme.lower():
            case "basic":
                access_key_id, secret = read_basic(value.strip())
                key = await self._verify(access_key_id, secret, client)
                return self._remember(authorization, key, None)
            case "bearer":
                return await self.bearer(value.strip(), client)
            case _:
                raise NotAuthenticated

    async def basic(self, access_key_id: str, secret: str, client: str) -> Identity:
        """Whom an access key id and its secret stand for; else `NotAuthenticated`, with the same work done.

        After too many wrong ones, of *client* or for this access key, `TooManyAttempts`.
        """
        return (await self._verify(access_key_id, secret, client)).identity

    async def bearer(self, token: str, client: str, *, counted: bool = True) -> Identity:
        """Whom a token stands for, while the credential it was given for is there; else `NotAuthenticated`.

        A wrong one is *counted* as an attempt, unless it may have been sent without anybody's doing, as a cookie is.
        """
        authorization = f"Bearer {token}"
        identity = self.known(authorization)
        if identity is not None:
            return identity
        if counted:
            self._attempts.check_client(client)
        try:
            identity, expires = self._tokens.read(token)
        except NotAuthenticated:
            if counted:
                self._attempts.wrong_client(client)
            raise
        key = await self._keyring.find(identity.access_key_id)
        if key is None or key.identity != identity:
            raise NotAuthenticated
        return self._remember(authorization, key, expires)

    async def login(
        self, access_key_id: str, secret: str, client: str, *, life: float = TOKEN_LIFE
    ) -> tuple[Identity, Token]:
        """As `basic`, and a token that stands for it for *life* seconds."""
        identity = await self.basic(access_key_id, secret, client)
        return identity, self._tokens.issue(identity, life)

    async def _verify(self, access_key_id: str, secret: str, client: str) -> Key:
        self._attempts.check(access_key_id, client)
        key = await self._keyring.find(access_key_id)
        expected = self._sealer.open(self._nobodys, _NOBODY, "") if key is None else key.secret
        if not hmac.compare_digest(secret.encode(errors="replace"), expected.encode()) or key is None:
            self._attempts.wrong(access_key_id, client)
            raise NotAuthenticated
        self._attempts.right(access_key_id, client)
        return key

    def _remember(self, authorization: str, key: Key, expires: int | None) -> Identity:
        self._verified.put(self._digest(authorization), _Verified(key, expires))
        return key.identity

    def _digest(self, authorization: str) -> bytes:
        return hashlib.blake2b(authorization.encode(errors="replace"), key=self._salt, digest_size=16).digest()


def read_basic(value: str) -> tuple[str, str]:
    """The access key id and the secret in a `Basic` header; else `NotAuthenticated`."""
    if len(value) > MAX_TOKEN:
        raise NotAuthenticated
    try:
        access_key_id, colon, secret = base64.b64decode(value, validate=True).decode().partition(":")
    except (binascii.Error, ValueError) as error:
        raise NotAuthenticated from error
    if not colon:
        raise NotAuthenticated
    return access_key_id, secret
