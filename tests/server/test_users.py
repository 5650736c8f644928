"""Users over the REST API, through `lakefs-sdk`: made, allowed, refused, logged in, deleted."""

from __future__ import annotations

import secrets
from typing import Any

import httpx
import pytest

from dev.servers.headwater import Headwater
from tests.server.clients import generated, sdk
from tests.server.conftest import NewRepository
from tests.server.test_lakefs_sdk import refusal


@pytest.fixture
def admin(server: Headwater) -> Any:
    return generated(server).auth_api


@pytest.fixture
def somebody(admin: Any) -> str:
    """A user of this test."""
    name = f"user-{secrets.token_hex(6)}"
    assert admin.create_user(sdk.UserCreation(id=name)).id == name
    return name


def client_of(server: Headwater, admin: Any, user: str) -> Any:
    """A client of *user*, by a fresh credential."""
    made = admin.create_credentials(user)
    return generated(server, (made.access_key_id, made.secret_access_key))


def policy(action: str, resource: str, effect: str = "allow") -> Any:
    statement = sdk.Statement(effect=effect, action=[action], resource=resource)
    return sdk.Policy(id=f"policy-{secrets.token_hex(6)}", statement=[statement])


def test_the_premade_groups_and_policies_are_there(admin: Any) -> None:
    assert {"Admins", "SuperUsers", "Developers", "Viewers"} <= {each.id for each in admin.list_groups().results}
    assert "FSFullAccess" in {each.id for each in admin.list_group_policies("Admins").results}
    assert [each.id for each in admin.list_group_members("Admins").results] == ["admin"]
    assert admin.get_current_user().user.id == "admin"


def test_users_are_listed_page_by_page(admin: Any, somebody: str) -> None:
    for suffix in "abc":
        admin.create_user(sdk.UserCreation(id=f"{somebody}{suffix}"))
    page = admin.list_users(prefix=somebody, amount=3)
    assert [each.id for each in page.results] == [somebody, f"{somebody}a", f"{somebody}b"]
    assert page.pagination.has_more
    rest = admin.list_users(prefix=somebody, amount=3, after=page.pagination.next_offset)
    assert ([each.id for each in rest.results], rest.pagination.has_more) == ([f"{somebody}c"], False)
    assert refusal(admin.create_user, sdk.UserCreation(id=somebody)) == 409
    assert refusal(admin.create_user, sdk.UserCreation(id="")) == 400
    assert refusal(admin.get_user, "nobody-at-all") == 404


def test_what_a_user_may_do_follows_from_its_groups_and_policies(
    server: Headwater, admin: Any, somebody: str, new_repository: NewRepository
) -> None:
    mine, other = new_repository(), new_repository()
    client = client_of(server, admin, somebody)
    assert refusal(client.branches_api.list_branches, mine) == 403
    admin.add_group_membership("Viewers", somebody)
    assert [each.id for each in admin.list_user_groups(somebody).results] == ["Viewers"]
    client.branches_api.list_branches(mine)
    assert refusal(client.objects_api.upload_object, mine, "main", "a", content=b"x") == 403
    write = policy("fs:WriteObject", f"arn:lakefs:fs:::repository/{mine}/object/in/*")
    assert admin.create_policy(write).id == write.id
    admin.attach_policy_to_user(somebody, write.id)
    client.objects_api.upload_object(mine, "main", "in/a", content=b"x")
    for repository, path in ((mine, "out/a"), (other, "in/a")):
        assert refusal(client.objects_api.upload_object, repository, "main", path, content=b"x") == 403
    assert [each.id for each in admin.list_user_policies(somebody).results] == [write.id]
    assert {"FSReadAll", write.id} <= {each.id for each in admin.list_user_policies(somebody, effective=True).results}
    admin.update_policy(write.id, policy("fs:WriteObject", "*", effect="deny").copy(update={"id": write.id}))
    assert refusal(client.objects_api.upload_object, mine, "main", "in/a", content=b"x") == 403
    admin.detach_policy_from_user(somebody, write.id)
    admin.delete_group_membership("Viewers", somebody)
    assert refusal(client.branches_api.list_branches, mine) == 403
    admin.delete_policy(write.id)
    assert refusal(admin.get_policy, write.id) == 404


