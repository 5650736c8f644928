"""Secrets at rest: AES-GCM under a key that follows from the server's secret, bound to whom they belong to.

Signatures are verified with the secret itself, so a hash of it would not do. A sealed secret moved to another access
key, or opened under another secret of the server, does not open.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from headwater.auth.errors import BadRequest, CorruptRecord
from headwater.auth.limits import MIN_SERVER_SECRET

NONCE = 12
"""Random bytes of each: so few secrets are ever sealed that no two share a nonce."""

MARK = 8
"""Bytes that tell under which key a secret was sealed, without telling the key."""


def derive(server_secret: bytes, purpose: str) -> bytes:
    """A key for one purpose, of which nobody learns the server's secret or the key of any other."""
    if len(server_secret) < MIN_SERVER_SECRET:
        raise BadRequest(
            f"the server's secret has {len(server_secret)} bytes: it needs {MIN_SERVER_SECRET}, "
            "such as those that `openssl rand -hex 32` prints"
        )
    info = f"headwater {purpose} v1".encode()
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(server_secret)


class Sealer:
    """Seals and opens the secrets of credentials."""

    def __init__(self, server_secret: bytes, random: Callable[[int], bytes]) -> None:
        key = derive(server_secret, "credentials")
        self._cipher = AESGCM(key)
        self._mark = hmac.digest(key, b"mark", hashlib.sha256)[:MARK]
        self._random = random

    def seal(self, secret: str, access_key_id: str, user: str) -> bytes:
        nonce = self._random(NONCE)
        return self._mark + nonce + self._cipher.encrypt(nonce, secret.encode(), _bound(access_key_id, user))

    def open(self, sealed: bytes, access_key_id: str, user: str) -> str:
        """The secret. Raises `CorruptRecord` if it was sealed under another secret of the server, or is damaged."""
        if not hmac.compare_digest(sealed[:MARK], self._mark):
            raise CorruptRecord(
                f"the secret of access key {access_key_id!r} was sealed under another secret of the server: "
                "start the server with the secret that it had"
            )
        nonce, encrypted = sealed[MARK : MARK + NONCE], sealed[MARK + NONCE :]
        try:
            return self._cipher.decrypt(nonce, encrypted, _bound(access_key_id, user)).decode()
        except (InvalidTag, ValueError) as error:
            raise CorruptRecord(f"the secret of access key {access_key_id!r} is damaged: replace it") from error


def _bound(access_key_id: str, user: str) -> bytes:
    return f"{access_key_id}\0{user}".encode()
