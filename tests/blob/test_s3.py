"""`s3://`, against versitygw."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from dev.servers import versitygw
from headwater import blob
from headwater.blob import IfMatch
from headwater.blob.limits import PART
from headwater.testing.blob_suite import BlobStoreSuite, names, zeros
from tests.conftest import Servers


@pytest.fixture
def server(servers: Servers) -> versitygw.S3:
    where = servers.start("versitygw", versitygw.serve)
    where.make_bucket("blobs")
    return where


@pytest.fixture
def credentials(server: versitygw.S3) -> dict[str, str]:
    return {"access_key_id": server.access_key_id, "secret_access_key": server.secret_access_key}


class TestVersityGateway(BlobStoreSuite):
    etag_tells_every_write = False

    @pytest.fixture
    def uri(self, server: versitygw.S3) -> str:
        return f"s3://blobs/suite?region=us-east-1&endpoint={server.endpoint}"

    @pytest.fixture
    def credentials(self, credentials: dict[str, str]) -> dict[str, str]:
        return credentials


@pytest.mark.anyio
async def test_a_stream_that_fails_leaves_no_parts_on_the_server(
    server: versitygw.S3, credentials: dict[str, str]
) -> None:
    """Parts that are under way may arrive after the abort; so here the stream fails once all of them have."""
    server.make_bucket("parts")
    parts = server.directory / "parts" / ".sgwtmp" / "multipart"

    async def failing() -> AsyncIterator[bytes]:
        async for chunk in zeros(3 * PART):
            yield chunk
        async with asyncio.timeout(30):
            while len([part for part in parts.rglob("*") if part.is_file()]) < 3:  # noqa: ASYNC110  (nobody tells)
                await asyncio.sleep(0.01)
        raise ConnectionResetError

    uri = f"s3://parts?region=us-east-1&endpoint={server.endpoint}"
    async with await blob.open(uri, credentials=credentials) as store:
        with pytest.raises(ConnectionResetError):
            await store.put("object", failing())
        assert [*parts.rglob("*")] == []


@pytest.mark.anyio
async def test_a_bucket_that_does_not_exist_is_named(server: versitygw.S3, credentials: dict[str, str]) -> None:
    uri = f"s3://nowhere?region=us-east-1&endpoint={server.endpoint}"
    async with await blob.open(uri, credentials=credentials) as store:
        with pytest.raises(blob.BlobUnavailable, match=r"nowhere.*NoSuchBucket.*create"):
            await store.put("object", b"")
        with pytest.raises(blob.BlobUnavailable, match="NoSuchBucket"):
            await store.put("object", b"", condition=IfMatch('"0"'))
        with pytest.raises(blob.BlobUnavailable, match="NoSuchBucket"):
            await names(store)


@pytest.mark.anyio
async def test_a_wrong_secret_is_permission_denied(server: versitygw.S3, credentials: dict[str, str]) -> None:
    uri = f"s3://blobs?region=us-east-1&endpoint={server.endpoint}"
    async with await blob.open(uri, credentials={**credentials, "secret_access_key": "wrong"}) as store:
        with pytest.raises(blob.PermissionDenied, match="SignatureDoesNotMatch"):
            await store.put("object", b"")
        with pytest.raises(blob.PermissionDenied):
            await store.stat("object")