def test_groups_are_made_and_deleted(admin: Any, somebody: str) -> None:
    group = f"group-{secrets.token_hex(6)}"
    admin.create_group(sdk.GroupCreation(id=group, description="for a test"))
    assert admin.get_group(group).description == "for a test"
    admin.add_group_membership(group, somebody)
    admin.attach_policy_to_group(group, "FSReadAll")
    assert [each.id for each in admin.list_group_policies(group).results] == ["FSReadAll"]
    admin.detach_policy_from_group(group, "FSReadAll")
    assert refusal(admin.detach_policy_from_group, group, "FSReadAll") == 404
    admin.delete_group(group)
    assert admin.list_user_groups(somebody).results == []
    assert refusal(admin.get_group, group) == 404


def test_a_statement_that_makes_no_sense_is_refused(admin: Any) -> None:
    assert refusal(admin.create_policy, policy("fs", "*")) == 400
    assert refusal(admin.create_policy, policy("fs:ReadObject", "nowhere")) == 400


def test_a_credential_is_shown_once_and_gone_when_deleted(server: Headwater, admin: Any, somebody: str) -> None:
    made = admin.create_credentials(somebody)
    client = generated(server, (made.access_key_id, made.secret_access_key))
    assert client.auth_api.get_current_user().user.id == somebody
    listed = admin.list_user_credentials(somebody).results
    assert [each.access_key_id for each in listed] == [made.access_key_id]
    assert made.secret_access_key not in str(admin.get_credentials(somebody, made.access_key_id))
    admin.delete_credentials(somebody, made.access_key_id)
    assert refusal(client.auth_api.get_current_user) == 401
    assert refusal(admin.get_credentials, somebody, made.access_key_id) == 404


def test_a_user_that_is_deleted_is_nobody_at_once(server: Headwater, admin: Any, somebody: str) -> None:
    client = client_of(server, admin, somebody)
    client.auth_api.get_current_user()
    admin.delete_user(somebody)
    assert refusal(client.auth_api.get_current_user) == 401
    assert refusal(admin.delete_user, somebody) == 404


def test_a_login_gives_a_token_and_a_cookie(server: Headwater, somebody: str, admin: Any) -> None:
    made = admin.create_credentials(somebody)
    document = {"access_key_id": made.access_key_id, "secret_access_key": made.secret_access_key}
    with httpx.Client(base_url=server.api) as browser:
        answer = browser.post("/auth/login", json=document)
        assert answer.status_code == 200
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert browser.get("/user").json()["user"]["id"] == somebody
        browser.cookies.clear()
        bearer = {"authorization": f"Bearer {answer.json()['token']}"}
        assert browser.get("/user", headers=bearer).json()["user"]["id"] == somebody
        assert browser.get("/user", headers={"authorization": "Bearer nonsense"}).status_code == 401
        wrong = browser.post("/auth/login", json={**document, "secret_access_key": "wrong-wrong"})
        unknown = browser.post("/auth/login", json={**document, "access_key_id": "AKIAJNOBODYNOBODYNOQ"})
    assert (wrong.status_code, unknown.status_code) == (401, 401)
    assert wrong.json() == unknown.json()


def test_who_may_delete_nothing_is_not_told_which_repositories_there_are(
    server: Headwater, admin: Any, somebody: str, repository: str
) -> None:
    delete = client_of(server, admin, somebody).objects_api.delete_objects
    for paths, statuses in ((["a"], [403]), ([], [])):
        there, absent = (delete(name, "main", sdk.PathList(paths=paths)) for name in (repository, f"{repository}-x"))
        assert [error.status_code for error in there.errors] == statuses
        assert str(there).replace(repository, "") == str(absent).replace(f"{repository}-x", "")


def test_whose_a_namespace_is_only_those_are_told_who_may_know(
    server: Headwater, admin: Any, somebody: str, repository: str
) -> None:
    mine = f"mine-{secrets.token_hex(4)}"
    create = policy("fs:CreateRepository", f"arn:lakefs:fs:::repository/{mine}")
    attach = policy("fs:AttachStorageNamespace", "arn:lakefs:fs:::namespace/*")
    for each in (create, attach):
        admin.create_policy(each)
        admin.attach_policy_to_user(somebody, each.id)
    creation = {"name": mine, "storage_namespace": f"local://{repository}/inside"}
    made = admin.create_credentials(somebody)
    for login, told in (((made.access_key_id, made.secret_access_key), False), (server.login, True)):
        refused = httpx.post(f"{server.api}/repositories", json=creation, auth=login)
        assert refused.status_code == 400
        assert (repository in refused.json()["message"]) == told
