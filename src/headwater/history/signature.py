"""Ed25519 signatures of commits and annotated tags, in plain bytes: keys are given and returned raw, 32 bytes each.

What is signed is the id, and an id is a hash of all that matters. A prefix keeps a signature from being taken for one
of anything else that the same key signs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

Kind: TypeAlias = Literal["commit", "tag"]


class Signature(msgspec.Struct, frozen=True, array_like=True):
    """*value* (64 bytes), made with the private half of the key whose id is *key*."""

    key: str
    value: bytes


class Verification(msgspec.Struct, frozen=True):
    """What came of a look at a signature, and by whose key (its id) it claims to be.

    "good": by a trusted key, over exactly this id. "bad": it names a trusted key and is not by it. "unknown": the key
    is not among those trusted, so nothing can be said. "unsigned": there is none.
    """

    verdict: Literal["good", "bad", "unknown", "unsigned"]
    key: str | None = None


def public_key(private_key: bytes) -> bytes:
    """The public half of a private key."""
    return Ed25519PrivateKey.from_private_bytes(private_key).public_key().public_bytes_raw()


def key_id(public_key: bytes) -> str:
    """What a public key is called: the SHA-256 of it, in hex."""
    return hashlib.sha256(public_key).hexdigest()


def sign(kind: Kind, identity: str, private_key: bytes) -> Signature:
    """Sign the commit or tag with this id. The same key and id always give the same signature."""
    value = Ed25519PrivateKey.from_private_bytes(private_key).sign(_signed(kind, identity))
    return Signature(key_id(public_key(private_key)), value)


def verify(kind: Kind, identity: str, signature: Signature | None, trusted: Iterable[bytes]) -> Verification:
    """Look at the signature of a commit or tag, given the public keys that are trusted."""
    if signature is None:
        return Verification("unsigned")
    key = next((key for key in trusted if key_id(key) == signature.key), None)
    if key is None:
        return Verification("unknown", signature.key)
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature.value, _signed(kind, identity))
    except InvalidSignature:
        return Verification("bad", signature.key)
    return Verification("good", signature.key)


def verify_any(kind: Kind, identity: str, signatures: Iterable[Signature], trusted: Iterable[bytes]) -> Verification:
    """Look at several signatures of one commit or tag: what is the best that can be said of any."""
    keys = list(trusted)
    found = [verify(kind, identity, each, keys) for each in signatures]
    return min(found, key=lambda each: _BEST.index(each.verdict), default=Verification("unsigned"))


_BEST = ("good", "bad", "unknown", "unsigned")
"""A good signature counts, whatever else there is; a forged one is told before one that nothing is known of."""


def _signed(kind: Kind, identity: str) -> bytes:
    return b"headwater %b signature v1\0" % kind.encode() + bytes.fromhex(identity)
