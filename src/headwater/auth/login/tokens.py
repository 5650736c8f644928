"""Tokens of those who have logged in: JSON Web Tokens, signed with HS256 under a key made for nothing else.

A token names the credential and the incarnation of the user that it was given for, and is good for no longer than
they are. Nothing is stored for it.
"""

from __future__ import annotations

from typing import Final

import jwt
import msgspec
from jwt.types import Options

from headwater.auth.errors import NotAuthenticated
from headwater.auth.limits import MAX_TOKEN
from headwater.auth.login.identity import Identity
from headwater.outside import Outside

ALGORITHM: Final = "HS256"
ISSUER: Final = "headwater"
LOGIN: Final = "login"
"""The audience of the tokens that stand for a login."""


class Token(msgspec.Struct, frozen=True):
    """*text* is what the bearer shows; *expires* is in milliseconds since 1970."""

    text: str
    expires: int

    def __repr__(self) -> str:
        return f"Token(expires={self.expires})"


class _Claims(msgspec.Struct, frozen=True):
    iss: str
    aud: str
    sub: str
    inc: str
    key: str
    iat: int
    exp: int


class Tokens:
    """Issues tokens and reads them. Whether the credential is still there, the caller looks up."""

    def __init__(self, key: bytes, outside: Outside) -> None:
        self._key = key
        self._outside = outside

    def issue(self, identity: Identity, life: float, audience: str = LOGIN) -> Token:
        """A token for *identity*, good for *life* seconds."""
        now = self._outside.now()
        expires = now + int(life * 1000)
        claims = _Claims(
            ISSUER,
            audience,
            identity.user,
            identity.incarnation.hex(),
            identity.access_key_id,
            now // 1000,
            -(-expires // 1000),
        )
        text = jwt.encode(
            {**msgspec.structs.asdict(claims), "jti": self._outside.random(8).hex()}, self._key, ALGORITHM
        )
        return Token(text, claims.exp * 1000)

    def read(self, text: str, audience: str = LOGIN) -> tuple[Identity, int]:
        """Whom it stands for, and until when in milliseconds since 1970; else `NotAuthenticated`.

        The library looks at the signature and the algorithm. The times are looked at here, by the clock we are given.
        """
        if len(text) > MAX_TOKEN:
            raise NotAuthenticated
        try:
            payload = jwt.decode(text, self._key, [ALGORITHM], options=_SIGNATURE_ONLY)
            claims = msgspec.convert(payload, _Claims)
            incarnation = bytes.fromhex(claims.inc)
        except (jwt.InvalidTokenError, msgspec.ValidationError, ValueError) as error:
            raise NotAuthenticated from error
        if claims.iss != ISSUER or claims.aud != audience or claims.exp * 1000 <= self._outside.now():
            raise NotAuthenticated
        return Identity(claims.sub, incarnation, claims.key), claims.exp * 1000


_SIGNATURE_ONLY: Final[Options] = {
    "verify_signature": True, "verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_aud": False,
    "verify_iss": False, "verify_sub": False, "verify_jti": False,
}  # fmt: skip
