"""The object-store driver: on a directory, on real S3 and Azure servers, and on one that cannot be trusted."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from dev.servers import azurite, versitygw
from headwater import kv
from headwater.testing.kv_suite import KVStoreSuite
from tests.blob.pretender import pretending
from tests.conftest import Servers


class ObjectsSuite(KVStoreSuite):
    max_key = 200  # in the worst case: three characters a byte, below the longest partition
    many = 2_200
    examples = 12


class TestDirectory(ObjectsSuite):
    @pytest.fixture
    def uri(self, tmp_path: Path) -> str:
        return f"file://{tmp_path}/kv?durability=os"


class TestS3(ObjectsSuite):
    @pytest.fixture
    def server(self, servers: Servers) -> versitygw.S3:
        where = servers.start("versitygw", versitygw.serve)
        where.make_bucket("keys")
        return where

    @pytest.fixture
    def uri(self, server: versitygw.S3) -> str:
        return f"s3://keys/{uuid4().hex}?region=us-east-1&endpoint={server.endpoint}"

    @pytest.fixture
    def credentials(self, server: versitygw.S3) -> dict[str, str]:
        return {"access_key_id": server.access_key_id, "secret_access_key": server.secret_access_key}


class TestAzure(ObjectsSuite):
    many = 1_100
    examples = 5

    @pytest.fixture
    def server(self, servers: Servers) -> azurite.Azure:
        return servers.start("azurite", azurite.serve)

    @pytest.fixture
    def uri(self, server: azurite.Azure) -> str:
        container = f"keys{uuid4().hex}"
        server.make_container(container)
        return f"az://{container}/lake?account={server.account}&endpoint={server.endpoint}"

    @pytest.fixture
    def credentials(self, server: azurite.Azure) -> dict[str, str]:
        return {"account_key": server.account_key}


@pytest.mark.anyio
@pytest.mark.parametrize("ignored", ["If-Match", "If-None-Match"])
async def test_an_endpoint_that_ignores_a_condition_is_refused_and_named_with_what_it_ignores(ignored: str) -> None:
    with pretending() as careless:
        careless.heeds.discard(ignored)
        with pytest.raises(kv.CannotOpen, match=ignored) as refused:
            await kv.open(careless.uri, credentials={"access_key_id": "id", "secret_access_key": "a secret of mine"})
        assert "s3://bucket/lake" in str(refused.value)
        assert "a secret of mine" not in str(refused.value)
        assert careless.objects == {}


@pytest.mark.anyio
async def test_an_endpoint_that_is_down_is_unavailable_and_not_unfit() -> None:
    with pretending() as slow:
        slow.trouble = "slow down"
        with pytest.raises(kv.SlowDown):
            await kv.open(slow.uri, credentials={"access_key_id": "id", "secret_access_key": "secret"})
