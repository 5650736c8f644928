"""The package `lakefs-sdk`, as it is published, against a running server: what the high-level one does not reach."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

from dev.servers.headwater import Headwater
from tests.server.clients import generated, sdk

pytestmark = pytest.mark.filterwarnings("ignore:.* is deprecated:DeprecationWarning")  # and answered all the same


@pytest.fixture
def client(server: Headwater) -> Any:
    return generated(server)


def refusal(call: Callable[..., Any], *arguments: object, **named: object) -> int:
    """The status that *call* is refused with."""
    with pytest.raises(sdk.ApiException) as refused:
        call(*arguments, **named)
    status: int = refused.value.status
    return status


def commit(client: Any, repository: str, path: str, content: bytes = b"x", branch: str = "main") -> Any:
    client.objects_api.upload_object(repository, branch, path, content=content)
    return client.commits_api.commit(repository, branch, sdk.CommitCreation(message=f"write {path}"))


def until_done(status: Callable[[], Any], *, is_done: Callable[[Any], bool]) -> Any:
    """What *status* answers once it is done."""
    deadline = time.monotonic() + 30
    while not is_done(found := status()):
        assert time.monotonic() < deadline, found
        time.sleep(0.02)
    return found


def test_the_server_tells_what_it_is_and_can_do(client: Any, server: Headwater) -> None:
    client.health_check_api.health_check()
    config = client.config_api.get_config()
    assert config.storage_config == client.internal_api.get_storage_config()
    assert config.version_config.version == client.internal_api.get_lake_fs_version().version
    assert not config.storage_config.pre_sign_support
    assert client.internal_api.get_garbage_collection_config().grace_period > 0
    assert client.internal_api.get_usage_report_summary().reports == []
    event = sdk.StatsEvent(class_="test", var_class="test", name="something", count=1)
    client.internal_api.post_stats_events(sdk.StatsEventsList(events=[event]))
    assert httpx.get(f"{server.api}/auth/capabilities").json() == {"invite_user": False, "forgot_password": False}


def test_there_is_one_first_administrator(client: Any) -> None:
    assert client.internal_api.get_setup_state().state == "initialized"
    assert refusal(client.internal_api.setup, sdk.Setup(username="another")) == 409
    client.internal_api.setup_comm_prefs(sdk.CommPrefsInput(feature_updates=False, security_updates=False))


def test_repositories_are_searched_and_bare_ones_have_no_branch(client: Any, repository: str) -> None:
    name = f"{repository}-bare"
    creation = sdk.RepositoryCreation(name=name, storage_namespace=f"local://{name}")
    client.repositories_api.create_repository(creation, bare=True)
    assert client.branches_api.list_branches(name).results == []
    found = client.repositories_api.list_repositories(search=f"{repository[-2:]}-bare").results
    assert [each.id for each in found] == [name]


def test_a_namespace_is_one_repositorys(client: Any, repository: str) -> None:
    for place in (repository, f"{repository}/inside"):
        creation = sdk.RepositoryCreation(name=f"{repository}-x", storage_namespace=f"local://{place}")
        assert refusal(client.repositories_api.create_repository, creation) == 400


def test_metadata_of_a_repository_is_set_and_deleted_by_name(client: Any, repository: str) -> None:
    internal = client.internal_api
    internal.set_repository_metadata(repository, sdk.RepositoryMetadataSet(metadata={"a": "1", "b": "2"}))
    internal.set_repository_metadata(repository, sdk.RepositoryMetadataSet(metadata={"b": "3"}))
    assert client.repositories_api.get_repository_metadata(repository) == {"a": "1", "b": "3"}
    internal.delete_repository_metadata(repository, sdk.RepositoryMetadataKeys(keys=["a", "nothing"]))
    assert client.repositories_api.get_repository_metadata(repository) == {"b": "3"}
    too_much = sdk.RepositoryMetadataSet(metadata={"c": "x" * 70_000})
    assert refusal(internal.set_repository_metadata, repository, too_much) == 400


def test_a_protected_branch_changes_by_merging_alone(client: Any, repository: str) -> None:
    rules = client.repositories_api
    commit(client, repository, "a")
    rules.set_branch_protection_rules(repository, [sdk.BranchProtectionRule(pattern="ma*")])
    assert [rule.pattern for rule in rules.get_branch_protection_rules(repository)] == ["ma*"]
    assert refusal(client.objects_api.upload_object, repository, "main", "b", content=b"x") == 403
    assert refusal(client.commits_api.commit, repository, "main", sdk.CommitCreation(message="no")) == 403
    client.branches_api.create_branch(repository, sdk.BranchCreation(name="side", source="main"))
    commit(client, repository, "b", branch="side")
    client.refs_api.merge_into_branch(repository, "side", "main")
    client.objects_api.stat_object(repository, "main", "b")


def test_rules_are_replaced_only_if_they_are_those_that_were_read(client: Any, repository: str) -> None:
    rules = client.repositories_api
    rules.set_branch_protection_rules(repository, [sdk.BranchProtectionRule(pattern="a")])
    read = rules.get_branch_protection_rules_with_http_info(repository)
    rules.set_branch_protection_rules(
        repository, [sdk.BranchProtectionRule(pattern="b")], if_match=read.headers["ETag"]
    )
    stale = read.headers["ETag"]
    assert refusal(rules.set_branch_protection_rules, repository, [], if_match=stale) == 412
    client.internal_api.internal_create_branch_protection_rule(repository, sdk.BranchProtectionRule(pattern="c"))
    gone = sdk.InternalDeleteBranchProtectionRuleRequest(pattern="b")
    client.internal_api.internal_delete_branch_protection_rule(repository, gone)
    assert refusal(client.internal_api.internal_delete_branch_protection_rule, repository, gone) == 404
    assert [rule.pattern for rule in client.internal_api.internal_get_branch_protection_rules(repository)] == ["c"]
    client.internal_api.create_branch_protection_rule_preflight(repository)


def test_rules_of_retention_are_set_and_deleted(client: Any, repository: str) -> None:
    rules = client.repositories_api
    assert refusal(rules.get_gc_rules, repository) == 404
    wanted = sdk.GarbageCollectionRules(
        default_retention_days=21, branches=[sdk.GarbageCollectionRule(branch_id="main", retention_days=28)]
    )
    rules.set_gc_rules(repository, wanted)
    assert rules.get_gc_rules(repository) == wanted
    assert client.internal_api.internal_get_garbage_collection_rules(repository) == wanted
    none = sdk.GarbageCollectionRules(default_retention_days=0, branches=[])
    assert refusal(rules.set_gc_rules, repository, none) == 400
    rules.delete_gc_rules(repository)
    assert refusal(rules.get_gc_rules, repository) == 404


def test_a_branch_is_set_back_to_a_commit(client: Any, repository: str) -> None:
    first = commit(client, repository, "a")
    commit(client, repository, "b")
    client.objects_api.upload_object(repository, "main", "c", content=b"x")
    reset = client.experimental_api.hard_reset_branch
    assert refusal(reset, repository, "main", first.id) == 400
    reset(repository, "main", first.id, force=True)
    assert client.branches_api.get_branch(repository, "main").commit_id == first.id
    assert [each.path for each in client.objects_api.list_objects(repository, "main").results] == ["a"]
    assert refusal(reset, repository, "main", "nowhere") == 404


def test_what_is_written_beside_the_server_is_linked(client: Any, server: Headwater, repository: str) -> None:
    where = client.staging_api.get_physical_address(repository, "main", "a").physical_address
    file = server.data / "objects" / where.removeprefix("local://")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"by hand")
    staging = sdk.StagingMetadata(
        staging=sdk.StagingLocation(physical_address=where), checksum="abc", size_bytes=7, user_metadata={"k": "v"}
    )
    stats = client.staging_api.link_physical_address(repository, "main", "a", staging)
    assert (stats.checksum, stats.metadata, stats.size_bytes) == ("abc", {"k": "v"}, 7)
    assert client.objects_api.get_object(repository, "main", "a") == b"by hand"
    link = client.staging_api.link_physical_address
    assert refusal(link, repository, "main", "a", staging, if_none_match="*") == 412
    assert refusal(link, repository, "main", "b", staging) == 400
    assert refusal(link, repository, "main", "a", staging.copy(update={"size_bytes": 8})) == 400


def test_the_index_of_a_commit_is_told_as_files(client: Any, repository: str) -> None:
    for number in range(3):
        client.objects_api.upload_object(repository, "main", f"a/{number}", content=b"x")
    many = sdk.ImportCreation(paths=[], commit=sdk.CommitCreation(message="none"))
    assert refusal(client.import_api.import_start, repository, "main", many) == 400
    nothing = "0" * 64
    assert refusal(client.metadata_api.get_meta_range, repository, nothing) == 404
    assert refusal(client.metadata_api.get_range, repository, nothing) == 404
    assert refusal(client.internal_api.get_metadata_object, repository, nothing, "range") == 404
    assert refusal(client.metadata_api.get_range, repository, "../../x") == 400


def test_pull_requests_are_made_changed_and_merged(client: Any, repository: str) -> None:
    pulls = client.pulls_api
    commit(client, repository, "a")
    client.branches_api.create_branch(repository, sdk.BranchCreation(name="side", source="main"))
    commit(client, repository, "b", branch="side")
    creation = sdk.PullRequestCreation(title="take b", source_branch="side", destination_branch="main")
    made = pulls.create_pull_request(repository, creation).id
    pulls.update_pull_request(repository, made, sdk.PullRequestBasic(description="please"))
    found = pulls.get_pull_request(repository, made)
    assert (found.title, found.description, found.status, found.author) == ("take b", "please", "open", "admin")
    other = pulls.create_pull_request(repository, creation).id
    pulls.update_pull_request(repository, other, sdk.PullRequestBasic(status="closed"))
    assert [each.id for each in pulls.list_pull_requests(repository, status="open").results] == [made]
    assert refusal(pulls.merge_pull_request, repository, other) == 409
    pulls.update_pull_request(repository, other, sdk.PullRequestBasic(status="open"))
    assert pulls.get_pull_request(repository, other).closed_date is None
    merged = pulls.merge_pull_request(repository, made).reference
    assert client.branches_api.get_branch(repository, "main").commit_id == merged
    found = pulls.get_pull_request(repository, made)
    assert (found.status, found.merged_commit_id) == ("merged", merged)
    assert found.closed_date >= found.creation_date
    assert [each.id for each in pulls.list_pull_requests(repository, status="closed").results] == [made]
    assert refusal(pulls.update_pull_request, repository, made, sdk.PullRequestBasic(status="open")) == 409
    assert refusal(pulls.merge_pull_request, repository, other) == 400  # there is nothing left to merge


def test_a_merge_that_was_cut_off_before_it_was_written_down_is_found(client: Any, repository: str) -> None:
    client.branches_api.create_branch(repository, sdk.BranchCreation(name="side", source="main"))
    commit(client, repository, "a", branch="side")
    creation = sdk.PullRequestCreation(title="t", source_branch="side", destination_branch="main")
    pull = client.pulls_api.create_pull_request(repository, creation).id
    cut_off = sdk.Merge(metadata={".lakefs.pull-request.id": pull})
    merged = client.refs_api.merge_into_branch(repository, "side", "main", merge=cut_off).reference
    assert client.pulls_api.get_pull_request(repository, pull).status == "open"
    assert client.pulls_api.merge_pull_request(repository, pull).reference == merged
    assert client.pulls_api.get_pull_request(repository, pull).merged_commit_id == merged


def test_what_can_be_no_pull_request_is_refused(client: Any, repository: str) -> None:
    pulls = client.pulls_api

    def creation(title: str, source: str) -> Any:
        return sdk.PullRequestCreation(title=title, source_branch=source, destination_branch="main")

    assert refusal(pulls.create_pull_request, repository, creation("t", "main")) == 400
    assert refusal(pulls.create_pull_request, repository, creation("t", "nowhere")) == 404
    client.branches_api.create_branch(repository, sdk.BranchCreation(name="side", source="main"))
    assert refusal(pulls.create_pull_request, repository, creation("", "side")) == 400
    assert refusal(pulls.get_pull_request, repository, "nothing") == 404
    assert refusal(pulls.merge_pull_request, repository, "nothing") == 404


def test_references_are_dumped_and_restored_elsewhere(client: Any, repository: str, server: Headwater) -> None:
    head = commit(client, repository, "a")
    client.tags_api.create_tag(repository, sdk.TagCreation(id="v1", ref="main"))
    task = client.repositories_api.dump_submit(repository).id
    done = until_done(lambda: client.repositories_api.dump_status(repository, task), is_done=lambda each: each.done)
    assert done.error is None
    dumped = client.internal_api.dump_refs(repository)
    assert dumped.commits_meta_range_id != ""
    other = f"{repository}-restored"
    creation = sdk.RepositoryCreation(name=other, storage_namespace=f"local://{other}")
    client.repositories_api.create_repository(creation, bare=True)
    _copy_dump(server, repository, other)
    submitted = client.repositories_api.restore_submit(other, sdk.RefsRestore(**done.refs.dict()))
    restored = until_done(
        lambda: client.repositories_api.restore_status(other, submitted.id), is_done=lambda each: each.done
    )
    assert restored.error is None
    assert client.branches_api.get_branch(other, "main").commit_id == head.id
    assert client.tags_api.get_tag(other, "v1").commit_id == head.id
    odd = sdk.RefsRestore(commits_meta_range_id="a", tags_meta_range_id="b", branches_meta_range_id="c")
    assert refusal(client.internal_api.restore_refs, other, odd) == 400
    assert refusal(client.repositories_api.dump_status, other, task) == 404


def _copy_dump(server: Headwater, source: str, target: str) -> None:
    """What a namespace that was copied, or that both repositories see, would have."""
    objects = server.data / "objects"
    for file in (objects / source / "meta" / "dumps").rglob("*"):
        if file.is_file():
            copy = objects / target / file.relative_to(objects / source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())


def test_a_tree_and_its_segments_can_be_read_by_anything(client: Any, repository: str, imports: Any) -> None:
    for number in range(600):  # more than a commit keeps beside its tree
        (imports / f"{number:04}-{'x' * 100}").write_bytes(b"")
    location = sdk.ImportLocation(type="common_prefix", path=f"local://{imports}/", destination="")
    creation = sdk.ImportCreation(paths=[location], commit=sdk.CommitCreation(message="many"))
    started = client.import_api.import_start(repository, "main", creation)
    done = until_done(
        lambda: client.import_api.import_status(repository, "main", started.id), is_done=lambda each: each.completed
    )
    tree = done.commit.meta_range_id
    assert tree
    assert client.metadata_api.get_meta_range(repository, tree).location.startswith(f"local://{repository}/meta/trees/")
    stripes = pq.read_table(io.BytesIO(bytes(client.internal_api.get_metadata_object(repository, tree, "meta_range"))))
    names = stripes.column("segment").to_pylist()
    segments = [
        pq.read_table(io.BytesIO(bytes(client.internal_api.get_metadata_object(repository, name, "range"))))
        for name in names
    ]
    assert sum(len(segment) for segment in segments) == 600
    assert client.metadata_api.get_range(repository, names[0]).location.endswith(f"{names[0]}.parquet")


def test_garbage_is_planned_and_what_is_staged_is_told(client: Any, repository: str, server: Headwater) -> None:
    commit(client, repository, "a")
    client.objects_api.upload_object(repository, "main", "b", content=b"staged")
    plan = client.internal_api.prepare_garbage_collection_commits(repository)
    assert plan.gc_commits_location == f"local://{repository}/meta/gc/{plan.run_id}/commits/"
    (commits,) = (server.data / "objects" / plan.gc_commits_location.removeprefix("local://")).glob("*.parquet")
    assert {"commit", "tree"} <= set(pq.read_table(commits).column_names)  # none: there is nothing old to look for
    begun = client.internal_api.prepare_garbage_collection_commits_async(repository).id
    done = until_done(
        lambda: client.internal_api.prepare_garbage_collection_commits_status(repository, begun),
        is_done=lambda each: each.completed,
    )
    assert done.error is None
    assert done.result.run_id != plan.run_id
    staged = client.internal_api.prepare_garbage_collection_uncommitted(repository)
    table = pq.read_table(server.data / "objects" / staged.gc_uncommitted_location.removeprefix("local://"))
    address = client.objects_api.stat_object(repository, "main", "b").physical_address
    assert table["address"].to_pylist() == [address.removeprefix(f"local://{repository}/")]
