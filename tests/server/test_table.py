"""The table of operations: who may call what. No operation is there without saying so, and none lets in who may not."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from dev.servers.headwater import Headwater
from headwater.auth.permissions import ACTIONS
from headwater.server.api.operation import Operation
from headwater.server.api.table import OPERATIONS

PUBLIC = {
    "getAuthCapabilities",
    "getSetupState",
    "healthCheck",
    "login",
    "setup",
    "setupCommPrefs",
}
"""What anyone may call: before there is anybody, to become somebody, and to see whether the server lives."""

KNOWN = {
    "deleteObjects",
    "getCurrentUser",
    "getGarbageCollectionConfig",
    "getLakeFSVersion",
    "postStatsEvents",
}
"""What anybody who is known may call: about themselves, about the server, or what checks each part by itself."""

LEAST = {
    msgspec.inspect.ListType: [],
    msgspec.inspect.VarTupleType: [],
    msgspec.inspect.DictType: {},
    msgspec.inspect.IntType: 1,
    msgspec.inspect.BoolType: False,
    msgspec.inspect.BytesType: "",
}

PAGE = Path(__file__).parents[2] / "docs" / "server.md"

ABSENT = {"CreateCommitRecord", "createSymlinkFile"}
"""What the page tells of because it is not there."""

LAKEFS_GROUPS = {
    "actions",
    "auth",
    "branches",
    "commits",
    "config",
    "experimental",
    "healthCheck",
    "import",
    "internal",
    "metadata",
    "objects",
    "pulls",
    "refs",
    "repositories",
    "staging",
    "tags",
}

by_name = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)


def test_no_two_operations_have_one_name() -> None:
    names = [operation.name for operation in OPERATIONS]
    assert len(set(names)) == len(names)


def test_what_needs_no_permission_is_known_by_name() -> None:
    assert {each.name for each in OPERATIONS if each.caller == "anyone"} == PUBLIC
    assert {each.name for each in OPERATIONS if each.caller == "signed in"} == KNOWN


@by_name
def test_an_operation_needs_actions_that_policies_can_name_on_resources_that_it_knows(operation: Operation) -> None:
    if isinstance(operation.caller, str):
        return
    assert operation.caller, "an empty list of permissions lets everybody in"
    parameters = set(re.findall(r"\{(\w+)\}", operation.path))
    for need in operation.caller:
        assert need.action in ACTIONS
        for name in re.findall(r"\{([\w.]+)\}", need.resource):
            part, _, field = name.partition(".")
            if field:
                kind = {"query": operation.query, "body": operation.body}[part]
                assert kind is not None
                assert field in kind.__struct_fields__
            else:
                assert part in parameters


@pytest.fixture(scope="module")
def nobody(server: Headwater) -> Iterator[httpx.Client]:
    """A client of somebody who is known and may do nothing."""
    name = f"nobody-{secrets.token_hex(4)}"
    with httpx.Client(base_url=server.api, auth=server.login) as admin:
        assert admin.post("/auth/users", json={"id": name}).status_code == 201
        made = admin.post(f"/auth/users/{name}/credentials").json()
    login = made["access_key_id"], made["secret_access_key"]
    with httpx.Client(base_url=server.api, auth=login) as client:
        yield client


@by_name
def test_whoever_has_no_permission_is_refused(operation: Operation, nobody: httpx.Client) -> None:
    answer = call(nobody, operation)
    if operation.name in PUBLIC | KNOWN:
        assert answer.status_code not in (401, 403) or operation.name == "login"
    else:
        assert answer.status_code == 403, answer.text
        if operation.method != "HEAD":
            assert "no policy that allows" in answer.json()["message"]


@pytest.fixture(scope="module")
def stranger(server: Headwater) -> Iterator[httpx.Client]:
    """A client of nobody."""
    with httpx.Client(base_url=server.api) as client:
        yield client


@by_name
def test_whoever_says_not_who_they_are_is_refused(operation: Operation, stranger: httpx.Client) -> None:
    answer = call(stranger, operation)
    assert (answer.status_code == 401) == (operation.name not in PUBLIC - {"login"})


def call(client: httpx.Client, operation: Operation) -> httpx.Response:
    """Call *operation* with as little as it takes."""
    path = re.sub(r"\{\w+\}", "something", operation.path)
    body = None if operation.body is None else msgspec.json.encode(least(operation.body))
    query = {} if operation.query is None else {name: str(value) for name, value in least(operation.query).items()}
    return client.request(operation.method, path, params=query, content=body)


def least(kind: Any) -> Any:
    """The least document that is of *kind*."""
    match msgspec.inspect.type_info(kind):
        case msgspec.inspect.StructType(cls=cls, fields=fields):
            return {each.encode_name: least(_type(cls, each.name)) for each in fields if each.required}
        case msgspec.inspect.LiteralType(values=values):
            return values[0]
        case other:
            return LEAST.get(type(other), "something")


def _type(cls: type[msgspec.Struct], name: str) -> Any:
    return next(each.type for each in msgspec.structs.fields(cls) if each.name == name)


def test_the_page_lists_every_operation_that_clients_of_lakefs_know_and_what_it_needs() -> None:
    """What is ours alone is on pages of its own."""
    told = dict(
        re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE.read_text().partition("\n## Operations\n")[2], re.MULTILINE)
    )
    known = {each.name: each for each in OPERATIONS}
    absent = {name for name in told if name not in known} - ABSENT
    assert absent == set(), "the page tells of operations that are not there"
    for name in told.keys() & known.keys():
        operation = known[name]
        assert f"`{operation.method} {operation.path}`" in told[name]
        if not isinstance(operation.caller, str):
            assert all(f"`{need.action}`" in told[name] for need in operation.caller)
    ours = {name for name in known.keys() - told.keys() if not named_elsewhere(known[name])}
    assert ours == set(), "the pages do not tell of these"


def named_elsewhere(operation: Operation) -> bool:
    """Whether *operation* is one of ours, which have groups of their own, or stop a task."""
    return operation.group not in LAKEFS_GROUPS or "async" in operation.path or operation.name.endswith("Cancel")
