"""`az://`, against Azurite."""

from __future__ import annotations

import pytest

from dev.servers import azurite
from headwater.testing.blob_suite import BlobStoreSuite
from tests.conftest import Servers


@pytest.fixture(scope="session")
def server(servers: Servers) -> azurite.Azure:
    where = servers.start("azurite", azurite.serve)
    where.make_container("blobs")
    return where


class TestAzurite(BlobStoreSuite):
    many = 1_200
    signs_any_name = False
    orders_all_of_unicode = False  # it compares UTF-16

    @pytest.fixture
    def uri(self, server: azurite.Azure) -> str:
        return f"az://blobs/suite?account={server.account}&endpoint={server.endpoint}"

    @pytest.fixture
    def credentials(self, server: azurite.Azure) -> dict[str, str]:
        return {"account_key": server.account_key}
