"""A signature as it is told in JSON."""

from __future__ import annotations

import msgspec

from headwater.history import Signature, Tag


class ToldSignature(msgspec.Struct, frozen=True):
    """By the key whose id is *key*: *value*, 64 bytes, in base64."""

    key: str
    value: bytes


class CommitSignatures(msgspec.Struct, frozen=True):
    """The commit *id*, and who signed it."""

    id: str
    signatures: list[ToldSignature]


def told(signature: Signature) -> ToldSignature:
    return ToldSignature(signature.key, signature.value)


def signature_told(tag: Tag) -> ToldSignature | None:
    return None if tag.signature is None else told(tag.signature)


def signature_of(told: ToldSignature) -> Signature:
    return Signature(told.key, told.value)
