"""The package `lakefs-enterprise-sdk`, as it is published: commits and merges that nobody waits for."""

from __future__ import annotations

from typing import Any

import lakefs_enterprise_sdk
import pytest
from lakefs_enterprise_sdk.client import LakeFSClient

from dev.servers.headwater import Headwater
from tests.server.test_lakefs_sdk import until_done

pytestmark = pytest.mark.filterwarnings("ignore:.* is experimental:FutureWarning")

enterprise: Any = lakefs_enterprise_sdk
_generated: Any = LakeFSClient


@pytest.fixture
def client(server: Headwater) -> Any:
    key, secret = server.login
    return _generated(enterprise.Configuration(host=server.api, username=key, password=secret))


def committed(client: Any, repository: str, branch: str, message: str) -> Any:
    """How a commit ended that was begun and not waited for."""
    creation = enterprise.CommitCreation(message=message)
    task = client.commits_api.commit_async(repository, branch, creation).id
    return until_done(
        lambda: client.commits_api.commit_async_status(repository, branch, task), is_done=lambda each: each.completed
    )


def merged(client: Any, repository: str, source: str, destination: str) -> Any:
    task = client.refs_api.merge_into_branch_async(repository, source, destination).id
    return until_done(
        lambda: client.refs_api.merge_into_branch_async_status(repository, source, destination, task),
        is_done=lambda each: each.completed,
    )


def test_commits_and_merges_are_begun_and_asked_about(client: Any, repository: str) -> None:
    client.branches_api.create_branch(repository, enterprise.BranchCreation(name="side", source="main"))
    client.objects_api.upload_object(repository, "side", "a", content=b"x")
    ended = committed(client, repository, "side", "later")
    assert (ended.result.message, ended.error, ended.status_code) == ("later", None, None)
    assert client.branches_api.get_branch(repository, "side").commit_id == ended.result.id
    ended = merged(client, repository, "side", "main")
    assert client.branches_api.get_branch(repository, "main").commit_id == ended.result.reference


def test_what_one_that_failed_would_have_been_answered_with_is_told(client: Any, repository: str) -> None:
    ended = committed(client, repository, "main", "nothing")
    assert (ended.result, ended.status_code) == (None, 400)
    assert "nothing staged" in ended.error.message
    client.branches_api.create_branch(repository, enterprise.BranchCreation(name="side", source="main"))
    for branch in ("main", "side"):
        client.objects_api.upload_object(repository, branch, "a", content=branch.encode())
        committed(client, repository, branch, "a")
    assert merged(client, repository, "side", "main").status_code == 409
    client.repositories_api.set_branch_protection_rules(repository, [enterprise.BranchProtectionRule(pattern="main")])
    with pytest.raises(enterprise.ApiException) as refused:
        client.commits_api.commit_async(repository, "main", enterprise.CommitCreation(message="no"))
    assert refused.value.status == 403


def test_a_metarange_is_no_more_committed_later_than_at_once(client: Any, repository: str) -> None:
    creation = enterprise.CommitCreation(message="no")
    with pytest.raises(enterprise.ApiException) as refused:
        client.commits_api.commit_async(repository, "main", creation, source_metarange="a" * 64)
    assert (refused.value.status, "source_metarange" in refused.value.body) == (400, True)
