"""Signatures of commits, kept beside them: several of one commit, forged ones, and what is none."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
import pytest

from headwater import blob, kv
from headwater.engine import write
from headwater.engine.commit import Description, commit
from headwater.engine.lake import Lake
from headwater.engine.repository import Repository
from headwater.engine.signing import MAX_SIGNATURES, add_signature, signatures_of
from headwater.history import Commit, InvalidRecord, LimitExceeded, Signature, key_id, public_key, sign, verify_any
from headwater.outside import real_outside

OURS, THEIRS = b"\x01" * 32, b"\x02" * 32

pytestmark = pytest.mark.anyio


@pytest.fixture
async def repository() -> AsyncIterator[Repository]:
    lake = Lake(await kv.open("mem://"), blob.open, real_outside())
    yield await lake.create("signed", "mem://signed")
    await lake.aclose()


@pytest.fixture
async def signed(repository: Repository) -> Commit:
    await write.put(repository, "main", "a", b"1")
    return await commit(repository, "main", Description("one", "ada", 0))


async def verdict(repository: Repository, ref: str, *trusted: bytes) -> str:
    identity, signatures = await signatures_of(repository, ref)
    return verify_any("commit", identity, signatures, [public_key(key) for key in trusted]).verdict


async def test_one_good_signature_counts_whatever_else_there_is(repository: Repository, signed: Commit) -> None:
    forged = msgspec.structs.replace(sign("commit", signed.id, OURS), value=bytes(64))
    await add_signature(repository, "main", forged)
    assert await verdict(repository, signed.id, OURS) == "bad"
    assert await verdict(repository, signed.id, THEIRS) == "unknown"
    await add_signature(repository, "main", sign("commit", signed.id, THEIRS))
    assert await verdict(repository, "main", OURS, THEIRS) == "good"


async def test_a_signature_of_another_commit_or_of_a_tag_is_none_of_this(
    repository: Repository, signed: Commit
) -> None:
    await add_signature(repository, "main", sign("commit", signed.parents[0], OURS))
    assert await verdict(repository, "main", OURS) == "bad"
    await add_signature(repository, "main", sign("tag", signed.id, OURS))
    assert await verdict(repository, "main", OURS) == "bad"
    await add_signature(repository, "main", sign("commit", signed.id, OURS))
    assert await verdict(repository, "main", OURS) == "good"
    assert await verdict(repository, "main~1", OURS) == "unsigned"


@pytest.mark.parametrize(
    ("signature", "told"),
    [
        (Signature("../" * 20, bytes(64)), "key:"),
        (Signature("A" * 64, bytes(64)), "key:"),
        (Signature(key_id(public_key(OURS)), b"short"), "64 bytes, not 5"),
    ],
)
async def test_what_is_no_signature_is_refused(repository: Repository, signature: Signature, told: str) -> None:
    with pytest.raises(InvalidRecord, match=told):
        await add_signature(repository, "main", signature)
    assert (await signatures_of(repository, "main"))[1] == []


async def test_a_commit_has_a_bounded_number_of_signatures(repository: Repository, signed: Commit) -> None:
    one = sign("commit", signed.id, OURS)
    for number in range(MAX_SIGNATURES):
        await add_signature(repository, "main", msgspec.structs.replace(one, key=f"{number:064x}"))
    with pytest.raises(LimitExceeded, match=str(MAX_SIGNATURES)):
        await add_signature(repository, "main", one)
    await add_signature(repository, "main", msgspec.structs.replace(one, key=f"{3:064x}"))
    assert len((await signatures_of(repository, "main"))[1]) == MAX_SIGNATURES
