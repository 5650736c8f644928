"""The keys that requests are signed with: one for each day, region, service and secret, four hashes away from it."""

from __future__ import annotations

import hmac

import msgspec

from headwater.auth.login.keyring import Key
from headwater.auth.login.remembered import Remembered
from headwater.auth.signatures.limits import SIGNING_KEYS


class Scope(msgspec.Struct, frozen=True):
    """Where and on which day a signature holds."""

    date: str
    region: str
    service: str

    def __str__(self) -> str:
        return f"{self.date}/{self.region}/{self.service}/aws4_request"


def signing_key(secret: str, scope: Scope) -> bytes:
    key = b"AWS4" + secret.encode()
    for part in (scope.date, scope.region, scope.service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


class SigningKeys:
    """Those of late, each for as long as the keyring's key is the very one that it was made from."""

    def __init__(self) -> None:
        self._made: Remembered[tuple[str, Scope], tuple[Key, bytes]] = Remembered(SIGNING_KEYS)

    def of(self, key: Key, scope: Scope) -> bytes:
        name = (key.identity.access_key_id, scope)
        made = self._made.get(name)
        if made is None or made[0] is not key:
            made = (key, signing_key(key.secret, scope))
            self._made.put(name, made)
        return made[1]
