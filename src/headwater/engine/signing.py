"""Signatures of commits: made once a commit is there, by whoever stands by it, and kept beside it.

A commit's id is known only when it has landed, and whoever signs may be on another machine than whoever commits: so a
signature is a record of its own, and one commit may have several, of different keys. What was signed before it landed
has its signature in its own record; both are found.
"""

from __future__ import annotations

import msgspec

from headwater.engine.looking import commit_of
from headwater.engine.repository import Repository
from headwater.history import CorruptRecord, InvalidRecord, LimitExceeded, Signature

_SIGNATURE = b"signature/"
_DIGEST = 32
_VALUE = 64

MAX_SIGNATURES = 100
"""Of one commit: they are read together."""

_decoder = msgspec.msgpack.Decoder(Signature)


async def add_signature(repository: Repository, ref: str, signature: Signature) -> None:
    """Keep *signature* for the commit that *ref* means. One of the same key that is there already is replaced.

    Whether it is a good one is not looked at: that takes the key, which only whoever verifies has.
    """
    repository.check_writable()
    _check(signature)
    commit = await commit_of(repository, ref)
    present = await _kept(repository, commit.id)
    if len(present) >= MAX_SIGNATURES and all(each.key != signature.key for each in present):
        raise LimitExceeded(f"commit {commit.id} has {len(present)} signatures; {MAX_SIGNATURES} at most")
    key = _prefix(commit.id) + bytes.fromhex(signature.key)
    await repository.store.set(repository.partition, key, msgspec.msgpack.encode(signature))


async def signatures_of(repository: Repository, ref: str) -> tuple[str, list[Signature]]:
    """The id of the commit that *ref* means, and its signatures."""
    commit = await commit_of(repository, ref)
    own = [] if commit.signature is None else [commit.signature]
    return commit.id, own + await _kept(repository, commit.id)


async def _kept(repository: Repository, commit: str) -> list[Signature]:
    found: list[Signature] = []
    prefix = _prefix(commit)
    async for page in repository.store.scan(repository.partition, prefix, page=MAX_SIGNATURES):
        for entry in page:
            if not entry.key.startswith(prefix):
                return found
            try:
                found.append(_decoder.decode(entry.value))
            except msgspec.MsgspecError as error:
                raise CorruptRecord(f"a signature of commit {commit} cannot be read: {error}") from None
    return found


def _prefix(commit: str) -> bytes:
    return _SIGNATURE + bytes.fromhex(commit)


def _check(signature: Signature) -> None:
    key = signature.key
    if len(key) != 2 * _DIGEST or any(letter not in "0123456789abcdef" for letter in key):
        raise InvalidRecord(f"key: {key[:100]!r} is no key's id: that is the SHA-256 of the public key, in hex")
    if len(signature.value) != _VALUE:
        raise InvalidRecord(f"value: an Ed25519 signature has {_VALUE} bytes, not {len(signature.value)}")
