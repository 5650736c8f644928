"""What `lakefs-sdk`, as it is published, sends and expects, call by call: the server takes and answers all of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import lakefs_sdk
import msgspec
import pytest
from lakefs_sdk import api as faces

from headwater.server.api.operation import Operation, makes_its_own
from headwater.server.api.table import OPERATIONS

sdk: Any = lakefs_sdk

ABSENT = {
    "create_commit_record",
    "create_symlink_file",
    "create_user_external_principal",
    "delete_user_external_principal",
    "external_principal_login",
    "get_external_principal",
    "list_user_external_principals",
    "sts_login",
}
"""Calls that the server does not answer: `docs/server.md` says why of each."""

UNHEEDED = {
    ("deleteObject", "no_tombstone"),  # a delete leaves what it must: the hint is about how lakeFS stages
    ("deleteObjects", "no_tombstone"),
}
"""Parameters that are passed over."""

NOT_TOLD = {
    ("getConfig", "storage_config_list"),  # there is one storage
    ("getLakeFSVersion", "latest_version"),  # nobody is asked for it
    ("getLakeFSVersion", "upgrade_url"),
    ("getStorageConfig", "blockstore_description"),
    ("getStorageConfig", "blockstore_id"),
    ("prepareGarbageCollectionCommits", "gc_commits_presigned_url"),
    ("prepareGarbageCollectionUncommitted", "continuation_token"),  # one call plans all
    ("createRepository", "storage_id"),
    ("getRepository", "storage_id"),
}
"""Fields that clients can do without, and do."""

NOT_KEPT = {"setup", "setupCommPrefs"}
"""Operations whose documents say more than is asked: about people, and what mail they would like."""


class Sent(NamedTuple):
    """One call of the client: what it sends where, and what it takes for an answer."""

    name: str
    method: str
    path: str
    query: frozenset[str]
    body: Any
    statuses: frozenset[int]
    answer: Any


def calls() -> Iterator[Sent]:
    """Every call of every face of the client, by the code that was generated for it."""
    for face in (each for each in vars(faces).values() if inspect.isclass(each)):
        for name, call in vars(face).items():
            if name.endswith("_with_http_info"):
                yield sent(face, name.removesuffix("_with_http_info"), inspect.getsource(call))


def sent(face: type, name: str, code: str) -> Sent:
    found = re.search(r"call_api\(\s*'([^']+)', '(\w+)'", code)
    assert found is not None
    answers = re.findall(r"'(2\d\d)': \"([\w\[\], ]+)\"", code)
    body = re.search(r"_body_params = _params\['(\w+)'\]", code)
    told = "" if body is None else str(inspect.signature(getattr(face, name)).parameters[body.group(1)].annotation)
    return Sent(
        name,
        found.group(2),
        re.sub(r"\{\w+\}", "{}", found.group(1)),
        frozenset(re.findall(r"_query_params\.append\(\('([^']+)'", code)),
        model(*re.findall(r"[A-Z]\w+", told)),
        frozenset(int(status) for status, _ in answers),
        model(*(kind for _, kind in answers)),
    )


def model(*names: str) -> Any:
    """The first of *names* that is a document of the client."""
    return next((getattr(sdk, name) for name in names if hasattr(getattr(sdk, name, None), "__fields__")), None)


def fields_of(document: Any) -> Mapping[str, bool]:
    """The fields of a document of the client, and whether it must have each."""
    return {field.alias: bool(field.required) for field in document.__fields__.values()}


def ours_of(kind: Any) -> Mapping[str, bool]:
    """The same of one of the server's."""
    told = None if kind is None else msgspec.inspect.type_info(kind)
    fields = told.fields if isinstance(told, msgspec.inspect.StructType) else ()
    return {field.encode_name: field.required for field in fields}


CALLS = sorted({call.name: call for call in calls()}.values())
KNOWN: Mapping[tuple[str, str], Operation] = {
    (each.method, re.sub(r"\{\w+\}", "{}", each.path)): each for each in OPERATIONS
}
by_name = pytest.mark.parametrize(
    "call", [each for each in CALLS if each.name not in ABSENT], ids=lambda call: call.name
)


def operation_of(call: Sent) -> Operation:
    return KNOWN[call.method, call.path]


def test_every_call_has_an_operation_but_those_that_are_known_not_to() -> None:
    assert {call.name for call in CALLS if (call.method, call.path) not in KNOWN} == ABSENT


@by_name
def test_the_server_knows_every_parameter_and_field_that_a_client_sends(call: Sent) -> None:
    operation = operation_of(call)
    passed_over = {name for name in call.query if name not in ours_of(operation.query)}
    assert {(operation.name, name) for name in passed_over} <= UNHEEDED
    ours = ours_of(operation.body)
    if call.body is not None and operation.name not in NOT_KEPT:
        theirs = fields_of(call.body)
        assert theirs.keys() - ours.keys() == set()
        assert [name for name in theirs if ours[name] and not theirs[name]] == [], "the client may leave these out"


@by_name
def test_the_server_answers_with_the_status_and_the_fields_that_a_client_expects(call: Sent) -> None:
    operation = operation_of(call)
    if call.statuses:
        assert operation.status in call.statuses
    if call.answer is not None and not makes_its_own(operation):
        left_out = fields_of(call.answer).keys() - ours_of(operation.answer).keys()
        assert {(operation.name, name) for name in left_out} <= NOT_TOLD
        assert not any(fields_of(call.answer)[name] for name in left_out)
