"""Signatures of commits and tags, and the bytes of tags."""

from __future__ import annotations

import hashlib

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from headwater.history import (
    BadName,
    Commit,
    CorruptRecord,
    InvalidRecord,
    Tag,
    Verification,
    key_id,
    public_key,
    verify,
)
from headwater.history import commit as commits
from headwater.history import tag as tags

ANN, BOB = bytes(range(32)), bytes(range(1, 33))
COMMIT = Commit.create([], b"AAAAAAAA", message="signed", committer="ann", time=1)
TAG = Tag.create("v1.0", "7e" * 32, message="one", tagger="ann", time=1000, metadata={"b": "2", "a": "1"})

TAG_PREFIX = b"headwater tag signature v1\0"

GOLDEN_TAG = bytes.fromhex(
    "98"  # an array of 8
    "a3 746167"  # "tag"
    "01"  # format
    "a4 76312e30"  # "v1.0"
    "c420" + "7e" * 32 + "a3 6f6e65"  # "one"
    "a3 616e6e"  # "ann"
    "cd03e8"  # 1000
    "92 92 a161 a131 92 a162 a132"  # a=1, b=2
)


def test_a_signature_by_a_trusted_key_is_good() -> None:
    signed = COMMIT.signed(ANN)
    trusted = [public_key(BOB), public_key(ANN)]
    assert verify("commit", signed.id, signed.signature, trusted) == Verification("good", key_id(public_key(ANN)))


def test_a_signature_by_another_key_tells_nothing() -> None:
    signed = COMMIT.signed(ANN)
    verification = verify("commit", signed.id, signed.signature, [public_key(BOB)])
    assert verification == Verification("unknown", key_id(public_key(ANN)))


def test_what_is_not_signed_is_told_so() -> None:
    assert verify("commit", COMMIT.id, COMMIT.signature, [public_key(ANN)]) == Verification("unsigned")


def test_a_signature_that_claims_to_be_by_somebody_else_is_bad() -> None:
    signature = COMMIT.signed(BOB).signature
    assert signature is not None
    forged = msgspec.structs.replace(signature, key=key_id(public_key(ANN)))
    assert verify("commit", COMMIT.id, forged, [public_key(ANN)]).verdict == "bad"


@pytest.mark.parametrize("value", [b"", bytes(64), bytes(63), bytes(1000)])
def test_a_signature_of_any_other_bytes_is_bad(value: bytes) -> None:
    signature = COMMIT.signed(ANN).signature
    assert signature is not None
    damaged = msgspec.structs.replace(signature, value=value)
    assert verify("commit", COMMIT.id, damaged, [public_key(ANN)]).verdict == "bad"


def test_a_signature_holds_for_one_id_of_one_kind() -> None:
    signed = COMMIT.signed(ANN)
    assert verify("commit", TAG.id, signed.signature, [public_key(ANN)]).verdict == "bad"
    assert verify("tag", signed.id, signed.signature, [public_key(ANN)]).verdict == "bad"


def test_a_signature_does_not_change_the_id_and_is_read_as_written() -> None:
    signed = COMMIT.signed(ANN)
    assert signed.id == COMMIT.id
    assert commits.decode(signed.id, commits.encode(signed)) == signed
    assert tags.decode(TAG.id, tags.encode(TAG.signed(ANN))) == TAG.signed(ANN)


def test_signing_has_the_documented_bytes() -> None:
    """As anybody with an Ed25519 library would check it."""
    ann = Ed25519PrivateKey.from_private_bytes(ANN).public_key()
    for signed, prefix in ((COMMIT.signed(ANN), b"headwater commit signature v1\0"), (TAG.signed(ANN), TAG_PREFIX)):
        assert signed.signature is not None
        assert signed.signature.key == hashlib.sha256(ann.public_bytes_raw()).hexdigest()
        ann.verify(signed.signature.value, prefix + bytes.fromhex(signed.id))


def test_a_tag_has_the_documented_bytes_and_their_hash_for_an_id() -> None:
    assert tags.canonical(TAG).hex(" ") == GOLDEN_TAG.hex(" ")
    assert TAG.id == hashlib.sha256(GOLDEN_TAG).hexdigest()
    assert tags.decode(TAG.id, b"\x92\xc4\x43" + GOLDEN_TAG + b"\xc0") == TAG


def test_a_tag_by_another_name_is_another_tag() -> None:
    assert (
        Tag.create("v1", "7e" * 32, message="", tagger="", time=0).id
        != Tag.create("v2", "7e" * 32, message="", tagger="", time=0).id
    )


def test_a_damaged_tag_is_named_and_never_served() -> None:
    with pytest.raises(CorruptRecord, match=f"tag {TAG.id}"):
        tags.decode(TAG.id, tags.encode(TAG).replace(b"v1.0", b"v1.1"))


def test_a_tag_that_was_tampered_with_in_memory_cannot_be_stored() -> None:
    with pytest.raises(InvalidRecord, match=r"made by Tag\.create"):
        tags.encode(msgspec.structs.replace(TAG, target="7f" * 32))


def test_a_tag_has_a_fit_name_and_a_target() -> None:
    with pytest.raises(BadName):
        Tag.create("-v1", "7e" * 32, message="", tagger="", time=0)
    with pytest.raises(InvalidRecord, match="target 'main'"):
        Tag.create("v1", "main", message="", tagger="", time=0)
