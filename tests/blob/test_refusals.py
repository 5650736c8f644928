"""A caller learns from an error what happened to its write, and never a secret."""

from __future__ import annotations

import traceback
from collections.abc import AsyncIterator, Iterator

import pytest

from dev.servers.process import free_port
from headwater import blob
from headwater.blob import IF_ABSENT, BlobStore, IfMatch
from tests.blob.pretender import Pretender, Trouble, pretending

pytestmark = pytest.mark.anyio

LOGIN = {"access_key_id": "id", "secret_access_key": "the-secret"}


@pytest.fixture
def server() -> Iterator[Pretender]:
    with pretending() as server:
        yield server


@pytest.fixture
async def store(server: Pretender) -> AsyncIterator[BlobStore]:
    async with await blob.open(server.uri, credentials=LOGIN) as store:
        yield store


@pytest.mark.parametrize(
    ("trouble", "expected"),
    [
        ("slow down", blob.SlowDown),
        ("too many", blob.SlowDown),
        ("broken", blob.OutcomeUnknown),
        ("hang up", blob.OutcomeUnknown),
        ("late hang up", blob.OutcomeUnknown),
        ("forbidden", blob.PermissionDenied),
        ("conflict", blob.ConditionFailed),
        ("not implemented", blob.NotSupported),
    ],
)
@pytest.mark.parametrize("condition", [IF_ABSENT, IfMatch('"0123"')])
async def test_a_conditional_put_is_sent_once_and_its_error_says_what_is_known(
    server: Pretender, store: BlobStore, condition: blob.Condition, trouble: Trouble, expected: type[blob.BlobError]
) -> None:
    server.trouble = trouble
    with pytest.raises(expected, match="object"):
        await store.put("object", b"body", condition=condition)
    assert server.requests == 1


async def test_an_applied_put_whose_answer_is_lost_is_of_unknown_outcome(server: Pretender, store: BlobStore) -> None:
    server.trouble = "late hang up"
    with pytest.raises(blob.OutcomeUnknown, match="read to know"):
        await store.put("object", b"body", condition=IF_ABSENT)
    server.trouble = None
    assert await store.read("object") == b"body"


@pytest.mark.parametrize(("trouble", "expected"), [("slow down", blob.SlowDown), ("broken", blob.BlobUnavailable)])
async def test_a_read_is_tried_again_and_then_unavailable(
    server: Pretender, store: BlobStore, trouble: Trouble, expected: type[blob.BlobError]
) -> None:
    server.trouble = trouble
    with pytest.raises(expected, match="object"):
        await store.read("object")
    assert server.requests > 2


async def test_an_unconditional_put_is_tried_again(server: Pretender, store: BlobStore) -> None:
    server.trouble = "broken"
    with pytest.raises(blob.OutcomeUnknown):
        await store.put("object", b"body")
    assert server.requests > 2


async def test_a_server_that_is_not_there_wrote_nothing() -> None:
    uri = f"s3://bucket?region=us-east-1&endpoint=http://127.0.0.1:{free_port()}"
    async with await blob.open(uri, credentials=LOGIN) as store:
        with pytest.raises(blob.BlobUnavailable, match="ConnectionRefused"):
            await store.put("object", b"", condition=IF_ABSENT)


async def test_errors_hold_nothing_of_the_signature_or_the_secret(server: Pretender, store: BlobStore) -> None:
    server.trouble = "forbidden"
    with pytest.raises(blob.PermissionDenied) as caught:
        await store.put("object", b"")
    told = "".join(traceback.format_exception(caught.value))
    assert "the-secret" not in told
    assert "SIGNED" not in told
    assert "SignatureDoesNotMatch" in str(caught.value)
