"""Whatever is sent that the OpenAPI document allows is answered as the document says, and never by a defect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from dev.servers import headwater
from dev.servers.headwater import Headwater
from headwater.server.api.openapi import document
from headwater.server.api.table import OPERATIONS

NAMES = {"repository": "rivers", "branch": "main", "ref": "main", "sourceRef": "side", "destinationBranch": "main"}
"""Things that are there: every other call is about them."""

RULES = [status_code_conformance, content_type_conformance, response_schema_conformance]

schemathesis.serializer.alias("application/vnd.apache.arrow.stream", "application/octet-stream")
api = schemathesis.openapi.from_dict(document(OPERATIONS))


@pytest.fixture(scope="module")
def prodded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Headwater]:
    """A server of its own, which nobody else needs to stay as it is."""
    with headwater.serve(tmp_path_factory.mktemp("prodded")) as server:
        yield server


@pytest.fixture(scope="module")
def admin(prodded: Headwater) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=prodded.api, auth=prodded.login, timeout=60) as client:
        yield client


@pytest.fixture(autouse=True)
def there(admin: httpx.Client) -> None:
    """A repository with a commit and two branches, whatever was done to it before."""
    if admin.get("/repositories/rivers/branches/side").status_code == 200:
        return
    admin.delete("/repositories/rivers", params={"force": "true"})
    admin.post("/repositories", json={"name": "rivers"}).raise_for_status()
    admin.post("/repositories/rivers/branches/main/objects?path=a", content=b"x").raise_for_status()
    admin.post("/repositories/rivers/branches/main/commits", json={"message": "a"}).raise_for_status()
    admin.post("/repositories/rivers/branches", json={"name": "side", "source": "main"}).raise_for_status()


@api.parametrize()
@settings(
    max_examples=4,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_operation_answers_as_it_says(case: Any, prodded: Headwater) -> None:
    if sum(map(len, map(str, case.path_parameters.values()))) % 2:
        case.path_parameters.update({name: NAMES[name] for name in case.path_parameters if name in NAMES})
    answer = case.call(base_url=prodded.api, auth=prodded.login)
    assert answer.status_code not in (500, 502), answer.text
    case.validate_response(answer, checks=RULES)
